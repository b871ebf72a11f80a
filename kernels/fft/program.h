#pragma once

#include <array>
#include <functional>
#include <string>

#include "kernels/fft/digits.h"
#include "kernels/fft/passes.h"
#include "kernels/sample.h"

namespace tessera::fft {

/// Input point `number`: its real and its imaginary part.
using Points = std::function<std::array<float, 2>(std::uint64_t number)>;

/// The program. Buffer t holds what tile t of the machine (layout blocked: of the plan) has of the
/// result. `unit_parts`: of every vertex of a tile in turn, see Vertices.
program::Program build_program(const Digits& digits, const std::vector<std::uint32_t>& unit_parts,
                               const MachineConfig& machine, const Points& points);

/// What tile 0, which has most to do, does in it, as a program of one tile.
kernels::Sample build_sample(const Digits& digits, const std::vector<std::uint32_t>& unit_parts,
                             const MachineConfig& machine);

/// What vertices tile 0 runs, in turn, for those who divide them among workers: of radix 2, 4 or 8,
/// or transpositions, and how many groups of how many units.
struct VertexSize {
  std::string codelet;
  std::uint64_t groups;
  std::uint64_t units;
};
VertexSize size_of(const Pass& pass, std::uint64_t columns);
std::vector<VertexSize> vertex_sizes(const Digits& digits);

/// The place of the real part of point `at` in the order of a tile's points; the imaginary part is
/// 8 bytes further.
std::uint64_t point_offset(const Digits& digits, std::uint64_t at);

}  // namespace tessera::fft
