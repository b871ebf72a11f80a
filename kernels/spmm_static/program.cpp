#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include <nlohmann/json.hpp>

#include "kernels/sparse/streams.h"
#include "kernels/spmm_static/spmm_static.h"
#include "sim/base/errors.h"
#include "sim/data/element.h"
#include "sim/elf/codelet.h"

namespace tessera::spmm_static {

using program::Type;

namespace {

/// The element-wise product takes blocks of 1 only.
const sparse::WeightOptions& supported(const sparse::WeightOptions& weights) {
  if (weights.block == 1) return weights;
  throw KeyError("workload.block", fmt::format("found {}, allowed 1", weights.block));
}

}  // namespace

void describe(config::Fields& fields, Pinned& plan) {
  fields.field({"slices", "cuts of n; 0: chosen"}, plan.slices);
  fields.field({"groups", "row groups of W; 0: chosen"}, plan.groups);
}

void describe(config::Fields& fields, Options& options) {
  describe(fields, options.weights);
  fields.field({"n", "columns of X and Y"}, options.n, {1, 1u << 20});
  fields.group({"plan", "cuts to use instead of searching"}, options.plan);
}

SpmmStatic::SpmmStatic(Options options, const MachineConfig& machine)
    : options_(std::move(options)),
      tiles_(machine.tiles),
      w_(sparse::make_weights(supported(options_.weights))),
      x_(w_.columns, options_.n, dtype(), options_.weights.seed, sparse::kDenseStream),
      plan_(make_plan(w_, options_.n, data::element_bytes(dtype()), machine, options_.plan)) {}

std::uint32_t SpmmStatic::slice_bytes() const {
  return plan_.slice_columns * data::element_bytes(dtype());
}

std::uint64_t SpmmStatic::useful_flops() const { return 2 * w_.nonzeros * options_.n; }

std::string SpmmStatic::peak_type() const { return dtype() == Type::f16 ? "f16" : "f32"; }

nlohmann::ordered_json SpmmStatic::plan() const {
  return {{"slices", plan_.slices}, {"groups", plan_.groups.size()}};
}

/// Builds the program tile by tile: W's share, the X rows it owns and needs, its Y.
class Builder {
 public:
  explicit Builder(const SpmmStatic& workload)
      : workload_(workload), plan_(workload.plan_), program_(workload.tiles_) {}

  program::Program build() {
    const std::string name = workload_.dtype() == Type::f16 ? "spmm_rows_f16" : "spmm_rows_f32";
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
    return static_cast<std::uint32_t>(std::uint64_t{workload_.w_.columns} * g / groups());
  }
  program::BufferId add_buffer(std::uint32_t g, std::uint32_t s, std::string_view name,
                               std::uint32_t bytes,
                               std::function<void(std::span<std::byte>)> contents = {}) {
    return program_.add_buffer(
        {plan_.tile(g, s), bytes, 8, false, program::Category::tensors, std::move(contents), name});
  }

  void add_outputs() {
    program::Tensor y{"y", workload_.dtype(), {workload_.w_.rows, workload_.options_.n}, {}};
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
          data::store_element(this_->dtype(), bytes, std::size_t{r} * columns + c,
                              this_->x_.element(first + r, s * columns + c));
        }
      }
    };
    return add_buffer(g, s, "x", bytes_of(rows), std::move(fill));
  }

  /// Each row of X goes once, from its owner to all groups whose nonzeros name it; neighbours with
  /// the same owner and the same receivers go as one copy.
  program::Exchange gather() {
    std::vector<std::vector<std::uint32_t>> takers(workload_.w_.columns);
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
    const sparse::BlockMatrix& w = workload_.w_;
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
    const sparse::BlockMatrix& w = workload_.w_;
    const Type type = workload_.dtype();
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
            data::store_element(type, bytes, e, static_cast<double>(w.value[first_entry + e]));
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
