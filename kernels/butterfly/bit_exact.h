#pragma once

#include <span>
#include <vector>

#include "kernels/butterfly/reference.h"

namespace tessera::butterfly {

/// The bit-exact reference of at most Columns::kWidth columns of an f16 product, [row][column]:
/// every sum of a factor in the order of its row, rounded where the instruction that adds it
/// rounds.
std::vector<float> exact_product(const FoundProduct& product,
                                 std::span<const std::uint32_t> columns);

}  // namespace tessera::butterfly
