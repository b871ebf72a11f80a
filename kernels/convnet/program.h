#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/convnet/call_costs.h"
#include "kernels/convnet/mapping.h"
#include "sim/program/program.h"

/// The program of a network on an array: for each layer what cores, memory tiles and DDR do, in
/// order.
namespace tessera::convnet {

/// The tensor of a layer: some blocks of channels, or rows, of what is held together. What
/// `concatenate` joins is written in place, side by side.
struct View {
  std::uint32_t held = 0;  ///< index in Placement::held
  std::uint32_t first_block = 0;
  std::uint32_t first_row = 0;
};

/// Where activation tensors lie in the memory tiles while a network runs.
struct Placement {
  std::vector<Held> held;
  std::vector<View> views;          ///< by layer
  std::vector<Beside> beside;       ///< by layer: where it lies
  std::vector<Range> lives;         ///< by `held`: from a layer to behind another
  std::uint64_t ddr_bytes = 0;      ///< tensors there, but for image and result
  std::uint64_t bytes = 0;          ///< used in a memory tile, from address 0 on
  std::uint32_t fullest_layer = 0;  ///< during which most is held

  [[nodiscard]] const Held& of(std::uint32_t layer) const { return held[views[layer].held]; }
};

struct Plan;
/// Places all tensors of a plan's network behind the weights' ring: each lives from the layer that
/// makes it to its last user, and the sum of an addition takes the place of an operand that ends
/// there. Those that are outside in the plan's placement, if it has one, lie in DDR. Throws
/// UserError for a layer that is joined twice.
Placement place_tensors(const Plan& plan);

/// Layers that cores compute.
inline bool is_computed(const Layer& layer) {
  return layer.op != Operator::input && layer.op != Operator::concatenate;
}

/// All that a program is made from. What it refers to outlives the program.
struct Plan {
  const Network* network = nullptr;
  const std::vector<const LayerWeights*>* weights = nullptr;  ///< by layer
  const Tensor* image = nullptr;
  Array array = {};
  std::vector<Priced> layers;          ///< by layer; with its mapping if cores compute it
  std::vector<std::uint32_t> columns;  ///< by layer: those that its tensor is split over
  std::vector<bool> made;  ///< by layer: it is an addition that is made with a convolution
  Placement placement;
  std::uint32_t ring_bytes = 0;  ///< a tile of weights in a memory tile, which has two a row
  std::uint32_t ring_rows = 0;   ///< rows of cores that take weights, in any layer
  std::uint32_t core_bytes = 0;
  bool weights_ahead = true;  ///< they come from DDR before their layer begins

  /// The addition that is made with a convolution, if one is.
  [[nodiscard]] std::optional<std::uint32_t> addition(std::uint32_t layer) const {
    return layers[layer].mapping.adds ? network->addition_of(layer) : std::nullopt;
  }
  /// True if cores compute the layer on its own.
  [[nodiscard]] bool computes(std::uint32_t layer) const {
    return is_computed(network->layers[layer]) && !made[layer];
  }
  /// Bytes at the beginning of a memory tile that tiles of weights pass through.
  [[nodiscard]] std::uint32_t ring_end() const {
    return ceil_div(ring_rows, array.columns) * 2 * ring_bytes;
  }
};

/// A layer's shape with its mapping in the plan, as tensors lie in the plan.
LayerShape shape_of(const Plan& plan, std::uint32_t layer);

/// A network's program, and what it is expected to take: a superstep for what is brought before,
/// one a layer, one for what is taken behind.
struct Made {
  program::Program program;
  arrays::Estimate estimate;
};
/// `plan` outlives it.
Made make_program(const Plan& plan, const MachineConfig& machine, CallCosts& costs);

}  // namespace tessera::convnet
