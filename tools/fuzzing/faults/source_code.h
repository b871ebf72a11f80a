#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/fuzzing/mutations.h"

/// Faults in sources: one operator, number or word of a line is another.
namespace tessera::faults {

struct SourceFault {
  std::filesystem::path file;
  std::size_t line = 0;  ///< from 1
  std::string before, after;
  std::string text;  ///< the whole file with the fault
};

/// C++ of kernels/ and models/ under `source`, tile code left out, in order.
std::vector<std::filesystem::path> source_files(const std::filesystem::path& source);

/// One of any line of code of any of the files; it may not compile.
SourceFault source_fault(const std::vector<std::filesystem::path>& files, fuzz::Choices& choices);

}  // namespace tessera::faults
