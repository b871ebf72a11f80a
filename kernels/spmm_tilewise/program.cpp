#include <algorithm>

#include "kernels/spmm_tilewise/spmm_tilewise.h"
#include "kernels/spmm_tilewise/steps.h"
#include "sim/data/element.h"

namespace tessera::spmm_tilewise {

using program::BufferId;

/// Builds the program: per superstep an exchange of A's rows and of weights and a product on gemm's
/// codelets; at the end C goes to where it is wanted.
class Builder {
 public:
  explicit Builder(const SpmmTilewise& workload)
      : work_(workload),
        problem_(workload.problem_),
        plan_(workload.plan_),
        assembly_{problem_,
                  plan_,
                  workload.pattern_,
                  workload.w_,
                  workload.machine_.tile.contexts,
                  program::Program(workload.machine_.tiles),
                  {}} {}

  program::Program build() {
    add_buffers();
    const Exchanges exchanges(problem_, plan_, work_.pattern_, work_.a_storage_, work_.w_storage_,
                              work_.c_storage_, assembly_.buffers);
    auto& steps = assembly_.program.main().steps;
    if (plan_.jobs.empty()) return std::move(assembly_.program);
    for (std::uint32_t cut = 0; cut < plan_.cuts; ++cut) {
      steps.push_back({exchanges.inputs(cut)});
      program::ComputeSet set = multiplied(assembly_, cut);
      if (cut + 1 == plan_.cuts) {
        add_packing(assembly_, set);
        add_overlay(assembly_, set);
      }
      steps.push_back({std::move(set)});
    }
    steps.push_back({exchanges.scatter()});
    return std::move(assembly_.program);
  }

 private:
  /// Rows of W that a job's buffers are sized for.
  [[nodiscard]] std::uint64_t most_rows(const Job& job) const {
    return depth_blocks(assembly_.group_of(job), problem_, plan_.cuts, 0).size() *
           problem_.block.depth;
  }

  BufferId add_buffer(std::uint32_t tile, std::uint64_t bytes, std::string_view name) {
    return assembly_.program.add_buffer(
        {TileId(tile), word(bytes), 8, false, program::Category::tensors, {}, name});
  }

  void add_buffers() {
    const std::uint32_t tiles = work_.machine_.tiles;
    for (std::uint32_t t = 0; t < tiles; ++t) add_result(t);  // first: result_buffer counts on it
    for (const Job& job : plan_.jobs) {
      const std::uint64_t columns = assembly_.group_of(job).positions();
      const std::uint64_t vectors = columns * job.panels.size();
      assembly_.buffers.x.push_back(add_buffer(
          job.machine, most_rows(job) * columns * problem_.block.input_bytes, "weights"));
      assembly_.buffers.a.push_back(add_buffer(
          job.machine, most_rows(job) * job.panels.size() * problem_.vector_bytes(), "a gathered"));
      assembly_.buffers.y.push_back(
          add_buffer(job.machine, vectors * problem_.block.y_bytes(), "y"));
      assembly_.buffers.result.push_back(
          assembly_.converts()
              ? add_buffer(job.machine, vectors * problem_.vector_bytes(), "result")
              : assembly_.buffers.y.back());
      assembly_.buffers.overlay.push_back(add_buffer(
          job.machine,
          assembly_.group_of(job).overlay.rows.size() * job.panels.size() * problem_.vector_bytes(),
          "a of the overlay"));
    }
    for (std::uint32_t t = 0; t < tiles; ++t) {
      assembly_.buffers.a_stored.push_back(
          assembly_.add_stored(t, work_.a_storage_.bytes_on(t), "a",
                               [this_ = &work_, t](auto into) { fill_a(*this_, t, into); }));
      assembly_.buffers.w_stored.push_back(assembly_.add_stored(
          t, work_.w_storage_.bytes_on(t), "w",
          [this_ = &work_, t](auto into) { this_->w_storage_.fill(t, into); }));
    }
  }

  /// What a tile holds of C: zeros until the product comes, since pruned columns stay zero.
  void add_result(std::uint32_t tile) {
    assembly_.program.add_buffer(
        {TileId(tile), work_.c_storage_.bytes_on(tile), 8, true, program::Category::tensors,
         [](std::span<std::byte> into) { std::fill(into.begin(), into.end(), std::byte{0}); },
         "c"});
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

  const SpmmTilewise& work_;
  const Problem& problem_;
  const Plan& plan_;
  Assembly assembly_;
};

program::Program SpmmTilewise::build() const { return Builder(*this).build(); }

}  // namespace tessera::spmm_tilewise
