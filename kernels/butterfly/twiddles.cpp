#include "kernels/butterfly/twiddles.h"

#include <bit>
#include <cmath>
#include <numbers>

#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/data/element.h"
#include "sim/data/numpy_file.h"
#include "sim/data/seeded.h"

namespace tessera::butterfly {

namespace {

constexpr std::uint64_t kStream = 7;  // random stream of twiddles, distinct from X's and Yg's

/// Calls take(stage, a feature of the twiddle) for a group's twiddles, in the tile code's load
/// order.
template <class Take>
void for_twiddles(const Problem& problem, const RowPass& pass, std::uint32_t tile,
                  std::uint32_t group, const Take& take) {
  const std::uint32_t row = pass.first_row(problem, group);
  const std::uint32_t first = 1U << pass.first_place(problem);
  const std::uint32_t last = 1U << pass.last_place(problem);
  const auto feature = [&](std::uint32_t leg) { return pass.rows.feature(tile, row + leg); };
  take(pass.stages.front(), feature(0));
  if (pass.stages.size() == 1) return;
  take(pass.stages.front(), feature(last));
  take(pass.stages.back(), feature(0));
  take(pass.stages.back(), feature(first));
}

}  // namespace

std::vector<std::uint64_t> twiddle_shape(const Problem& problem) {
  std::vector<std::uint64_t> shape{problem.stages(), problem.pairs()};
  if (problem.parameters == Parameters::free) shape.insert(shape.end(), {2, 2});
  if (problem.complex_code()) shape.push_back(2);
  if (problem.blocked()) shape.insert(shape.end(), {problem.block, problem.block});
  return shape;
}

Twiddles::Twiddles(const Problem& problem, std::uint64_t seed) : problem_(problem), seed_(seed) {}

Twiddles::Twiddles(const Problem& problem, const std::string& file) : problem_(problem) {
  data::NumpyArray array = data::read_numpy(file);
  const std::vector<std::uint64_t> shape = twiddle_shape(problem);
  if (array.shape != shape) {
    throw KeyError("workload.twiddles", "found {} of shape [{}], allowed [{}]", file,
                   fmt::join(array.shape, ", "), fmt::join(shape, ", "));
  }
  data::require_finite(array, problem.twiddle_type(), file);
  rounded_ = data::round_all(problem.twiddle_type(), array.values);
  values_ = std::move(array.values);
}

double Twiddles::parameter(std::uint32_t stage, std::uint32_t pair, std::uint32_t at) const {
  const std::uint64_t place =
      (std::uint64_t{stage} * problem_.pairs() + pair) * problem_.twiddle_parameters() + at;
  if (!values_.empty()) return values_[place];
  return data::Seeded{problem_.type(), seed_, kStream}.element(place);
}

double Twiddles::angle(std::uint32_t stage, std::uint32_t pair) const {
  const double value = parameter(stage, pair, 0);
  return values_.empty() ? data::rounded(problem_.twiddle_type(), value * std::numbers::pi) : value;
}

double Twiddles::number(std::uint32_t stage, std::uint32_t pair, std::uint32_t at) const {
  if (problem_.parameters == Parameters::free)
    return data::rounded(problem_.type(), parameter(stage, pair, at));
  const double turned = angle(stage, pair);
  return data::rounded(problem_.type(), at == 0 ? std::cos(turned) : std::sin(turned));
}

double Twiddles::file_value(std::uint64_t place) const {
  const std::uint32_t numbers = problem_.twiddle_parameters();
  const auto stage = static_cast<std::uint32_t>(place / numbers / problem_.pairs());
  const auto pair = static_cast<std::uint32_t>(place / numbers % problem_.pairs());
  const auto at = static_cast<std::uint32_t>(place % numbers);
  if (problem_.parameters == Parameters::rotation) return angle(stage, pair);
  if (!problem_.blocked()) return number(stage, pair, at);
  const std::uint32_t block = problem_.block;
  const std::uint32_t quarter = at / (block * block);
  const std::uint32_t inner = at % (block * block);
  return element(stage, pair, quarter / 2 * block + inner / block,
                 quarter % 2 * block + inner % block)
      .real();
}

/// Seeded elements of blocks are divided by about the root of the number of terms, so that sums
/// keep their magnitude.
std::complex<double> Twiddles::element(std::uint32_t stage, std::uint32_t pair, std::uint32_t row,
                                       std::uint32_t column) const {
  if (problem_.parameters == Parameters::rotation) {
    const double turn = number(stage, pair, row == column ? 0 : 1);
    return row < column ? -turn : turn;
  }
  const std::uint32_t block = problem_.block;
  const std::uint32_t quarter = row / block * 2 + column / block;
  if (problem_.is_complex())
    return {number(stage, pair, 2 * quarter), number(stage, pair, 2 * quarter + 1)};
  const double value =
      parameter(stage, pair, (quarter * block + row % block) * block + column % block);
  const int half_bits = std::countr_zero(block) / 2;
  return data::rounded(problem_.type(), values_.empty() ? std::ldexp(value, -half_bits) : value);
}

void Twiddles::fill(const RowPass& pass, std::uint32_t part, bool adjoint, Interval groups,
                    std::span<std::byte> into) const {
  std::size_t place = 0;
  const auto put = [&](double value) {
    data::store_element(problem_.type(), into, place++, value);
  };
  for (std::uint64_t group = groups.begin; group < groups.end; ++group)
    for_twiddles(problem_, pass, part, word(group),
                 [&](std::uint32_t stage, std::uint32_t feature) {
                   const std::uint32_t pair = problem_.pair(stage, feature);
                   if (problem_.parameters == Parameters::rotation) {
                     put(number(stage, pair, 0));
                     put((adjoint ? -1 : 1) * number(stage, pair, 1));
                     return;
                   }
                   for (const std::uint32_t at : {0U, 1U, 2U, 3U}) {
                     const std::uint32_t row = at / 2, column = at % 2;
                     const auto value = adjoint ? std::conj(element(stage, pair, column, row))
                                                : element(stage, pair, row, column);
                     put(value.real());
                     if (problem_.is_complex()) put(value.imag());
                   }
                 });
}

std::uint32_t twiddle_bytes(const Problem& problem, const RowPass& pass) {
  const std::uint32_t each = pass.stages.size() == 1 ? 1 : 4;
  return pass.groups() * each * problem.twiddle_numbers() * data::element_bytes(problem.type());
}

}  // namespace tessera::butterfly
