#pragma once

#include <span>

#include "kernels/butterfly/check_signs.h"
#include "kernels/check/comparison.h"
#include "sim/base/parallel.h"

namespace tessera::butterfly {

/// Compares columns of an f16 product with what tile code makes of them, to the bit: every sum of a
/// factor in the order of its row, rounded where the instruction that adds it rounds.
void compare_replayed(const SignedProduct& product, std::span<const std::uint32_t> columns,
                      HostThreads& threads, kernels::Comparison& into);

}  // namespace tessera::butterfly
