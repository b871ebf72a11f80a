#pragma once

#include <string>

#include "sim/base/errors.h"

namespace tessera {

/// The host lacks memory, threads, processes, open files or disk space. Nobody's mistake: the same
/// run may succeed on another host, or later.
class HostLimit : public Error {
 public:
  explicit HostLimit(const std::string& message) : Error(ExitCode::host_limit, message) {}
};

/// True if errno value `error` means that the host lacks a resource.
bool is_host_limit(int error);

/// Reports a host call that failed with `error` (errno): throws HostLimit if is_host_limit(error),
/// else UserError.
[[noreturn]] void throw_host_error(int error, const std::string& message);

/// An exception as the program reports it.
struct Failure {
  ExitCode code;
  std::string message;
};

/// Describes the exception being handled. A lack of memory or threads is a host limit; a path that
/// the file system refuses is the user's mistake; anything else that is not an Error is a defect.
Failure current_failure();

}  // namespace tessera
