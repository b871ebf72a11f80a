#pragma once

#include <string>

#include "sim/base/errors.h"

namespace tessera {

/// The host has not enough: memory, threads, processes, open files, room on a disk. It is nobody's
/// mistake: elsewhere, or later, the same may go on.
class HostLimit : public Error {
 public:
  explicit HostLimit(const std::string& message) : Error(ExitCode::host_limit, message) {}
};

/// True if an error (errno) says that the host has not enough of something.
bool is_host_limit(int error);

/// For a call of the host's that failed with `error` (errno): throws HostLimit if it is such a
/// one, else UserError.
[[noreturn]] void throw_host_error(int error, const std::string& message);

/// An exception as the program tells of it.
struct Failure {
  ExitCode code;
  std::string message;
};

/// The exception that is being handled. Memory and threads that are not to be had are the host's
/// limit, names of files that cannot be followed the user's mistake; whatever else is not an Error
/// is a defect.
Failure current_failure();

}  // namespace tessera
