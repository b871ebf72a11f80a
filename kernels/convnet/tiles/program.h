#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/convnet/tiles/calls.h"
#include "kernels/convnet/tiles/contents.h"
#include "sim/plan/pricing.h"

/// A network on tiles as a description: weights and biases stay in SRAM where they are used; layer
/// by layer inputs are pulled from the tiles that made them, with the padding around them, sums
/// are computed, those of parts of the input channels are added up, and results rounded.
namespace tessera::convnet::tiles {

/// What descriptions are made from; their functions keep it.
struct Problem {
  FloatModel model;
  BlockShape block;
  std::vector<std::optional<LayerShape>> shapes;  ///< by layer
  std::uint32_t contexts;
  Tile tiles;  ///< of the machine
  elf::KernelCode code{"convnet/tiles"};
  elf::KernelCode product_code{"gemm"};
};

/// The program of all layers.
plan::Description describe_network(const std::shared_ptr<const Problem>& problem,
                                   const Geometries& geometries);
/// Of layer `number` alone, of which `geometries` has the layers before it too.
plan::Description describe_layer(const std::shared_ptr<const Problem>& problem,
                                 const Geometries& geometries, std::uint32_t number);

/// The tensor of a layer's results: the last is Y.
std::string tensor_name(const Network& network, std::uint32_t number);

/// Cycles of the fullest cell's calls in a layer. `shell`: a description without steps, which keeps
/// the functions.
std::uint64_t call_cycles(const Problem& problem, const Geometry& g, plan::Description& shell,
                          plan::Pricing& pricing);
/// Bytes that a cell holds during the whole run: weights, biases, lists, and results, which the
/// host checks layer by layer.
std::uint64_t held_bytes(const Geometry& g, const Cell& cell);

}  // namespace tessera::convnet::tiles
