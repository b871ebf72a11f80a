#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/convnet/mapping.h"

/// Where activation tensors lie in the memory tiles while a network runs.
namespace tessera::convnet {

/// The tensor of a layer: some blocks of channels, or rows, of what is held together. What
/// `concatenate` joins is written in place, side by side.
struct View {
  std::uint32_t held = 0;  ///< index in Placement::held
  std::uint32_t first_block = 0;
  std::uint32_t first_row = 0;
};

struct Placement {
  std::vector<Held> held;
  std::vector<View> views;          ///< by layer
  std::vector<Beside> beside;       ///< by layer: where it lies
  std::vector<Range> lives;         ///< of what is held: from a layer to behind another
  std::uint64_t ddr_bytes = 0;      ///< of tensors there, but for image and result
  std::uint64_t bytes = 0;          ///< of a memory tile, from address 0 on
  std::uint32_t fullest_layer = 0;  ///< during which most is held

  [[nodiscard]] const Held& of(std::uint32_t layer) const { return held[views[layer].held]; }
};

struct Plan;
/// Places all tensors of a plan's network behind the weights' ring: each lives from the layer that
/// makes it to its last user, and the sum of an addition takes the place of an operand that ends
/// there. Those that are outside in the plan's placement, if it has one, lie in DDR. Throws
/// UserError for a layer that is joined twice.
Placement place_tensors(const Plan& plan);

}  // namespace tessera::convnet
