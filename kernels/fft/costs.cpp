#include "kernels/fft/costs.h"

#include <algorithm>

namespace tessera::fft {

namespace {

constexpr TileId kTile{0};  // of samples

// Loops run as they do for long from so many units on.
constexpr std::uint64_t kSettled = 3;

std::uint32_t radix_of(const std::string& codelet) {
  return codelet.starts_with("fft_radix8") ? 8 : codelet.starts_with("fft_radix4") ? 4 : 2;
}

}  // namespace

/// All workers do the same.
program::Vertex Costs::sample(program::Program& program, const std::string& codelet,
                              const Share& share) const {
  const std::uint32_t contexts = steps_.machine().tile.contexts;
  const std::uint64_t groups = share.groups * contexts;
  const std::uint64_t columns = share.units * kUnitPoints;
  const auto buffer = [&](std::uint64_t bytes) {
    return program.add_buffer({kTile, bytes, 8, false, program::Category::tensors, {}, "sample"});
  };
  Vertices vertices(code_, program, contexts);
  if (codelet.starts_with("fft_radix")) {
    // A first pass over many columns, divided as if they were groups.
    const std::uint32_t radix = radix_of(codelet);
    const bool first = codelet.ends_with("_first");
    const Pass pass{word(first ? radix : radix * groups), radix, 1};
    const std::uint64_t row = first ? columns * contexts : columns;
    const std::uint64_t bytes = pass.length * row * kPointBytes;
    return vertices.pass(kTile, pass, row, Direction::forward,
                         buffer(std::max<std::uint64_t>(twiddle_bytes(pass), 8)), buffer(bytes),
                         buffer(bytes), first ? contexts : 1);
  }
  const std::uint64_t bytes = groups * kUnitPoints * columns * kPointBytes;
  const BufferId turns = buffer(codelet == "fft_turn" ? bytes : 8);
  return vertices.transposition(kTile, groups, columns, codelet == "fft_turn" ? &turns : nullptr,
                                buffer(groups * sizeof(RowPairs::Entry)), buffer(bytes),
                                buffer(bytes), 1);
}

std::uint64_t Costs::cycles(const std::string& codelet, const Share& share) {
  auto found = fitted_.find(codelet);
  if (found == fitted_.end()) {
    const auto measure = [this, codelet](const FittedCost::Sizes& sizes) {
      return steps_.vertex([&](program::Program& program) {
        return sample(program, codelet, {sizes[0], sizes[1]});
      });
    };
    found = fitted_.emplace(codelet, FittedCost({{1, 1}, {1, kSettled}}, measure)).first;
  }
  return found->second({share.groups, share.units});
}

Costs::Division Costs::best(const VertexSize& vertex) {
  const std::uint32_t contexts = steps_.machine().tile.contexts;
  Division best{1, ~std::uint64_t{0}};
  for (std::uint32_t parts = 1; parts <= contexts; ++parts) {
    if (contexts % parts != 0) continue;
    const Share share{ceil_div(vertex.groups, std::uint64_t{contexts / parts}),
                      ceil_div(vertex.units, std::uint64_t{parts})};
    const std::uint64_t cost = cycles(vertex.codelet, share);
    if (cost < best.cycles) best = {parts, cost};
  }
  return best;
}

std::vector<std::uint32_t> Costs::unit_parts(const Digits& digits) {
  std::vector<std::uint32_t> parts;
  for (const VertexSize& vertex : vertex_sizes(digits)) parts.push_back(best(vertex).unit_parts);
  return parts;
}

std::uint64_t Costs::passes(std::uint32_t length, std::uint64_t columns,
                            const std::vector<std::uint32_t>& radices) {
  std::uint64_t sum = 0;
  for (const Pass& pass : passes_of({{length}, {}, radices}, 0))
    sum += best(size_of(pass, columns)).cycles;
  return sum;
}

std::uint64_t Costs::estimate(const Digits& digits) {
  std::uint64_t sum = 0;
  for (const VertexSize& vertex : vertex_sizes(digits)) sum += best(vertex).cycles;
  const auto exchange = [&](std::uint64_t points, std::uint32_t tiles) {
    const std::uint64_t bytes = points * kPointBytes;
    sum += machine_costs_.barrier() + machine_costs_.exchange({bytes, bytes, 0, tiles});
  };
  for (std::uint32_t phase = digits.first_phase(); phase + 1 < digits.phases(); ++phase)
    if (digits.plan().parts[phase] > 1)
      exchange(std::max(digits.held(0, phase), digits.held(0, phase + 1)), digits.tiles());
  if (digits.problem().layout == Layout::natural) {
    exchange(digits.held(0, digits.first_phase()), steps_.machine().tiles);
    exchange(digits.held(0, digits.phases() - 1), steps_.machine().tiles);
  }
  return sum;
}

}  // namespace tessera::fft
