#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/convnet/call_costs.h"
#include "kernels/convnet/mapping.h"
#include "sim/program/program.h"

/// The program of a network on an array: the actions of cores, memory tiles and DDR for each layer,
/// in order.
namespace tessera::convnet {

/// The tensor of a layer: some blocks of channels, or rows, of a held tensor. The inputs of
/// `concatenate` are written in place.
struct View {
  std::uint32_t held = 0;  ///< index in Placement::held
  std::uint32_t first_block = 0;
  std::uint32_t first_row = 0;
};

/// Placement of activation tensors in the memory tiles while a network runs.
struct Placement {
  std::vector<Held> held;
  std::vector<View> views;          ///< by layer
  std::vector<StagedBytes> beside;  ///< by layer: addresses
  std::vector<Range> lives;         ///< by `held`: range of layers in which it is live
  std::uint64_t ddr_bytes = 0;      ///< tensors in DDR, except image and result
  std::uint64_t bytes = 0;          ///< bytes used in a memory tile, from address 0 on
  std::uint32_t fullest_layer = 0;  ///< layer during which most memory is used

  [[nodiscard]] const Held& of(std::uint32_t layer) const { return held[views[layer].held]; }
};

struct Plan;
/// Places all tensors of a plan's network after the weights' ring: each lives from the layer that
/// computes it to its last user, and the sum of an addition replaces an operand that ends there.
/// Tensors marked `outside` in the plan's placement, if it has one, are in DDR. Throws UserError
/// for a layer that is joined twice.
Placement place_tensors(const Plan& plan);

/// True for layers that cores compute.
inline bool is_computed(const Layer& layer) {
  return layer.op != Operator::input && layer.op != Operator::concatenate;
}

/// Inputs of a program, which must outlive it.
struct Plan {
  const Network* network = nullptr;
  const std::vector<const LayerWeights*>* weights = nullptr;  ///< by layer
  const Tensor* image = nullptr;
  Array array = {};
  std::vector<Priced> layers;          ///< by layer; with a mapping if cores compute it
  std::vector<std::uint32_t> columns;  ///< by layer: array columns that share its tensor
  std::vector<bool> made;              ///< by layer: an addition fused into a convolution
  Placement placement;
  std::uint32_t ring_bytes = 0;  ///< a tile of weights; memory tiles have two per row of cores
  std::uint32_t ring_rows = 0;   ///< rows of cores that use weights, in any layer
  std::uint32_t core_bytes = 0;
  bool weights_ahead = true;  ///< weights load from DDR before their layer begins

  /// The addition fused into a convolution, if any.
  [[nodiscard]] std::optional<std::uint32_t> addition(std::uint32_t layer) const {
    return layers[layer].mapping.adds ? network->addition_of(layer) : std::nullopt;
  }
  /// True if cores compute the layer separately.
  [[nodiscard]] bool computes(std::uint32_t layer) const {
    return is_computed(network->layers[layer]) && !made[layer];
  }
  /// Bytes of the weights' ring at the beginning of a memory tile.
  [[nodiscard]] std::uint32_t ring_end() const {
    return ceil_div(ring_rows, array.columns) * 2 * ring_bytes;
  }
};

/// A layer's shape with its mapping and tensor locations in the plan.
LayerShape shape_of(const Plan& plan, std::uint32_t layer);

/// A network's program and its predicted times: a superstep for the load before, one for each
/// layer, one for the store after.
struct PricedProgram {
  program::Program program;
  arrays::Estimate estimate;
};
/// `plan` must outlive it.
PricedProgram make_program(const Plan& plan, const MachineConfig& machine, CallCosts& costs);

}  // namespace tessera::convnet
