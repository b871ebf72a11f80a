#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/convnet/network.h"
#include "kernels/convnet/weights.h"

/// Networks as JSON files with comments: {"layers": {NAME: {...}, ...}}, in the order of their
/// execution. Keys of a layer (network_file.cpp declares them):
///   op        the operator; required
///   from      the name of the layer that it takes, or a list of names; default: the one before
///   shape     of the input: [height, width, channels]
///   channels  of a convolution: output channels
///   kernel, stride, pad    integers for both directions or [height, width]; pad also [top, left,
///             bottom, right]; default 1, 1, 0
///   relu      of convolutions and add
///   sparsity  of a convolution: the part of its blocks that is pruned
///   output    [height, width, channels] that the file expects
namespace tessera::convnet {

/// The networks inside the program (configs/networks), by name.
std::vector<std::string> network_names();

/// What a file holds.
struct NetworkFile {
  Network network;
  std::vector<RealWeights> weights;  ///< an element a layer; empty: the file has none
  std::vector<std::string> skipped;  ///< nodes of an ONNX model behind its last layer
};

/// A network inside the program by its name, or that of a file: ONNX (onnx.h) if its name ends in
/// .onnx, else JSON. Throws KeyError at `key` for a name that is neither, ConfigError and UserError
/// with file and layer for what is wrong in it.
NetworkFile load_network_file(const std::string& name_or_file, const std::string& key);
/// The network alone.
Network load_network(const std::string& name_or_file, const std::string& key);

/// Parses the text of a network's file; `file` stands in messages.
Network parse_network(std::string_view text, const std::string& name, const std::string& file);

}  // namespace tessera::convnet
