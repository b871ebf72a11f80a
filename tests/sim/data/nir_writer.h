#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "sim/data/nir_file.h"

namespace tessera::test {

/// A node of a .nir file that a test writes; a graph has nodes and edges of its own.
struct NirItem {
  std::string name;
  data::NirNode node;
  std::vector<NirItem> nodes = {};
  std::vector<std::pair<std::string, std::string>> edges = {};
};

/// Numbers and their shape as a parameter; without numbers the file has their place only.
inline data::NirParameter nir_numbers(std::vector<std::uint64_t> shape,
                                      std::vector<double> values) {
  return {std::move(shape), std::move(values), {}};
}

/// Writes `graph` (its name and type are not used) as the reference implementation would.
void write_nir(const std::filesystem::path& path, const NirItem& graph);

}  // namespace tessera::test
