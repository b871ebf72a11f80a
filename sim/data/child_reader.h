#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace tessera::data {

/// Limits for reading a file, beside copies of the file that its library makes.
struct ReadLimits {
  std::uint64_t memory;  ///< bytes
  unsigned seconds;      ///< processor time
};

/// Calls `read` with the bytes of file `name` in a process of its own, for libraries that do not
/// survive every malformed file, and returns its text. UserErrors of `read` are thrown here; a
/// process that dies, or takes too much memory or time, is the file's fault, a UserError too.
std::string read_in_child(const std::string& name, std::string bytes, ReadLimits limits,
                          const std::function<std::string(std::string)>& read);

}  // namespace tessera::data
