#pragma once

#include <string>
#include <string_view>

#include "kernels/convnet/network_file.h"

namespace tessera::convnet {

/// Reads an ONNX model of opset 9 to 21 whose image is the one input, float of 1 (or a name) x
/// channels x height x width:
///   Conv                  of group 1, or depthwise with as many outputs as inputs; no dilation
///   BatchNormalization    after a Conv, of which it becomes part
///   Relu                  after a Conv, a BatchNormalization or an Add
///   MaxPool, AveragePool, GlobalAveragePool   no ceil_mode, no dilation; padding counts
///   Pad                   with zeros, before a Conv or AveragePool, whose padding it becomes
///   Add, Concat           of layers, along channels
///   QuantizeLinear, DequantizeLinear   int8, zero point 0, a scale that is a power of two: they
///   fix
///                         the exponents of activations, and round weights
///   Identity, Dropout     pass on what they take
/// Fully connected layers at the end are left out: Flatten, Reshape, Gemm, MatMul and what follows
/// them. Weights are float, or int8 and int32 behind DequantizeLinear. Throws UserError with the
/// file and the node (network_builder.h says layer): a broken file, an unknown operator or opset,
/// tensors that nothing gives, that come later or in a cycle, shapes that disagree, values of
/// another type.
NetworkFile parse_onnx(std::string_view bytes, const std::string& name, const std::string& file);

}  // namespace tessera::convnet
