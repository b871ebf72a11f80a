#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sim/config/config.h"

namespace tessera::sweep {

/// Which program this is: version, commit, and the linker's build id, which tells apart builds of
/// edited sources.
std::string program_identity();

/// How a point gets its numbers.
enum class Way : std::uint8_t { simulated, predicted };

/// Identifies the program and its way to answer: one way's results are not taken for the other's.
std::string program_identity(Way way);

/// Names of points: 32 hexadecimal digits of the SHA-256 of the resolved config (without what
/// cannot change results), the contents of its input files and the program that runs it.
class PointIds {
 public:
  explicit PointIds(std::string program) : program_(std::move(program)) {}

  /// Throws UserError if an input file cannot be read.
  std::string of(const config::Config& config);

 private:
  const std::string& hash_of_file(const std::string& file);

  std::string program_;
  std::map<std::string, std::string> hashes_;  ///< by file name, each read once
};

}  // namespace tessera::sweep
