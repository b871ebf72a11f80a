#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace tessera::data {

/// Limits for reading a file; the copies of the file that its library makes do not count.
struct ReadLimits {
  std::uint64_t memory;  ///< bytes
  unsigned seconds;      ///< processor time
};

/// Calls `read` with the bytes of file `name` in a child process, for libraries that may crash on
/// malformed files, and returns its text. Rethrows UserErrors of `read`; a child that dies, or
/// exceeds its memory or time, also throws UserError.
std::string read_in_child(const std::string& name, std::string bytes, ReadLimits limits,
                          const std::function<std::string(std::string)>& read);

}  // namespace tessera::data
