#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tessera::data {

constexpr std::uint64_t kMostNirValues = std::uint64_t{1} << 26;  ///< limit of values in a file

/// One parameter of a node: numbers in C order (f32, f64 and integers below 2^53 are exact) or a
/// text such as the padding `same`. A single number has no dimensions.
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

/// Reads a .nir file (HDF5). Graphs inside are flattened: their nodes are named `outer.inner`, and
/// connections of the outer one end at their Input and Output. Leaves out: metadata, and what a
/// node says of the shapes of its in- and outputs. Errors are UserErrors that name the file and the
/// path inside: no HDF5 file, no graph, an edge from or to no node, more than 2^26 numbers or bytes
/// of text, far more than the file stores. libhdf5 reads in a process of its own: one that dies, or
/// takes too much memory or time, is the file's fault.
NirGraph read_nir(const std::filesystem::path& path);

/// The graph of a .nir file that lies in memory, as libhdf5 reads it; `name` stands in UserErrors.
/// That library does not survive every malformed file: call this in a process of its own.
NirGraph parse_nir(const std::string& name, std::string bytes);

}  // namespace tessera::data
