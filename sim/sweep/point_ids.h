#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sim/config/config.h"

namespace tessera::sweep {

/// Identifies the program: version, commit, and the linker's build id, which distinguishes builds
/// of edited sources.
std::string program_identity();

/// How a point's numbers are made.
enum class Way : std::uint8_t { simulated, predicted };

/// Identifies the program and the way, so that simulated and predicted results stay apart.
std::string program_identity(Way way);

/// Point ids: 32 hexadecimal digits of the SHA-256 of the resolved config (without keys that cannot
/// change results), the contents of its input files and the program that runs it.
class PointIds {
 public:
  explicit PointIds(std::string program) : program_(std::move(program)) {}

  /// Throws UserError if an input file cannot be read.
  std::string of(const config::Config& config);

 private:
  const std::string& hash_of_file(const std::string& file);

  std::string program_;
  std::map<std::string, std::string> hashes_;  ///< by file name; each file is read once
};

}  // namespace tessera::sweep
