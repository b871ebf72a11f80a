#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "sim/data/nir_file.h"

namespace tessera::test {

/// A node of a .nir file that a test writes; a graph also has nodes and edges.
struct NirItem {
  std::string name;
  data::NirNode node;
  std::vector<NirItem> nodes = {};
  std::vector<std::pair<std::string, std::string>> edges = {};
};

/// A parameter of these numbers and shape; without numbers its dataset is created, but not written.
inline data::NirParameter nir_numbers(std::vector<std::uint64_t> shape,
                                      std::vector<double> values) {
  return {std::move(shape), std::move(values), {}};
}

/// Writes `graph` as the reference implementation would; its own name and type are ignored.
void write_nir(const std::filesystem::path& path, const NirItem& graph);

}  // namespace tessera::test
