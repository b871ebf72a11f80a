#include "sim/base/host_limit.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <new>
#include <sys/resource.h>
#include <system_error>

#include "sim/base/ranges.h"

namespace tessera {
namespace {

std::string no_memory() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  constexpr long kKibOfMib = 1024;
  return fmt::format("the host has not enough memory; {} MiB were in use",
                     used.ru_maxrss / kKibOfMib);
}

}  // namespace

bool is_host_limit(int error) {
  constexpr std::array kNotEnough = {ENOMEM, EAGAIN, ENOSPC, EDQUOT, EFBIG, EMFILE, ENFILE};
  return contains(kNotEnough, error);
}

void throw_host_error(int error, const std::string& message) {
  if (is_host_limit(error)) throw HostLimit(message);
  throw UserError(message);
}

Failure current_failure() {
  try {
    throw;
  } catch (const Error& error) {
    return {error.code(), error.what()};
  } catch (const std::bad_alloc&) {
    return {ExitCode::host_limit, no_memory()};
  } catch (const std::filesystem::filesystem_error& error) {
    const bool limit = is_host_limit(error.code().value());
    return {limit ? ExitCode::host_limit : ExitCode::user_error,
            fmt::format("{}: {}", error.path1().string(), error.code().message())};
  } catch (const std::system_error& error) {
    const bool limit = is_host_limit(error.code().value());
    return {limit ? ExitCode::host_limit : ExitCode::defect, error.what()};
  } catch (const std::exception& error) {
    return {ExitCode::defect, error.what()};
  }
}

}  // namespace tessera
