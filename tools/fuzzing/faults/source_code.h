#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/fuzzing/mutations.h"

/// Faults in sources: one changed operator, number or word of a line.
namespace tessera::faults {

struct SourceFault {
  std::filesystem::path file;
  std::size_t line = 0;  ///< from 1
  std::string before, after;
  std::string text;  ///< the whole file with the fault
};

/// C++ files of kernels/ and models/ under `source`, sorted, without tile code.
std::vector<std::filesystem::path> source_files(const std::filesystem::path& source);

/// A fault in a random line of code of the files; it may not compile.
SourceFault source_fault(const std::vector<std::filesystem::path>& files, fuzz::Choices& choices);

}  // namespace tessera::faults
