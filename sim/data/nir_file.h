#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tessera::data {

constexpr std::uint64_t kMostNirValues = std::uint64_t{1} << 26;  ///< limit of a file's numbers

/// One parameter of a node: numbers in C order (f32, f64 and integers below 2^53 are exact) or a
/// text such as the padding `same`. A scalar has no dimensions.
struct NirParameter {
  std::vector<std::uint64_t> shape;
  std::vector<double> values;
  std::string text;
};

struct NirNode {
  std::string type;  ///< Linear, Conv2d, LIF, ...
  std::map<std::string, NirParameter> parameters;
};

/// A network in the Neuromorphic Intermediate Representation (neuroir.org; Pedersen et al., Nature
/// Communications 15, 2024): nodes by name and directed connections between them.
struct NirGraph {
  std::map<std::string, NirNode> nodes;
  std::vector<std::pair<std::string, std::string>> edges;  ///< sorted
};

/// Reads a .nir file (HDF5). Flattens subgraphs: their nodes are named `outer.inner`, and
/// connections of the outer graph end at their Input and Output. Leaves out: metadata, and the in-
/// and output shapes that nodes state. Errors are UserErrors that name the file and the path
/// inside: not an HDF5 file, no graph, an edge from or to a missing node, more than 2^26 numbers or
/// bytes of text, or far more of them than the file stores. libhdf5 reads in a child process; if
/// that dies, or exceeds its memory or time, the file is to blame.
NirGraph read_nir(const std::filesystem::path& path);

/// Parses a .nir file held in memory with libhdf5; UserErrors show `name`. The library may crash on
/// malformed files: call this in a child process.
NirGraph parse_nir(const std::string& name, std::string bytes);

}  // namespace tessera::data
