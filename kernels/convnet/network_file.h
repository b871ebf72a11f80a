#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/convnet/network.h"
#include "kernels/convnet/weights.h"

/// Networks as JSON files with comments: {"layers": {NAME: {...}, ...}}, in order of execution.
/// Keys of a layer (network_file.cpp declares them):
namespace tessera::convnet {

/// Contents of a network's file.
struct NetworkFile {
  Network network;
  std::vector<RealWeights> weights;  ///< by layer; empty: the file has none
  std::vector<std::string> skipped;  ///< nodes of an ONNX model after its last layer
};

/// A built-in network by name, or a network file: ONNX if its name ends in .onnx, else JSON. Throws
/// KeyError at `key` for a name that is neither, ConfigError and UserError with file and layer for
/// errors in the file.
NetworkFile load_network_file(const std::string& name_or_file, const std::string& key);

/// Reads an ONNX model of opset 9 to 21 with a single input, the image: float, 1 (or a name) x
/// channels x height x width:
///   Conv                  of group 1, or depthwise with as many outputs as inputs; no dilation;
///                         auto_pad is read here and for pools
///   BatchNormalization    part of a Conv before it, else a depthwise convolution of 1x1
///   Relu, Clip of min 0   after a Conv, a BatchNormalization or an Add
///   MaxPool, AveragePool, GlobalAveragePool   no ceil_mode, no dilation; padding counts
///   Pad                   with zeros, before a Conv or AveragePool; added to its padding
///   Add, Concat           of layers, along channels
///   QuantizeLinear, DequantizeLinear   int8, zero point 0, a scale that is a power of two: they
///                         fix the exponents of activations (of int16 too, which saturate at its
///                         own limits; of others they are not used), and round weights
///   Identity, Dropout     are skipped: the output is the input
/// Fully connected layers at the end are skipped: Flatten, Reshape, Gemm, MatMul and what follows
/// them. Weights are float, or int8 and int32 followed by DequantizeLinear. Throws UserError with
/// the file and the node (network_builder.h says layer): a broken file, an unknown operator or
/// opset, tensors that no node computes or that come later or in a cycle, shapes that disagree,
/// values of another type.
NetworkFile parse_onnx(std::string_view bytes, const std::string& name, const std::string& file);

/// Parses the text of a network file; `file` is used in messages.
Network parse_network(std::string_view text, const std::string& name, const std::string& file);

}  // namespace tessera::convnet
