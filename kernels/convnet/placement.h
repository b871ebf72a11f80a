#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/convnet/geometry.h"

/// Where activation tensors lie in the memory tiles while a network runs.
namespace tessera::convnet {

/// The tensor of a layer: some blocks of channels, or rows, of what is held together. What
/// `concatenate` joins is written in place, side by side.
struct View {
  std::uint32_t held = 0;  ///< index in Placement::held
  std::uint32_t first_block = 0;
  std::uint32_t first_row = 0;
};

/// Bytes that pass through a memory tile on their way from and to DDR.
struct Staging {
  std::uint32_t rows = 0, operands = 0, results = 0;  ///< of a slot, of which there are two

  [[nodiscard]] std::uint64_t bytes() const {
    return 2 * (std::uint64_t{rows} + operands + results);
  }
};

struct Placement {
  std::vector<Held> held;
  std::vector<View> views;              ///< by layer
  std::vector<std::uint32_t> halo;      ///< by layer: where columns of other memory tiles lie
  std::vector<std::uint32_t> rows;      ///< by layer: slots of rows from DDR
  std::vector<std::uint32_t> operands;  ///< by layer: slots of what it adds, from DDR
  std::vector<std::uint32_t> results;   ///< by layer: slots of results for DDR
  std::vector<Range> lives;             ///< of what is held: from a layer to behind another
  std::uint32_t ddr_bytes = 0;          ///< of tensors there, but for image and result
  std::uint64_t bytes = 0;              ///< of a memory tile, from address 0 on
  std::uint32_t fullest_layer = 0;      ///< during which most is held

  [[nodiscard]] const Held& of(std::uint32_t layer) const { return held[views[layer].held]; }
};

/// Places all tensors from address `base` on: each lives from the layer that makes it to its last
/// user, and the sum of an addition takes the place of an operand that ends there. `adds`, by
/// layer: it is a convolution whose addition is made with it, so that its tensor is the sum. Those
/// that `outside` names, by their index in Placement::held, lie in DDR; slots of `staging`, by
/// layer, are placed too. Throws UserError for a layer that is joined twice.
Placement place_tensors(const Network& network, const Array& array, const std::vector<bool>& adds,
                        std::uint32_t base, const std::vector<bool>& outside,
                        const std::vector<Staging>& staging);

}  // namespace tessera::convnet
