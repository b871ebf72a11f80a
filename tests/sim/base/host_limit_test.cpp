#include "sim/base/host_limit.h"

#include <cerrno>
#include <filesystem>
#include <new>
#include <system_error>

#include <doctest/doctest.h>

#include "tests/refusal.h"

using namespace tessera;

namespace {

template <class Exception>
Failure failure_of(const Exception& exception) {
  try {
    throw exception;
  } catch (const std::exception&) {
    return current_failure();
  }
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("memory and threads that are not to be had are the host's limit, no bug of ours") {
    CHECK(failure_of(std::bad_alloc()).code == ExitCode::host_limit);
    CHECK(test::holds(failure_of(std::bad_alloc()).message, "not enough memory"));
    CHECK(failure_of(std::system_error(EAGAIN, std::generic_category())).code ==
          ExitCode::host_limit);
    CHECK(failure_of(std::system_error(EINVAL, std::generic_category())).code == ExitCode::defect);
    CHECK(failure_of(std::runtime_error("what")).code == ExitCode::defect);
    const std::filesystem::filesystem_error loop(
        "status", "a/b", std::make_error_code(std::errc::too_many_symbolic_link_levels));
    CHECK(failure_of(loop).code == ExitCode::user_error);
    CHECK(failure_of(loop).message == "a/b: Too many levels of symbolic links");
    CHECK(failure_of(UserError("what")).code == ExitCode::user_error);
    CHECK(failure_of(UserError("what")).message == "what");
  }

  TEST_CASE("a full disk is the host's limit, a missing folder the user's mistake") {
    for (const int error : {ENOSPC, EDQUOT, EFBIG, EMFILE, ENFILE, ENOMEM})
      CHECK_THROWS_AS(throw_host_error(error, "m"), HostLimit);
    for (const int error : {ENOENT, EACCES, EROFS, ENAMETOOLONG, ELOOP})
      CHECK_THROWS_AS(throw_host_error(error, "m"), UserError);
  }
}
