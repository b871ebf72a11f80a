#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "kernels/check/check.h"
#include "kernels/check/rounding.h"
#include "kernels/codelet.h"
#include "kernels/gemm/shape.h"
#include "sim/base/errors.h"
#include "sim/data/element.h"
#include "sim/data/seeded.h"
#include "sim/elf/codelet.h"
#include "sim/plan/lower.h"
#include "sim/plan/uniform.h"
#include "sim/program/catalogue.h"

/// The workload `matrix_unit`: Y[n, O] += X[n, I] W[I, O] on every tile, with its own data, for the
/// I inputs and O outputs of the machine's matrix unit: its rate with all operands in place.
namespace tessera::matrix_unit {

using plan::Tile;
using program::Type;

namespace {

enum class Mode : std::uint8_t { f16, f16_f32, f32 };
constexpr config::Names<Mode, 3> kModes{
    {{"f16", Mode::f16}, {"f16_f32", Mode::f16_f32}, {"f32", Mode::f32}}};

struct Options {
  std::uint32_t n = 1024;
  Mode dtype = Mode::f16;
  std::uint64_t seed = 1;
};
void describe(config::Fields& fields, Options& options) {
  fields.field({"n", "rows of X multiplied on each tile"}, options.n, {1, 1U << 24});
  fields.field({"dtype", "f16, f16 with f32 partials, or f32"}, options.dtype, kModes);
  fields.field({"seed", "seed of the values"}, options.seed);
}

constexpr unsigned kRandomBits = 10;

Type input_of(Mode mode) { return mode == Mode::f32 ? Type::f32 : Type::f16; }
Type partial_of(Mode mode) { return mode == Mode::f16 ? Type::f16 : Type::f32; }

class MatrixUnit : public Workload {
 public:
  /// Throws UserError if the machine's matrix unit does not support the type.
  MatrixUnit(const Options& options, MachineCosts& costs);

  [[nodiscard]] program::Program lowered() const override {
    return plan::lower(describe(machine_.tiles, options_.n));
  }
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override {
    constexpr std::uint32_t kTogether = 64;  // tiles per batch; this thread alone reads memory
    kernels::Comparison all({"Y", block_.partial, block_.partial});
    HostThreads threads(request.threads);
    std::vector<std::vector<std::byte>> results(kTogether);
    for (std::uint32_t first = 0; first < machine_.tiles; first += kTogether) {
      const std::uint32_t count = std::min(kTogether, machine_.tiles - first);
      for (std::uint32_t i = 0; i < count; ++i) results[i] = tensors.slice("Y", first + i);
      all.add_all(count, 1, threads, [&](std::size_t i, std::size_t, kernels::Comparison& into) {
        TileCheck(*this, first + static_cast<std::uint32_t>(i)).compare(results[i], into);
      });
    }
    return all.result("full");
  }

 private:
  enum class Array : std::uint64_t { x, w, y };
  /// The program on `tiles` tiles, with `positions` activation rows each.
  [[nodiscard]] plan::Description describe(std::uint32_t tiles, std::uint32_t positions) const {
    plan::Description description(tiles);
    using program::Role;
    const std::uint64_t depth = block_.depth, columns = block_.columns;
    const auto given = [&](Array which, std::string_view name, program::Tensor tensor) {
      return plan::add_given(description, {.name = name, .bytes = {}, .keep = which == Array::y},
                             std::move(tensor), plan::slices_of(seeded(which)));
    };
    const BufferId y =
        given(Array::y, "y", {"Y0", Role::input, block_.partial, {tiles, positions, columns}});
    const BufferId x =
        given(Array::x, "x or w", {"X", Role::input, block_.input, {tiles, positions, depth}});
    const BufferId w =
        given(Array::w, "x or w", {"W", Role::weights, block_.input, {tiles, depth, columns}});
    const kernels::Codelet codelet{description.code()->add_codelet(codelet_),
                                   machine_.tile.contexts};
    description.compute("product", tiles,
                        [this, codelet, positions, w, x, y](Tile /*tile*/, Calls& calls) {
                          calls.add(product(codelet, positions, w, x, y));
                        });
    plan::add_result(description, {"Y", Role::result, block_.partial, {tiles, positions, columns}},
                     y);
    return description;
  }
  [[nodiscard]] program::Vertex product(const kernels::Codelet& codelet, std::uint32_t positions,
                                        BufferId w, BufferId x, BufferId y) const {
    return codelet.supervised(codelet.dealt(
        {Place{w}, 0U, 0U, 0U}, positions, [&](Interval part, kernels::Arguments& into) {
          const Place own{y, word(part.begin * block_.y_bytes())};
          into.insert(into.end(), {word(part.size()) - 3U,
                                   Place{x, word(part.begin * block_.x_bytes())}, own, own});
        }));
  }
  /// Element `at` of an array of a tile before the run, in row-major order.
  [[nodiscard]] double initial(Array array, std::uint32_t tile, std::uint64_t at) const {
    return seeded(array).element(plan::number_in_slice(tile, at));
  }
  [[nodiscard]] data::Seeded seeded(Array array) const {
    return {array == Array::y ? block_.partial : block_.input, options_.seed,
            static_cast<std::uint64_t>(array), kRandomBits};
  }
  /// Checks a tile's results. Products are added one by one in f32, then rounded to the results'
  /// type: the bound of each element is (inputs + 1) u32 (|y| + sum |x w|) + u |result| plus half
  /// the smallest number of that type; max_error is the largest ratio of error to bound. All
  /// elements are also compared bit by bit, with every rounding. Inputs are multiples of 2^-10
  /// below 1, so a product plus a partial sum is exact in double, and rounding it to f32 gives the
  /// multiply-add.
  class TileCheck {
   public:
    TileCheck(const MatrixUnit& unit, std::uint32_t tile) : unit_(unit), tile_(tile) {
      w_.resize(std::size_t{unit.block_.depth} * unit.block_.columns);
      for (std::size_t i = 0; i < w_.size(); ++i) w_[i] = unit.initial(Array::w, tile, i);
    }

    void compare(std::span<const std::byte> bytes, kernels::Comparison& into) {
      const std::uint64_t columns = unit_.block_.columns;
      for (std::uint64_t row = 0; row < unit_.options_.n; ++row) {
        multiply(row);
        for (std::uint64_t column = 0; column < columns; ++column)
          into.add(
              compared(row, column,
                       data::load_element(unit_.block_.partial, bytes, row * columns + column)));
      }
    }

   private:
    void multiply(std::uint64_t row) {
      const std::uint32_t columns = unit_.block_.columns;
      sum_.resize(columns);
      for (std::uint64_t j = 0; j < columns; ++j)
        sum_[j] = unit_.initial(Array::y, tile_, row * columns + j);
      single_.assign(sum_.begin(), sum_.end());
      size_.resize(columns);
      std::transform(sum_.begin(), sum_.end(), size_.begin(), [](double y) { return std::abs(y); });
      for (std::uint64_t i = 0; i < unit_.block_.depth; ++i) {
        const double x = unit_.initial(Array::x, tile_, row * unit_.block_.depth + i);
        for (std::uint64_t j = 0; j < columns; ++j) {
          const double product = x * w_[i * columns + j];
          sum_[j] += product;
          size_[j] += std::abs(product);
          single_[j] = static_cast<float>(static_cast<double>(single_[j]) + product);
        }
      }
    }

    [[nodiscard]] kernels::Compared compared(std::uint64_t row, std::uint64_t column,
                                             double found) const {
      const program::Type type = unit_.block_.partial;
      const double allowed =
          (unit_.block_.depth + 1) * data::unit_roundoff(program::Type::f32) * size_[column] +
          data::unit_roundoff(type) * std::abs(sum_[column]) + kernels::half_smallest(type);
      return {std::uint64_t{tile_} * unit_.options_.n + row,
              column,
              found,
              sum_[column],
              allowed,
              size_[column],
              data::rounded(type, static_cast<double>(single_[column]))};
    }

    const MatrixUnit& unit_;
    std::uint32_t tile_;
    std::vector<double> w_, sum_, size_;
    std::vector<float> single_;  ///< sums with the machine's roundings
  };

  Options options_;
  MachineConfig machine_;
  kernels::BlockShape block_;
  program::Codelet codelet_;
};

MatrixUnit::MatrixUnit(const Options& options, MachineCosts& costs)
    : options_(options),
      machine_(costs.machine()),
      block_(kernels::block_shape(machine_.tile.matrix_unit, input_of(options.dtype),
                                  partial_of(options.dtype))) {
  kernels::require_unit(machine_, block_.input, block_.partial);
  codelet_ = elf::embedded_codelet("matrix_unit", "matrix_unit_" + block_.name());
  const auto one_tile = [this](const Sizes& sizes) { return describe(1, word(sizes[0])); };
  const std::uint64_t macs = std::uint64_t{options.n} * block_.depth * block_.columns;
  summarise({.problem = fmt::format("{}x{}x{} {} a tile", options.n, block_.columns, block_.depth,
                                    config::name_of(kModes, options.dtype)),
             .peak_type = kernels::type_name(block_.input, block_.partial),
             .prediction = plan::predict_uniform({FittedCost::Axis::shared(machine_.tile.contexts)},
                                                 {options.n}, one_tile, costs),
             .facts = {{"positions", options.n}, {"workers", machine_.tile.contexts}},
             .useful_flops = 2 * macs * machine_.tiles});
}

}  // namespace

Kernel kernel() {
  return make_kernel<Options, MatrixUnit>("matrix_unit",
                                          "[n, 16] times [16, 16] on every tile's matrix unit");
}

}  // namespace tessera::matrix_unit
