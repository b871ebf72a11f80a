#include "kernels/spmm_tilewise/bit_exact.h"

#include <algorithm>
#include <optional>

namespace tessera::spmm_tilewise {

namespace {

/// The kept rows of a group block after block of the product's depth, then single elements.
class BitExact {
 public:
  BitExact(const Problem& problem, const TilePattern& pattern, const Plan& plan,
           const WeightStorage& weights, const DenseWeights& w)
      : problem_(problem), plan_(plan), weights_(weights), w_(w), places_(problem.n) {
    for (std::uint32_t g = 0; g < plan.groups.size(); ++g) {
      const Group& group = plan.groups[g];
      for (std::uint64_t c = 0; c < group.positions(); ++c)
        places_[pattern.tiles[group.tile].columns[group.columns.begin + c]] = Place{g, c};
    }
  }

  void column(std::uint32_t column, std::span<const float> a, std::span<float> sums) const {
    std::fill(sums.begin(), sums.end(), 0.0F);
    if (!places_[column]) return;
    const auto [group, position] = *places_[column];
    add_rows(group, position, a, sums);
    kernels::OrderedSums::round(problem_.block.input, sums);
    const OverlayPart& part = plan_.groups[group].overlay;
    const kernels::OrderedSums single(problem_.block.input, 1);
    if (part.empty()) return;
    for (std::uint32_t e = part.begin[position]; e < part.begin[position + 1]; ++e) {
      const std::uint32_t row = part.rows[part.row[e]];
      single.add(w_.at(row, column), &a[std::size_t{row} * problem_.m], sums);
    }
  }

 private:
  struct Place {
    std::uint32_t group;
    std::uint64_t position;
  };

  void add_rows(std::uint32_t group, std::uint64_t position, std::span<const float> a,
                std::span<float> sums) const {
    const Group& of = plan_.groups[group];
    const std::uint64_t depth = problem_.block.depth;
    const kernels::OrderedSums all(problem_.block.partial,
                                   problem_.block.on_unit() ? problem_.block.depth : 1);
    for (std::uint64_t i = 0; i < of.rows.size(); ++i) {
      const std::uint64_t element = (i / depth * of.positions() + position) * depth + i % depth;
      const auto weight = static_cast<float>(weights_.value(group, element));
      if (of.rows[i] < problem_.k) all.add(weight, &a[std::size_t{of.rows[i]} * problem_.m], sums);
      if ((i + 1) % depth == 0) all.store(sums);
    }
  }

  const Problem& problem_;
  const Plan& plan_;
  const WeightStorage& weights_;
  const DenseWeights& w_;
  std::vector<std::optional<Place>> places_;  // of columns of W that are kept
};

}  // namespace

sparse::ExactRow exact_rows(const Problem& problem, const TilePattern& pattern, const Plan& plan,
                            const WeightStorage& weights, const DenseWeights& w) {
  return [exact = BitExact(problem, pattern, plan, weights, w)](
             std::uint32_t column, std::span<const float> a, std::span<float> sums) {
    exact.column(column, a, sums);
  };
}

}  // namespace tessera::spmm_tilewise
