#include <algorithm>
#include <vector>

#include "kernels/sparse/check.h"
#include "kernels/spmm_static/spmm_static.h"
#include "sim/data/element.h"

namespace tessera::spmm_static {

namespace {

/// Y as the tiles hold it, a row group at a time.
class FinishedRows {
 public:
  FinishedRows(const Plan& plan, const MemoryReader& memory, program::Type type)
      : plan_(plan), memory_(memory), type_(type), slices_(plan.slices) {}

  void read(std::uint32_t row, std::span<double> into) {
    const auto after = std::upper_bound(
        plan_.groups.begin(), plan_.groups.end(), row,
        [](std::uint32_t wanted, const RowGroup& group) { return wanted < group.first_row; });
    const auto g = static_cast<std::uint32_t>(after - plan_.groups.begin()) - 1;
    const RowGroup& group = plan_.groups[g];
    if (g != held_) fetch(g);
    for (std::size_t j = 0; j < into.size(); ++j) {
      into[j] = data::load_element(
          type_, slices_[j / plan_.slice_columns],
          std::size_t{row - group.first_row} * plan_.slice_columns + j % plan_.slice_columns);
    }
  }

 private:
  void fetch(std::uint32_t g) {
    const std::size_t bytes =
        std::size_t{plan_.groups[g].rows} * plan_.slice_columns * data::element_bytes(type_);
    for (std::uint32_t s = 0; s < plan_.slices; ++s) {
      slices_[s].resize(bytes);
      memory_.read({y_buffer(plan_.tile(g, s)), 0}, slices_[s]);
    }
    held_ = g;
  }

  const Plan& plan_;
  const MemoryReader& memory_;
  program::Type type_;
  std::vector<std::vector<std::byte>> slices_;
  std::uint32_t held_ = ~0U;
};

}  // namespace

CheckResult SpmmStatic::check(const MemoryReader& memory, CheckMode mode) const {
  FinishedRows rows(plan_, memory, dtype());
  return sparse::check_product(
      w_, x_, [&](std::uint32_t row, std::span<double> into) { rows.read(row, into); },
      sparse::rounding_of(dtype(), dtype()), mode, options_.weights.seed);
}

}  // namespace tessera::spmm_static
