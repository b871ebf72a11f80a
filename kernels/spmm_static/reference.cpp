#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/spmm_static/spmm_static.h"
#include "sim/data/element.h"

namespace tessera::spmm_static {

namespace {

/// One row of Y in double precision, and the sum of magnitudes that its rounding errors scale with.
struct ReferenceRow {
  std::vector<double> value;
  std::vector<double> scale;
};

}  // namespace

/// Sequential sums of L products in the type's precision, u = unit roundoff: |error| <= (L + 1) u
/// sum |w x|, each product fused into its addition (Higham, Accuracy and Stability, 3.1).
CheckResult SpmmStatic::check(const MemoryReader& memory, CheckMode mode) const {
  CheckResult result{true, 0, 0, "full"};
  if (mode == CheckMode::off) return {true, 0, 0, "off"};
  const double u = data::unit_roundoff(options_.dtype);
  std::vector<std::byte> bytes;
  ReferenceRow row{std::vector<double>(options_.n), std::vector<double>(options_.n)};

  for (std::uint32_t g = 0; g < plan_.groups.size(); ++g) {
    const RowGroup& group = plan_.groups[g];
    std::vector<std::vector<std::byte>> slices(plan_.slices);
    for (std::uint32_t s = 0; s < plan_.slices; ++s) {
      slices[s].resize(std::size_t{group.rows} * slice_bytes());
      memory.read({y_buffer(plan_.tile(g, s)), 0}, slices[s]);
    }
    for (std::uint32_t r = 0; r < group.rows; ++r) {
      const std::uint32_t i = group.first_row + r;
      std::fill(row.value.begin(), row.value.end(), 0.0);
      std::fill(row.scale.begin(), row.scale.end(), 0.0);
      for (std::uint64_t e = w_.row_begin[i]; e < w_.row_begin[i + 1]; ++e) {
        for (std::uint32_t j = 0; j < options_.n; ++j) {
          const double product = w_.value[e] * x(w_.column[e], j);
          row.value[j] += product;
          row.scale[j] += std::abs(product);
        }
      }
      const double allowed = static_cast<double>(w_.row_begin[i + 1] - w_.row_begin[i] + 1) * u;
      result.bound = std::max(result.bound, allowed);
      for (std::uint32_t j = 0; j < options_.n; ++j) {
        const double found =
            data::load_element(options_.dtype, slices[j / plan_.slice_columns],
                               std::size_t{r} * plan_.slice_columns + j % plan_.slice_columns);
        const double error = std::abs(found - row.value[j]);
        // Subnormal results of f16 add half their spacing a step.
        const double least = options_.dtype == program::Type::f16 ? allowed / u * 0x1p-25 : 0;
        if (!(error <= allowed * row.scale[j] + least)) result.passed = false;
        if (row.scale[j] > 0) result.max_error = std::max(result.max_error, error / row.scale[j]);
        if (std::isnan(found)) result.max_error = found;
      }
    }
  }
  return result;
}

}  // namespace tessera::spmm_static
