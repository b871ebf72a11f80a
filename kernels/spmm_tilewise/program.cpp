#include <algorithm>

#include "kernels/spmm_tilewise/spmm_tilewise.h"
#include "kernels/spmm_tilewise/steps.h"
#include "sim/data/element.h"

namespace tessera::spmm_tilewise {

/// Builds the program: per superstep an exchange of A's rows and of weights and a product; at the
/// end C goes to where it is wanted.
class Builder {
 public:
  explicit Builder(const SpmmTilewise& workload)
      : of_(workload),
        problem_(workload.problem_),
        plan_(workload.plan_),
        program_(workload.machine_.tiles),
        assembly_(code_, program_, workload.machine_.tile.contexts),
        work_{
            problem_,           plan_, workload.pattern_, workload.a_storage_, workload.w_storage_,
            workload.c_storage_} {}

  program::Program build() {
    add_buffers();
    add_tensors(program_, of_, work_.buffers.c);
    if (plan_.jobs.empty()) return std::move(program_);
    for (std::uint32_t cut = 0; cut < plan_.cuts; ++cut) {
      assembly_.add_step(inputs(work_, cut));
      program::ComputeSet set{"product", {}};
      add_products(set, cut);
      if (cut + 1 == plan_.cuts) {
        if (converts()) add_packing(set);
        add_overlay(set);
      }
      assembly_.add_step(std::move(set));
    }
    assembly_.add_step(scattered(work_));
    return std::move(program_);
  }

 private:
  /// Whether results are packed from wider partial sums.
  [[nodiscard]] bool converts() const { return problem_.block.input != problem_.block.partial; }
  [[nodiscard]] const Group& group_of(const Job& job) const { return plan_.groups[job.group]; }
  [[nodiscard]] std::uint64_t vectors(const Job& job) const {
    return group_of(job).positions() * job.panels.size();
  }

  /// A superstep's rows of A^T times its weights: partial sums.
  void add_products(program::ComputeSet& set, std::uint32_t cut) {
    gemm::Vertices dense = assembly_.dense();
    for (std::size_t i = 0; i < plan_.jobs.size(); ++i) {
      const Job& job = plan_.jobs[i];
      const std::uint64_t depth = depth_blocks(group_of(job), problem_, plan_.cuts, cut).size();
      if (depth == 0) continue;
      set.vertices.push_back(
          dense.product(TileId(job.machine), problem_.block,
                        {group_of(job).positions(), job.panels.size(), depth, cut > 0},
                        work_.buffers.a[i], work_.buffers.x[i], work_.buffers.y[i]));
    }
  }

  void add_packing(program::ComputeSet& set) {
    gemm::Vertices dense = assembly_.dense();
    for (std::size_t i = 0; i < plan_.jobs.size(); ++i) {
      const Job& job = plan_.jobs[i];
      if (group_of(job).rows.empty()) continue;
      set.vertices.push_back(dense.packing(TileId(job.machine),
                                           vectors(job) * problem_.block.y_bytes(),
                                           {work_.buffers.y[i]}, {work_.buffers.result[i]}));
    }
  }

  /// Single elements of W times their rows of A^T, added to what the product has left, or alone.
  void add_overlay(program::ComputeSet& set) {
    for (std::size_t i = 0; i < plan_.jobs.size(); ++i) {
      const Job& job = plan_.jobs[i];
      const Group& group = group_of(job);
      if (group.overlay.empty()) continue;
      const OverlayBuffers buffers{
          assembly_.list(job.machine, overlay_list(problem_, group.overlay), "overlay list"),
          add_overlay_values(job), work_.buffers.overlay[i], work_.buffers.result[i]};
      set.vertices.push_back(overlay_product(assembly_, problem_, TileId(job.machine),
                                             group.overlay, plan_.overlay_work, job.panels.size(),
                                             !group.rows.empty(), buffers));
    }
  }

  BufferId add_overlay_values(const Job& job) {
    const Group& group = group_of(job);
    auto fill = [&pattern = of_.pattern_, &w = of_.w_, &group,
                 type = problem_.block.input](std::span<std::byte> into) {
      const std::vector<std::uint32_t>& columns = pattern.tiles[group.tile].columns;
      const OverlayPart& part = group.overlay;
      for (std::size_t c = 0; c + 1 < part.begin.size(); ++c) {
        for (std::uint32_t e = part.begin[c]; e < part.begin[c + 1]; ++e) {
          const float value = w.at(part.rows[part.row[e]], columns[group.columns.begin + c]);
          data::store_element(type, into, e, static_cast<double>(value));
        }
      }
    };
    const std::size_t bytes = group.overlay.row.size() * problem_.block.input_bytes;
    return assembly_.buffer(job.machine, bytes, "overlay values", std::move(fill));
  }

  /// What a tile holds of C: zeros until the product comes, since pruned columns stay zero.
  void add_results() {
    for (std::uint32_t t = 0; t < of_.machine_.tiles; ++t) {
      work_.buffers.c.push_back(assembly_.buffer(
          t, of_.c_storage_.bytes_on(t), "c",
          [](std::span<std::byte> into) { std::fill(into.begin(), into.end(), std::byte{0}); },
          true));
    }
  }

  void add_buffers() {
    add_results();
    const gemm::BlockShape& block = problem_.block;
    const std::uint64_t vector = problem_.vector_bytes();
    Work::Buffers& buffers = work_.buffers;
    for (const Job& job : plan_.jobs) {
      const auto add = [&](std::uint64_t bytes, std::string_view name) {
        return assembly_.buffer(job.machine, bytes, name);
      };
      const Group& group = group_of(job);
      const std::uint64_t rows = rows_in(group, problem_, plan_.cuts, 0).size();  // at most
      const std::uint64_t panels = job.panels.size();
      buffers.x.push_back(add(rows * group.positions() * block.input_bytes, "weights"));
      buffers.a.push_back(add(rows * panels * vector, "a gathered"));
      buffers.y.push_back(add(vectors(job) * block.y_bytes(), "y"));
      buffers.result.push_back(converts() ? add(vectors(job) * vector, "result")
                                          : buffers.y.back());
      buffers.overlay.push_back(
          add(group.overlay.rows.size() * panels * vector, "a of the overlay"));
    }
    buffers.a_stored = assembly_.stored(
        of_.a_storage_, "a", [this_ = &of_](std::uint64_t first, std::span<std::byte> into) {
          fill_a(*this_, first, into);
        });
    buffers.w_stored =
        assembly_.stored(of_.w_storage_.storage(), "w",
                         [this_ = &of_](std::uint64_t first, std::span<std::byte> into) {
                           this_->w_storage_.fill(first, into);
                         });
  }

  static void fill_a(const SpmmTilewise& work, std::uint64_t byte, std::span<std::byte> into) {
    const Problem& problem = work.problem_;
    const std::uint64_t rows = problem.panel_rows();
    const std::uint64_t first = byte / problem.block.input_bytes;
    for (std::uint64_t i = 0; i < into.size() / problem.block.input_bytes; ++i) {
      const std::uint64_t vector = (first + i) / rows;
      const std::uint64_t row = vector / problem.padded_k() * rows + (first + i) % rows;
      data::store_element(problem.block.input, into, i,
                          work.a_.element(row, vector % problem.padded_k()));
    }
  }

  const SpmmTilewise& of_;
  const Problem& problem_;
  const Plan& plan_;
  sparse::TileCode code_;
  program::Program program_;
  sparse::Assembly assembly_;
  Work work_;
};

program::Program SpmmTilewise::build() const { return Builder(*this).build(); }

}  // namespace tessera::spmm_tilewise
