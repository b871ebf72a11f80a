#pragma once

#include <array>
#include <functional>

#include "kernels/fft/vertices.h"
#include "sim/plan/description.h"

namespace tessera::fft {

/// Input point `number`: its real and its imaginary part.
using Points = std::function<std::array<float, 2>(std::uint64_t number)>;

/// Inputs of a description beside the plan; used while it is stated. `code` outlives it.
struct Setting {
  const MachineConfig& machine;
  const elf::KernelCode& code;
  Division& division;
  plan::Pricing* pricing;  ///< for what `division` does not know; null: it knows all
};

/// The program, with the result as tensor X. Tile 0 has most to do. `points`: absent for plans.
plan::Description describe_program(const Digits& digits, const Setting& setting,
                                   const Points& points = {});

}  // namespace tessera::fft
