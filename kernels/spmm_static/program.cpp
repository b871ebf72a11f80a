#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>

#include <nlohmann/json.hpp>

#include "kernels/spmm_static/spmm_static.h"
#include "sim/base/errors.h"
#include "sim/data/element.h"
#include "sim/data/matrix_market.h"
#include "sim/data/random.h"
#include "sim/elf/codelet.h"

namespace tessera::spmm_static {

using program::Type;

namespace {

constexpr std::uint64_t kPatternStream = 0;
constexpr std::uint64_t kValueStream = 1;
constexpr std::uint64_t kXStream = 2;

constexpr config::Names<Type, 2> kTypes{{{"f16", Type::f16}, {"f32", Type::f32}}};

/// A uniform pattern: the first ceil(density m k) places of a seeded permutation would do; a
/// Bernoulli draw a row with the exact total left over is the same distribution without storing m k
/// places (Knuth 3.4.2 S).
std::vector<data::Entry> random_entries(const Options& options) {
  const std::uint64_t places = std::uint64_t{options.m} * options.k;
  auto wanted =
      static_cast<std::uint64_t>(std::ceil(options.density * static_cast<double>(places)));
  std::vector<data::Entry> entries;
  entries.reserve(wanted);
  for (std::uint64_t place = 0; place < places && wanted > 0; ++place) {
    const std::uint64_t bits = data::random_bits(options.seed, kPatternStream, place);
    const double draw = static_cast<double>(bits >> 11) * 0x1p-53;
    if (draw * static_cast<double>(places - place) >= static_cast<double>(wanted)) continue;
    const float value = data::random_signed(options.seed, kValueStream, place);
    entries.push_back({static_cast<std::uint32_t>(place / options.k),
                       static_cast<std::uint32_t>(place % options.k), static_cast<double>(value)});
    --wanted;
  }
  return entries;
}

Options with_matrix_size(Options options, const data::SparseMatrix& w) {
  options.m = w.rows;
  options.k = w.columns;
  return options;
}

}  // namespace

void describe(config::Fields& fields, Pinned& plan) {
  fields.field({"slices", "cuts of n; 0: chosen"}, plan.slices);
  fields.field({"groups", "row groups of W; 0: chosen"}, plan.groups);
}

void describe(config::Fields& fields, Options& options) {
  fields.field({"m", "rows of W and Y; the matrix file's when one is given"}, options.m,
               {1, 1u << 24});
  fields.field({"k", "columns of W, rows of X; the matrix file's when one is given"}, options.k,
               {1, 1u << 24});
  fields.field({"n", "columns of X and Y"}, options.n, {1, 1u << 20});
  fields.field({"density", "nonzeros of a seeded uniform W over m k"}, options.density, {0.0, 1.0});
  fields.file({"matrix", "W as a Matrix Market file (.mtx) instead of a seeded one"},
              options.matrix);
  fields.field({"dtype", "type of W, X, Y and of the sums"}, options.dtype, kTypes);
  fields.field({"seed", "of the pattern and the values"}, options.seed);
  fields.group({"plan", "cuts to use instead of searching"}, options.plan);
}

data::SparseMatrix make_matrix(const Options& options) {
  data::SparseMatrix w = options.matrix.empty()
                             ? data::from_entries(options.m, options.k, random_entries(options))
                             : data::read_matrix_market(options.matrix);
  if (w.rows == 0 || w.columns == 0) {
    throw UserError(fmt::format("{}: found a matrix of {} x {}, allowed from 1 x 1", options.matrix,
                                w.rows, w.columns));
  }
  const double largest = data::largest_finite(options.dtype);
  for (double& value : w.value) {
    if (std::abs(value) > largest) {
      throw UserError(fmt::format("{}: the value {} is outside workload.dtype, allowed up to {}",
                                  options.matrix, value, largest));
    }
    value = data::rounded(options.dtype, value);
  }
  return w;
}

SpmmStatic::SpmmStatic(Options options, const MachineConfig& machine)
    : options_(std::move(options)),
      tiles_(machine.tiles),
      w_(make_matrix(options_)),
      plan_(
          make_plan(w_, options_.n, data::element_bytes(options_.dtype), machine, options_.plan)) {
  options_ = with_matrix_size(options_, w_);
}

std::uint32_t SpmmStatic::slice_bytes() const {
  return plan_.slice_columns * data::element_bytes(options_.dtype);
}

double SpmmStatic::x(std::uint32_t row, std::uint32_t column) const {
  if (column >= options_.n) return 0;
  const std::uint64_t at = std::uint64_t{row} * options_.n + column;
  return static_cast<double>(data::random_signed(options_.seed, kXStream, at));
}

std::uint64_t SpmmStatic::useful_flops() const { return 2 * w_.entries() * options_.n; }

std::string SpmmStatic::peak_type() const { return options_.dtype == Type::f16 ? "f16" : "f32"; }

nlohmann::ordered_json SpmmStatic::plan() const {
  return {{"slices", plan_.slices}, {"groups", plan_.groups.size()}};
}

/// Builds the program tile by tile: W's share, the X rows it owns and needs, its Y.
class Builder {
 public:
  explicit Builder(const SpmmStatic& workload)
      : workload_(workload), plan_(workload.plan_), program_(workload.tiles_) {}

  program::Program build() {
    const std::string name =
        workload_.options_.dtype == Type::f16 ? "spmm_rows_f16" : "spmm_rows_f32";
    codelet_ = program_.add_codelet(elf::embedded_codelet("spmm_static", name));
    add_outputs();
    program::ComputeSet multiply{"multiply", {}};
    for (std::uint32_t g = 0; g < groups(); ++g) {
      for (std::uint32_t s = 0; s < plan_.slices; ++s) {
        own_.push_back(add_own_rows(g, s));
        needed_.push_back(add_buffer(g, s, "x needed", bytes_of(plan_.groups[g].needed.size())));
        multiply.vertices.push_back(vertex(g, s));
      }
    }
    auto& steps = program_.main().steps;
    steps.push_back({gather()});
    steps.push_back({std::move(multiply)});
    return std::move(program_);
  }

 private:
  [[nodiscard]] std::uint32_t groups() const {
    return static_cast<std::uint32_t>(plan_.groups.size());
  }
  [[nodiscard]] std::uint32_t bytes_of(std::size_t rows) const {
    return static_cast<std::uint32_t>(rows * workload_.slice_bytes());
  }
  /// The rows of X that the tiles of group g own at the start: [first(g), first(g + 1)).
  [[nodiscard]] std::uint32_t first_owned(std::uint32_t g) const {
    return static_cast<std::uint32_t>(std::uint64_t{workload_.options_.k} * g / groups());
  }
  program::BufferId add_buffer(std::uint32_t g, std::uint32_t s, std::string_view name,
                               std::uint32_t bytes,
                               std::function<void(std::span<std::byte>)> contents = {}) {
    return program_.add_buffer(
        {plan_.tile(g, s), bytes, 8, false, program::Category::tensors, std::move(contents), name});
  }

  void add_outputs() {
    program::Tensor y{
        "y", workload_.options_.dtype, {workload_.options_.m, workload_.options_.n}, {}};
    for (std::uint32_t g = 0; g < groups(); ++g) {
      for (std::uint32_t s = 0; s < plan_.slices; ++s) {
        const std::uint32_t bytes = bytes_of(plan_.groups[g].rows);
        const program::BufferId buffer = program_.add_buffer(
            {plan_.tile(g, s), bytes, 8, true, program::Category::tensors, {}, "y"});
        check(buffer == y_buffer(plan_.tile(g, s)),
              "spmm_static: y of tile {} is not its first buffer", index(plan_.tile(g, s)));
        y.parts.push_back({{buffer, 0}, bytes});
      }
    }
    program_.add_tensor(std::move(y));
  }

  program::BufferId add_own_rows(std::uint32_t g, std::uint32_t s) {
    const std::uint32_t first = first_owned(g);
    const std::uint32_t rows = first_owned(g + 1) - first;
    auto fill = [this_ = &workload_, first, rows, s](std::span<std::byte> bytes) {
      const std::uint32_t columns = this_->plan_.slice_columns;
      for (std::uint32_t r = 0; r < rows; ++r) {
        for (std::uint32_t c = 0; c < columns; ++c) {
          data::store_element(this_->options_.dtype, bytes, std::size_t{r} * columns + c,
                              this_->x(first + r, s * columns + c));
        }
      }
    };
    return add_buffer(g, s, "x", bytes_of(rows), std::move(fill));
  }

  /// Each row of X goes once, from its owner to all groups whose nonzeros name it; neighbours with
  /// the same owner and the same receivers go as one copy.
  program::Exchange gather() {
    std::vector<std::vector<std::uint32_t>> takers(workload_.options_.k);
    for (std::uint32_t g = 0; g < groups(); ++g) {
      for (const std::uint32_t row : plan_.groups[g].needed) takers[row].push_back(g);
    }
    program::Exchange exchange{"gather x", {}};
    std::vector<std::uint32_t> taken(groups(), 0);
    for (std::uint32_t owner = 0; owner < groups(); ++owner) {
      const std::uint32_t end = first_owned(owner + 1);
      for (std::uint32_t row = first_owned(owner); row < end;) {
        std::uint32_t rows = 1;
        while (row + rows < end && takers[row + rows] == takers[row]) ++rows;
        if (!takers[row].empty()) add_copies(exchange, owner, row, rows, takers[row], taken);
        row += rows;
      }
    }
    return exchange;
  }

  void add_copies(program::Exchange& exchange, std::uint32_t owner, std::uint32_t row,
                  std::uint32_t rows, const std::vector<std::uint32_t>& takers,
                  std::vector<std::uint32_t>& taken) {
    for (std::uint32_t s = 0; s < plan_.slices; ++s) {
      program::Copy copy{
          {own_[at(owner, s)], bytes_of(row - first_owned(owner))}, bytes_of(rows), {}};
      for (const std::uint32_t g : takers) {
        copy.destinations.push_back({needed_[at(g, s)], bytes_of(taken[g])});
      }
      exchange.copies.push_back(std::move(copy));
    }
    for (const std::uint32_t g : takers) taken[g] += rows;
  }

  [[nodiscard]] std::size_t at(std::uint32_t g, std::uint32_t s) const {
    return std::size_t{g} * plan_.slices + s;
  }

  /// Counts and indices of a share's rows: u16 count, then for each nonzero the place of its row of
  /// X in 64-bit words.
  [[nodiscard]] std::vector<std::uint16_t> indices(const RowGroup& group) const {
    const data::SparseMatrix& w = workload_.w_;
    std::vector<std::uint16_t> words;
    for (std::uint32_t r = group.first_row; r < group.first_row + group.rows; ++r) {
      words.push_back(static_cast<std::uint16_t>(w.row_begin[r + 1] - w.row_begin[r]));
      for (std::uint64_t e = w.row_begin[r]; e < w.row_begin[r + 1]; ++e) {
        const auto place = std::lower_bound(group.needed.begin(), group.needed.end(), w.column[e]);
        words.push_back(static_cast<std::uint16_t>((place - group.needed.begin()) *
                                                   (workload_.slice_bytes() / 8)));
      }
    }
    return words;
  }

  program::Vertex vertex(std::uint32_t g, std::uint32_t s) {
    const RowGroup& group = plan_.groups[g];
    const data::SparseMatrix& w = workload_.w_;
    const Type type = workload_.options_.dtype;
    const std::uint64_t first_entry = w.row_begin[group.first_row];
    const std::uint64_t entries = w.row_begin[group.first_row + group.rows] - first_entry;

    const auto index_bytes = static_cast<std::uint32_t>(2 * (entries + group.rows));
    const auto meta =
        add_buffer(g, s, "indices", index_bytes, [words = indices(group)](auto bytes) {
          std::memcpy(bytes.data(), words.data(), words.size() * 2);
        });
    const auto value_bytes = static_cast<std::uint32_t>(entries * data::element_bytes(type));
    const auto values = add_buffer(
        g, s, "values", std::max(value_bytes, 4u), [&w, type, first_entry, entries](auto bytes) {
          for (std::uint64_t e = 0; e < entries; ++e) {
            data::store_element(type, bytes, e, w.value[first_entry + e]);
          }
        });

    program::Vertex vertex{plan_.tile(g, s), codelet_, program::Executor::all_workers, 0, {}};
    vertex.arguments = {program::Place{needed_.back()}, program::Place{y_buffer(vertex.tile)},
                        workload_.slice_bytes()};
    for (const WorkerShare& share : group.workers) {
      const std::uint64_t before = w.row_begin[group.first_row + share.first_row] - first_entry;
      const auto offset = static_cast<std::uint32_t>(before);
      vertex.arguments.insert(
          vertex.arguments.end(),
          {program::Place{meta, 2 * (offset + share.first_row)},
           program::Place{values, offset * data::element_bytes(type)}, share.rows, share.passes,
           share.first_pass * kPassBytes,
           share.first_row * workload_.slice_bytes() + share.first_pass * kPassBytes});
    }
    return vertex;
  }

  const SpmmStatic& workload_;
  const Plan& plan_;
  program::Program program_;
  std::uint32_t codelet_ = 0;
  std::vector<program::BufferId> own_;     ///< X at the start, by group and slice
  std::vector<program::BufferId> needed_;  ///< X as the nonzeros name it
};

program::Program SpmmStatic::build() const { return Builder(*this).build(); }

}  // namespace tessera::spmm_static
