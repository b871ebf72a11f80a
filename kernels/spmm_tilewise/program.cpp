#include <algorithm>

#include "kernels/spmm_tilewise/spmm_tilewise.h"
#include "sim/data/element.h"
#include "sim/elf/codelet.h"

namespace tessera::spmm_tilewise {

using program::Argument;
using program::BufferId;
using program::Place;
using program::Type;

namespace {

constexpr std::uint64_t kPair = 16;  // bytes that the packing loop takes at once

std::string product_codelet(const gemm::BlockShape& block) {
  if (block.input == Type::f32) return "gemm_f32";
  return block.partial == Type::f32 ? "gemm_f16_f32" : "gemm_f16";
}

std::uint32_t word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

}  // namespace

/// Builds the program: per superstep an exchange of A's rows and of weights and a product on gemm's
/// codelets; at the end C goes to where it is wanted.
class Builder {
 public:
  explicit Builder(const SpmmTilewise& workload)
      : work_(workload),
        problem_(workload.problem_),
        plan_(workload.plan_),
        tiles_(workload.machine_.tiles),
        program_(tiles_) {}

  program::Program build() {
    add_buffers();
    auto& steps = program_.main().steps;
    if (plan_.jobs.empty()) return std::move(program_);
    for (std::uint32_t cut = 0; cut < plan_.cuts; ++cut) {
      program::Exchange inputs{"inputs", {}};
      add_gathers(inputs, cut);
      add_weights(inputs, cut);
      steps.push_back({std::move(inputs)});
      program::ComputeSet set = product(cut);
      if (cut + 1 == plan_.cuts) add_packing(set);
      steps.push_back({std::move(set)});
    }
    steps.push_back({scatter()});
    return std::move(program_);
  }

 private:
  [[nodiscard]] bool converts() const { return problem_.block.input != problem_.block.partial; }
  [[nodiscard]] const Group& group_of(const Job& job) const { return plan_.groups[job.group]; }
  /// Rows of W that a job's buffers are sized for.
  [[nodiscard]] std::uint64_t most_rows(const Job& job) const {
    return depth_blocks(group_of(job), problem_, plan_.cuts, 0).size() * problem_.block.depth;
  }

  BufferId add_buffer(std::uint32_t tile, std::uint64_t bytes, std::string_view name) {
    return program_.add_buffer(
        {TileId(tile), word(bytes), 8, false, program::Category::tensors, {}, name});
  }

  void add_buffers() {
    for (std::uint32_t t = 0; t < tiles_; ++t) add_result(t);  // first: result_buffer counts on it
    for (const Job& job : plan_.jobs) {
      const std::uint64_t columns = group_of(job).positions();
      const std::uint64_t vectors = columns * job.panels.size();
      x_.push_back(add_buffer(job.machine, most_rows(job) * columns * problem_.block.input_bytes,
                              "weights"));
      a_.push_back(add_buffer(
          job.machine, most_rows(job) * job.panels.size() * problem_.vector_bytes(), "a gathered"));
      y_.push_back(add_buffer(job.machine, vectors * problem_.block.y_bytes(), "y"));
      result_.push_back(converts()
                            ? add_buffer(job.machine, vectors * problem_.vector_bytes(), "result")
                            : y_.back());
    }
    for (std::uint32_t t = 0; t < tiles_; ++t) {
      a_stored_.push_back(add_stored(t, work_.a_storage_.bytes_on(t), "a",
                                     [this_ = &work_, t](auto into) { fill_a(*this_, t, into); }));
      w_stored_.push_back(
          add_stored(t, work_.w_storage_.bytes_on(t), "w",
                     [this_ = &work_, t](auto into) { this_->w_storage_.fill(t, into); }));
    }
  }

  /// What a tile holds of C: zeros until the product comes, since pruned columns stay zero.
  void add_result(std::uint32_t tile) {
    program_.add_buffer(
        {TileId(tile), work_.c_storage_.bytes_on(tile), 8, true, program::Category::tensors,
         [](std::span<std::byte> into) { std::fill(into.begin(), into.end(), std::byte{0}); },
         "c"});
  }

  BufferId add_stored(std::uint32_t tile, std::uint32_t bytes, std::string_view name,
                      std::function<void(std::span<std::byte>)> fill) {
    if (bytes == 0) return {};
    return program_.add_buffer(
        {TileId(tile), bytes, 8, false, program::Category::tensors, std::move(fill), name});
  }

  static void fill_a(const SpmmTilewise& work, std::uint32_t tile, std::span<std::byte> into) {
    const Problem& problem = work.problem_;
    const std::uint64_t rows = problem.panel_rows();
    const std::uint64_t first = work.a_storage_.begin(tile) / problem.block.input_bytes;
    for (std::uint64_t i = 0; i < into.size() / problem.block.input_bytes; ++i) {
      const std::uint64_t vector = (first + i) / rows;
      const std::uint64_t row = vector / problem.padded_k() * rows + (first + i) % rows;
      data::store_element(problem.block.input, into, i,
                          work.a_.element(row, vector % problem.padded_k()));
    }
  }

  /// Where one row of A^T goes within the buffers of one superstep's groups.
  struct Taker {
    std::uint32_t group;
    std::uint64_t row;  ///< of the superstep's
    bool operator==(const Taker&) const = default;
  };

  /// By row of A^T the groups that take it in this superstep.
  [[nodiscard]] std::vector<std::vector<Taker>> takers(std::uint32_t cut) const {
    std::vector<std::vector<Taker>> all(problem_.padded_k());
    for (std::uint32_t g = 0; g < plan_.groups.size(); ++g) {
      const Group& group = plan_.groups[g];
      const gemm::Interval depth = depth_blocks(group, problem_, plan_.cuts, cut);
      const std::uint64_t first = depth.begin * problem_.block.depth;
      for (std::uint64_t i = first; i < depth.end * problem_.block.depth; ++i) {
        all[group.rows[i]].push_back({g, i - first});
      }
    }
    return all;
  }

  /// Rows of A^T that go to the same groups, one after the other there too.
  static bool continues(const std::vector<Taker>& before, const std::vector<Taker>& after) {
    return before.size() == after.size() && std::equal(before.begin(), before.end(), after.begin(),
                                                       [](const Taker& a, const Taker& b) {
                                                         return a.group == b.group &&
                                                                a.row + 1 == b.row;
                                                       });
  }

  void add_gathers(program::Exchange& exchange, std::uint32_t cut) const {
    const std::vector<std::vector<Taker>> all = takers(cut);
    std::vector<std::size_t> jobs(plan_.groups.size());  // the job of each group that has the panel
    for (std::uint64_t panel = 0; panel < problem_.panels(); ++panel) {
      for (std::size_t i = 0; i < plan_.jobs.size(); ++i) {
        const gemm::Interval& mine = plan_.jobs[i].panels;
        if (mine.begin <= panel && panel < mine.end) jobs[plan_.jobs[i].group] = i;
      }
      for (std::uint32_t row = 0; row < problem_.padded_k();) {
        std::uint32_t end = row + 1;
        while (end < problem_.padded_k() && continues(all[end - 1], all[end])) ++end;
        if (!all[row].empty()) add_gather(exchange, panel, row, end, all[row], jobs, cut);
        row = end;
      }
    }
  }

  void add_gather(program::Exchange& exchange, std::uint64_t panel, std::uint32_t row,
                  std::uint32_t end, const std::vector<Taker>& takers,
                  const std::vector<std::size_t>& jobs, std::uint32_t cut) const {
    const std::uint64_t vector = problem_.vector_bytes();
    const std::uint64_t begin = (panel * problem_.padded_k() + row) * vector;
    for (const Piece& piece : work_.a_storage_.pieces(begin, begin + (end - row) * vector)) {
      program::Copy copy{{a_stored_[piece.tile], piece.offset}, piece.bytes, {}};
      for (const Taker& taker : takers) {
        const Job& job = plan_.jobs[jobs[taker.group]];
        const std::uint64_t rows = rows_in(job, cut);
        const std::uint64_t at = ((panel - job.panels.begin) * rows + taker.row) * vector;
        copy.destinations.push_back({a_[jobs[taker.group]], word(at + piece.at)});
      }
      exchange.copies.push_back(std::move(copy));
    }
  }

  [[nodiscard]] std::uint64_t rows_in(const Job& job, std::uint32_t cut) const {
    return depth_blocks(group_of(job), problem_, plan_.cuts, cut).size() * problem_.block.depth;
  }

  /// Each group's weights go to all of its jobs.
  void add_weights(program::Exchange& exchange, std::uint32_t cut) const {
    std::vector<std::vector<BufferId>> takers(plan_.groups.size());
    for (std::size_t i = 0; i < plan_.jobs.size(); ++i) {
      takers[plan_.jobs[i].group].push_back(x_[i]);
    }
    for (std::uint32_t g = 0; g < plan_.groups.size(); ++g) {
      for (const Piece& piece : work_.w_storage_.pieces(g, cut)) {
        program::Copy copy{{w_stored_[piece.tile], piece.offset}, piece.bytes, {}};
        for (const BufferId taker : takers[g]) copy.destinations.push_back({taker, piece.at});
        exchange.copies.push_back(std::move(copy));
      }
    }
  }

  program::ComputeSet product(std::uint32_t cut) {
    const std::uint32_t codelet =
        program_.add_codelet(elf::embedded_codelet("gemm", product_codelet(problem_.block)));
    program::ComputeSet set{"product", {}};
    for (std::size_t i = 0; i < plan_.jobs.size(); ++i) {
      const Job& job = plan_.jobs[i];
      const std::uint64_t positions = group_of(job).positions();
      const std::uint64_t depth = depth_blocks(group_of(job), problem_, plan_.cuts, cut).size();
      if (depth == 0) continue;
      std::vector<Argument> arguments{Place{a_[i]},
                                      Place{x_[i]},
                                      word(positions * problem_.block.x_bytes()),
                                      word(depth),
                                      word(job.panels.size()),
                                      cut > 0 ? 1U : 0U,
                                      0U,
                                      0U};
      const gemm::EvenSplit split{positions, work_.machine_.tile.contexts};
      for (std::uint32_t w = 0; w < work_.machine_.tile.contexts; ++w) {
        const gemm::Interval mine = split.part(w);
        const std::uint64_t first = mine.size() == 0 ? 0 : mine.begin;
        arguments.emplace_back(word(first * problem_.block.x_bytes()));
        arguments.emplace_back(Place{y_[i], word(first * problem_.block.y_bytes())});
        arguments.emplace_back(word(mine.size()) - 3);
        arguments.emplace_back(word(positions * problem_.block.y_bytes()));
      }
      set.vertices.push_back(
          {TileId(job.machine), codelet, program::Executor::supervisor, 0, std::move(arguments)});
    }
    return set;
  }

  /// f32 partials become f16 results.
  void add_packing(program::ComputeSet& set) {
    if (!converts()) return;
    const std::uint32_t codelet = program_.add_codelet(elf::embedded_codelet("gemm", "gemm_pack"));
    for (std::size_t i = 0; i < plan_.jobs.size(); ++i) {
      const Job& job = plan_.jobs[i];
      const std::uint64_t bytes =
          group_of(job).positions() * job.panels.size() * problem_.block.y_bytes();
      std::vector<Argument> arguments{Place{y_[i]}, Place{result_[i]}, 0U, 0U, 0U, 0U, 0U, 0U};
      const gemm::EvenSplit pairs{bytes / kPair, work_.machine_.tile.contexts};
      for (std::uint32_t w = 0; w < work_.machine_.tile.contexts; ++w) {
        arguments.emplace_back(word(pairs.begin(w) * kPair));
        arguments.emplace_back(word(pairs.part(w).size()));
      }
      set.vertices.push_back(
          {TileId(job.machine), codelet, program::Executor::all_workers, 0, std::move(arguments)});
    }
  }

  /// Columns of C go from their jobs to their places; neighbours go together.
  program::Exchange scatter() const {
    program::Exchange exchange{"scatter c", {}};
    for (std::size_t i = 0; i < plan_.jobs.size(); ++i) {
      const Job& job = plan_.jobs[i];
      const Group& group = group_of(job);
      const std::vector<std::uint32_t>& columns = work_.pattern_.tiles[group.tile].columns;
      for (std::uint64_t panel = job.panels.begin; panel < job.panels.end; ++panel) {
        for (std::uint64_t c = group.columns.begin; c < group.columns.end;) {
          std::uint64_t end = c + 1;
          while (end < group.columns.end && columns[end] == columns[end - 1] + 1) ++end;
          const std::uint64_t at =
              (panel - job.panels.begin) * group.positions() + c - group.columns.begin;
          add_scatter(exchange, i, at, panel * problem_.n + columns[c], end - c);
          c = end;
        }
      }
    }
    return exchange;
  }

  void add_scatter(program::Exchange& exchange, std::size_t job, std::uint64_t from,
                   std::uint64_t to, std::uint64_t vectors) const {
    const std::uint64_t vector = problem_.vector_bytes();
    for (const Piece& piece : work_.c_storage_.pieces(to * vector, (to + vectors) * vector)) {
      exchange.copies.push_back({{result_[job], word(from * vector + piece.at)},
                                 piece.bytes,
                                 {{result_buffer(piece.tile), piece.offset}}});
    }
  }

  const SpmmTilewise& work_;
  const Problem& problem_;
  const Plan& plan_;
  std::uint32_t tiles_;
  program::Program program_;
  std::vector<BufferId> x_, a_, y_, result_;   // by job
  std::vector<BufferId> a_stored_, w_stored_;  // by tile of the machine
};

program::Program SpmmTilewise::build() const { return Builder(*this).build(); }

}  // namespace tessera::spmm_tilewise
