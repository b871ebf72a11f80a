#include <algorithm>

#include "kernels/gemm/vertices.h"
#include "kernels/sparse/tensors.h"
#include "kernels/spmm_tilewise/plan.h"
#include "kernels/stored.h"
#include "sim/data/element.h"

namespace tessera::spmm_tilewise {

using kernels::Stored;
using plan::Description;
using plan::Tile;

namespace {

constexpr std::uint32_t kGrain = 64;  // granularity of W in bytes: less is not worth a descriptor

/// The arrays of each tile's i-th job.
struct Slot {
  BufferId weights{}, a{}, y{}, result{}, overlay_a{}, list{}, values{};
};

/// State that the functions of steps keep.
struct Product {
  Product(const Problem& of, std::shared_ptr<const Plan> by, const MachineConfig& machine,
          const TileCode& code, Description& description)
      : problem(of),
        plan(std::move(by)),
        dense(code.gemm, description, machine.tile.contexts),
        overlay(code.sparse, description, of.block, machine.tile.contexts) {
    for (const Group& group : plan->groups)
      w_begin.push_back(w_begin.back() +
                        group.rows.size() * group.positions() * of.block.input_bytes);
  }

  [[nodiscard]] bool is_last(std::uint32_t cut) const { return cut + 1 == plan->cuts; }
  [[nodiscard]] const Group& group(const Job& job) const { return plan->groups[job.group]; }
  /// The range of a group's rows that superstep `cut` loads, in whole blocks of depth.
  [[nodiscard]] Interval loaded(const Group& group, std::uint32_t cut) const {
    const std::uint32_t depth = problem.block.depth;
    const Interval blocks = EvenSplit{group.rows.size() / depth, plan->cuts}.part(cut);
    return {blocks.begin * depth, blocks.end * depth};
  }
  [[nodiscard]] std::span<const std::uint32_t> rows(const Group& group, std::uint32_t cut) const {
    const Interval of = loaded(group, cut);
    return std::span(group.rows).subspan(of.begin, of.size());
  }
  /// Bytes of one row of A^T, or one column of C, in a job's panels.
  [[nodiscard]] std::uint64_t vector_bytes(const Job& job) const {
    return job.panels.size() * problem.vector_bytes();
  }
  /// Calls visit(job, its group, its arrays) for the jobs of a tile.
  template <class Visit>
  void for_jobs(Tile tile, const Visit& visit) const {
    const Slot* slot = slots.data();
    for (const Job& job : plan->jobs_on(tile)) visit(job, group(job), *slot++);
  }

  const Problem& problem;
  std::shared_ptr<const Plan> plan;
  gemm::Functions dense;
  OverlayCode overlay;
  std::vector<std::uint64_t> w_begin{0};  ///< bytes of W before each group; last: all
  Stored a, w, c;
  std::vector<Slot> slots;
};
using Shared = std::shared_ptr<Product>;

/// Writes weights from byte `first` on, ordered by group, block of depth, column.
void fill_weights(const Product& p, std::uint64_t first, std::span<std::byte> into) {
  const gemm::BlockShape& block = p.problem.block;
  const std::uint64_t elements = into.size() / block.input_bytes;
  auto next = std::upper_bound(p.w_begin.begin(), p.w_begin.end(), first);
  for (std::uint64_t i = 0; i < elements; ++i) {
    const std::uint64_t at = first + i * block.input_bytes;
    while (*next <= at) ++next;
    const Group& group = p.plan->groups[static_cast<std::size_t>(next - p.w_begin.begin()) - 1];
    const std::uint64_t element = (at - *(next - 1)) / block.input_bytes;
    const std::uint64_t position = element / block.depth;
    const std::uint64_t column = group.columns.begin + position % group.positions();
    const std::uint32_t row =
        group.rows[position / group.positions() * block.depth + element % block.depth];
    const float value =
        row < p.problem.w.rows
            ? p.problem.w.at(row, p.problem.pattern.tiles[group.tile].columns[column])
            : 0;
    data::store_element(block.input, into, i, static_cast<double>(value));
  }
}

/// Writes the single elements of a group.
void fill_values(const Product& p, const Group& group, std::span<std::byte> into) {
  const OverlayPart& part = group.overlay;
  const std::uint32_t* column = &p.problem.pattern.tiles[group.tile].columns[group.columns.begin];
  for (std::size_t c = 0; c < part.columns(); ++c)
    for (std::uint32_t e = part.begin[c]; e < part.begin[c + 1]; ++e)
      data::store_element(p.problem.block.input, into, e,
                          static_cast<double>(p.problem.w.at(part.rows[part.row[e]], column[c])));
}

struct Loaded {
  std::uint32_t cut;
  /// True for rows of A^T at which the set of receivers changes: stretches between them are
  /// multicast.
  std::vector<bool> begins;
  std::uint64_t rows = 0;  ///< rows that any tile receives
};
Loaded loaded_in(const Product& p, std::uint32_t cut) {
  Loaded loaded{cut, std::vector<bool>(p.problem.padded_k() + 1)};
  std::vector<bool> taken(p.problem.padded_k());
  const auto add = [&](std::span<const std::uint32_t> rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      taken[rows[i]] = true;
      if (i == 0 || rows[i - 1] + 1 != rows[i]) loaded.begins[rows[i]] = true;
      if (i + 1 == rows.size() || rows[i] + 1 != rows[i + 1]) loaded.begins[rows[i] + 1] = true;
    }
  };
  for (const Group& group : p.plan->groups) {
    add(p.rows(group, cut));
    if (p.is_last(cut)) add(group.overlay.rows);
  }
  loaded.rows = static_cast<std::uint64_t>(std::count(taken.begin(), taken.end(), true));
  return loaded;
}

/// Pulls rows of A^T for each panel of a job.
void pull_rows(const Product& p, const Job& job, std::span<const std::uint32_t> rows,
               const std::vector<bool>& begins, BufferId into, Pulls& pulls) {
  const std::uint64_t vector = p.problem.vector_bytes();
  for (std::size_t i = 0, end = 0; i < rows.size(); i = end) {
    for (end = i + 1; end < rows.size() && !begins[rows[end]];) ++end;
    for (std::uint64_t panel = job.panels.begin; panel < job.panels.end; ++panel) {
      const std::uint64_t from = (panel * p.problem.padded_k() + rows[i]) * vector;
      const std::uint64_t at = ((panel - job.panels.begin) * rows.size() + i) * vector;
      p.a.pull({from, from + (end - i) * vector}, {into, word(at)}, pulls);
    }
  }
}

void pull_inputs(const Product& p, const Loaded& loaded, Tile tile, Pulls& pulls) {
  p.for_jobs(tile, [&](const Job& job, const Group& group, const Slot& slot) {
    pull_rows(p, job, p.rows(group, loaded.cut), loaded.begins, slot.a, pulls);
    if (p.is_last(loaded.cut))
      pull_rows(p, job, group.overlay.rows, loaded.begins, slot.overlay_a, pulls);
    const std::uint64_t row = group.positions() * p.problem.block.input_bytes;
    const std::uint64_t first = p.w_begin[job.group];
    const Interval rows = p.loaded(group, loaded.cut);
    p.w.pull({first + rows.begin * row, first + rows.end * row}, {slot.weights}, pulls);
  });
}

/// Columns of C that are consecutive in a group.
struct ColumnRun {
  std::uint32_t group;
  std::uint64_t position, column, columns;
};
std::vector<ColumnRun> column_runs(const Product& p) {
  std::vector<ColumnRun> runs;
  for (std::uint32_t g = 0; g < p.plan->groups.size(); ++g) {
    const Group& group = p.plan->groups[g];
    const std::uint32_t* column = &p.problem.pattern.tiles[group.tile].columns[group.columns.begin];
    for (std::uint64_t i = 0; i < group.positions(); ++i) {
      if (i == 0 || column[i] != column[i - 1] + 1) runs.push_back({g, i, column[i], 0});
      ++runs.back().columns;
    }
  }
  return runs;
}

/// Pulls a tile's stored part of C from the jobs that computed it.
void pull_results(const Product& p, const std::vector<ColumnRun>& runs, Tile tile, Pulls& pulls) {
  const std::uint64_t vector = p.problem.vector_bytes();
  const std::uint64_t n = p.problem.w.columns;
  const Interval own{p.c.storage.begin(tile) / vector, p.c.storage.begin(tile + 1) / vector};
  for (std::uint64_t panel = own.begin / n; panel * n < own.end; ++panel) {
    for (const ColumnRun& run : runs) {
      const std::uint64_t first = panel * n + run.column;
      const Interval both = kernels::common(own, {first, first + run.columns});
      if (both.size() == 0) continue;
      const Group& group = p.plan->groups[run.group];
      const EvenSplit panels{p.problem.panels(), group.jobs};
      const Job& job = p.plan->jobs[group.first_job + panels.holder(panel)];
      const auto slot = &job - p.plan->jobs_on(job.machine).data();
      const std::uint64_t at =
          (panel - job.panels.begin) * group.positions() + run.position + both.begin - first;
      pulls.push_back({{p.c.array, word((both.begin - own.begin) * vector)},
                       job.machine,
                       {p.slots[static_cast<std::size_t>(slot)].result, word(at * vector)},
                       word(both.size() * vector)});
    }
  }
}

class Statement {
 public:
  Statement(const Problem& problem, std::shared_ptr<const Plan> plan, const MachineConfig& machine,
            const TileCode& code, Description& description)
      : tiles_(machine.tiles),
        description_(description),
        product_(std::make_shared<Product>(problem, std::move(plan), machine, code, description)) {}

  void add_arrays(const data::DenseOperand* a) {
    Product& p = *product_;
    // Pruned columns stay zero.
    p.c = Stored(
        description_, "c", panel_storage(p.problem, p.problem.w.columns, tiles_),
        [](std::uint64_t, std::span<std::byte> into) {
          std::fill(into.begin(), into.end(), std::byte{});
        },
        true);
    std::size_t most = 0;
    for (const Job& job : p.plan->jobs) most = std::max(most, p.plan->jobs_on(job.machine).size());
    while (p.slots.size() < most) add_slot();
    p.a = Stored(description_, "a", panel_storage(p.problem, p.problem.padded_k(), tiles_),
                 [p = product_, a](std::uint64_t first, std::span<std::byte> into) {
                   if (a == nullptr) return;
                   const gemm::BlockShape& block = p->problem.block;
                   const auto part = sparse::chunks_on(p->a.storage, 0, block.input_bytes,
                                                       block.columns, p->problem.padded_k());
                   sparse::fill_chunks(block.input, *a, part, first / block.input_bytes, into);
                 });
    p.w = Stored(description_, "w", EvenStorage(p.w_begin.back(), kGrain, tiles_),
                 [p = product_](std::uint64_t first, std::span<std::byte> into) {
                   fill_weights(*p, first, into);
                 });
    if (a != nullptr) add_tensors(*a);
  }

  void add_steps() {
    const Product& p = *product_;
    if (p.plan->jobs.empty()) return;
    for (std::uint32_t cut = 0; cut < p.plan->cuts; ++cut) {
      const auto loaded = std::make_shared<const Loaded>(loaded_in(p, cut));
      description_.exchange(
          "inputs", tiles_,
          [p = product_, loaded](Tile tile, Pulls& pulls) {
            pull_inputs(*p, *loaded, tile, pulls);
          },
          [p = product_, loaded](Tile tile) -> std::uint64_t {
            return p->a.bytes_on(tile) * loaded->rows / p->problem.padded_k() +
                   p->w.bytes_on(tile) / p->plan->cuts;
          });
      add_product(cut);
    }
    description_.exchange(
        "scatter c", tiles_,
        [p = product_, runs = column_runs(p)](Tile tile, Pulls& pulls) {
          pull_results(*p, runs, tile, pulls);
        },
        [p = product_](Tile tile) {
          std::uint64_t bytes = 0;
          p->for_jobs(tile, [&](const Job& job, const Group& group, const Slot&) {
            bytes += group.positions() * p->vector_bytes(job);
          });
          return bytes;
        });
  }

 private:
  using Bytes = std::function<std::uint64_t(const Product&, const Job&, const Group&)>;
  using Contents = std::function<void(const Product&, const Group&, std::span<std::byte>)>;

  /// An array for the jobs of the current slot.
  BufferId array(std::string_view name, const Bytes& bytes, const Contents& contents = {}) {
    const auto job_on = [p = product_, slot = product_->slots.size()](Tile tile) -> const Job* {
      const std::span<const Job> jobs = p->plan->jobs_on(tile);
      return slot < jobs.size() ? &jobs[slot] : nullptr;
    };
    plan::Array array{name, [p = product_, job_on, bytes](Tile tile) -> std::uint64_t {
                        const Job* job = job_on(tile);
                        return job == nullptr ? 0 : bytes(*p, *job, p->group(*job));
                      }};
    if (contents)
      array.contents = [p = product_, job_on, contents](Tile tile, std::span<std::byte> into) {
        contents(*p, p->group(*job_on(tile)), into);
      };
    return description_.array(std::move(array));
  }

  void add_slot() {
    using P = const Product&;
    using J = const Job&;
    using G = const Group&;
    Slot slot;
    slot.weights = array("weights", [](P p, J, G g) {
      return p.loaded(g, 0).size() * g.positions() * p.problem.block.input_bytes;
    });
    slot.a = array("a gathered",
                   [](P p, J job, G g) { return p.loaded(g, 0).size() * p.vector_bytes(job); });
    slot.result = array(converts() ? "result" : "y",
                        [](P p, J job, G g) { return g.positions() * p.vector_bytes(job); });
    slot.y = slot.result;
    if (converts())
      slot.y = array("y", [](P p, J job, G g) {
        return g.rows.empty() ? 0 : g.positions() * job.panels.size() * p.problem.block.y_bytes();
      });
    slot.overlay_a = array("a of the overlay", [](P p, J job, G g) {
      return g.overlay.rows.size() * p.vector_bytes(job);
    });
    slot.list = array(
        "overlay list",
        [](P, J, G g) { return g.overlay.empty() ? 0 : OverlayCode::list_bytes(g.overlay); },
        [](P p, G g, std::span<std::byte> into) { p.overlay.write_list(g.overlay, into); });
    slot.values = array(
        "overlay values",
        [](P p, J, G g) { return g.overlay.row.size() * p.problem.block.input_bytes; },
        fill_values);
    product_->slots.push_back(slot);
  }

  /// True if results are packed from wider partial sums.
  [[nodiscard]] bool converts() const {
    return product_->problem.block.input != product_->problem.block.partial;
  }

  /// Adds the products: whole rows, then single elements, which accumulate into their result if
  /// there is one.
  void add_product(std::uint32_t cut) {
    Product& of = *product_;
    const plan::Function& dense = of.dense.product(of.problem.block, cut > 0);
    const plan::Function* packing = converts() ? &of.dense.packing() : nullptr;
    description_.compute(
        "product", tiles_, [p = product_, cut, &dense, packing](Tile tile, Calls& calls) {
          const gemm::BlockShape& block = p->problem.block;
          p->for_jobs(tile, [&](const Job& job, const Group& group, const Slot& slot) {
            const std::uint64_t panels = job.panels.size();
            const std::uint64_t depth = p->loaded(group, cut).size() / block.depth;
            if (depth > 0)
              calls.add(dense, {group.positions(), panels, depth},
                        {{slot.a}, {slot.weights}, {slot.y}});
            if (!p->is_last(cut)) return;
            if (packing != nullptr && !group.rows.empty())
              calls.add(*packing, {group.positions() * panels * block.y_bytes() / gemm::kPair},
                        {{slot.y}, {slot.result}});
            if (!group.overlay.empty())
              p->overlay.add({group.overlay, p->plan->overlay_work, panels, !group.rows.empty()},
                             {{slot.list}, {slot.values}, {slot.overlay_a}, {slot.result}}, calls);
          });
        });
  }

  void add_tensors(const data::DenseOperand& a) {
    const Problem& of = product_->problem;
    const DenseWeights& w = of.w;
    const program::Type type = of.block.input;
    const auto chunks = [p = product_](std::size_t tile) {
      const gemm::BlockShape& block = p->problem.block;
      return sparse::chunks_on(p->c.storage, tile, block.input_bytes, block.columns,
                               p->problem.w.columns);
    };
    description_.tensor({{"C", program::Role::result, type, {of.m, w.columns}},
                         product_->c.array,
                         sparse::runs_of(of.m, w.columns, chunks)});
    description_.tensor(data::tensor_of("A", a, type));
    program::Tensor weights{"W", program::Role::weights, type, {w.rows, w.columns}};
    weights.given = data::elements_by(type, [&w](std::uint64_t i) { return w.value[i]; });
    description_.tensor(std::move(weights));
  }

  Tile tiles_;
  Description& description_;
  Shared product_;
};

}  // namespace

EvenStorage panel_storage(const Problem& problem, std::uint32_t columns, std::uint32_t tiles) {
  const std::uint64_t vector = problem.vector_bytes();
  return {vector * problem.panels() * columns, vector, tiles};
}

Description describe_program(const Problem& problem, std::shared_ptr<const Plan> plan,
                             const MachineConfig& machine, const TileCode& code,
                             const data::DenseOperand* a) {
  Description description(machine.tiles);
  Statement statement(problem, std::move(plan), machine, code, description);
  statement.add_arrays(a);
  statement.add_steps();
  return description;
}

}  // namespace tessera::spmm_tilewise
