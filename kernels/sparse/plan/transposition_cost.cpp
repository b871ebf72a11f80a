#include "kernels/sparse/plan/transposition_cost.h"

#include <algorithm>
#include <cmath>

namespace tessera::sparse {

TranspositionCost::TranspositionCost(const Shape& shape, MachineCosts& costs)
    : shape_(shape), steps_(costs), workers_(costs.machine().tile.contexts) {}

std::uint64_t TranspositionCost::operator()(const Chunked& part, Direction direction) {
  if (part.depth == 1) return 0;
  if (!line_) line_ = measure();
  double most = 0;
  for (const auto& runs : transpositions(part, shape_.bytes(), direction, workers_)) {
    double cycles = line_->once;
    for (const SquareRun& one : runs) cycles += line_->run + one.squares * line_->square;
    most = std::max(most, cycles);
  }
  return static_cast<std::uint64_t>(std::llround(most));
}

TranspositionCost::Line TranspositionCost::measure() const {
  constexpr std::uint64_t kFew = 4, kMany = 12;
  const auto few = static_cast<double>(measure(kFew, 1));
  const double square = (static_cast<double>(measure(kMany, 1)) - few) / (kMany - kFew);
  const double run = static_cast<double>(measure(kFew, 2)) - few - kFew * square;
  return {few - run - kFew * square, run, square};
}

std::uint64_t TranspositionCost::measure(std::uint64_t squares, std::uint32_t runs) const {
  const std::uint64_t columns = squares * shape_.lanes();
  const std::uint32_t depth = runs * workers_ * shape_.lanes();
  const Chunked part{{0, columns * depth}, depth, columns, {}};
  const TileCode code;
  return steps_.vertex([&](program::Program& program) {
    Assembly assembly(code, program, workers_);
    program::ComputeSet set;
    const auto buffer = [&] {
      return assembly.buffer(0, columns * depth * shape_.bytes(), "sample");
    };
    const Place from{buffer()};
    add_transposition(assembly, set, shape_, TileId{0}, part, from, {buffer()},
                      Direction::to_blocks);
    return set.vertices.front();
  });
}

}  // namespace tessera::sparse
