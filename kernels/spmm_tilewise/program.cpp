#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "kernels/spmm_tilewise/exchanges.h"
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
    const Exchanges exchanges(problem_, plan_, work_.pattern_, work_.a_storage_, work_.w_storage_,
                              work_.c_storage_, buffers_);
    auto& steps = program_.main().steps;
    if (plan_.jobs.empty()) return std::move(program_);
    for (std::uint32_t cut = 0; cut < plan_.cuts; ++cut) {
      steps.push_back({exchanges.inputs(cut)});
      program::ComputeSet set = product(cut);
      if (cut + 1 == plan_.cuts) {
        add_packing(set);
        add_overlay(set);
      }
      steps.push_back({std::move(set)});
    }
    steps.push_back({exchanges.scatter()});
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
      buffers_.x.push_back(add_buffer(
          job.machine, most_rows(job) * columns * problem_.block.input_bytes, "weights"));
      buffers_.a.push_back(add_buffer(
          job.machine, most_rows(job) * job.panels.size() * problem_.vector_bytes(), "a gathered"));
      buffers_.y.push_back(add_buffer(job.machine, vectors * problem_.block.y_bytes(), "y"));
      buffers_.result.push_back(
          converts() ? add_buffer(job.machine, vectors * problem_.vector_bytes(), "result")
                     : buffers_.y.back());
      buffers_.overlay.push_back(add_buffer(
          job.machine,
          group_of(job).overlay.rows.size() * job.panels.size() * problem_.vector_bytes(),
          "a of the overlay"));
    }
    for (std::uint32_t t = 0; t < tiles_; ++t) {
      buffers_.a_stored.push_back(
          add_stored(t, work_.a_storage_.bytes_on(t), "a",
                     [this_ = &work_, t](auto into) { fill_a(*this_, t, into); }));
      buffers_.w_stored.push_back(
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

  program::ComputeSet product(std::uint32_t cut) {
    const std::uint32_t codelet =
        program_.add_codelet(elf::embedded_codelet("gemm", product_codelet(problem_.block)));
    program::ComputeSet set{"product", {}};
    for (std::size_t i = 0; i < plan_.jobs.size(); ++i) {
      const Job& job = plan_.jobs[i];
      const std::uint64_t positions = group_of(job).positions();
      const std::uint64_t depth = depth_blocks(group_of(job), problem_, plan_.cuts, cut).size();
      if (depth == 0) continue;
      std::vector<Argument> arguments{Place{buffers_.a[i]},
                                      Place{buffers_.x[i]},
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
        arguments.emplace_back(Place{buffers_.y[i], word(first * problem_.block.y_bytes())});
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
      if (group_of(job).rows.empty()) continue;
      const std::uint64_t bytes =
          group_of(job).positions() * job.panels.size() * problem_.block.y_bytes();
      std::vector<Argument> arguments{
          Place{buffers_.y[i]}, Place{buffers_.result[i]}, 0U, 0U, 0U, 0U, 0U, 0U};
      const gemm::EvenSplit pairs{bytes / kPair, work_.machine_.tile.contexts};
      for (std::uint32_t w = 0; w < work_.machine_.tile.contexts; ++w) {
        arguments.emplace_back(word(pairs.begin(w) * kPair));
        arguments.emplace_back(word(pairs.part(w).size()));
      }
      set.vertices.push_back(
          {TileId(job.machine), codelet, program::Executor::all_workers, 0, std::move(arguments)});
    }
  }

  /// For each column its elements, then the place of each one's row in a panel, in 64-bit words.
  [[nodiscard]] std::vector<std::uint16_t> overlay_list(const OverlayPart& part) const {
    std::vector<std::uint16_t> list;
    for (std::size_t c = 0; c + 1 < part.begin.size(); ++c) {
      list.push_back(static_cast<std::uint16_t>(part.begin[c + 1] - part.begin[c]));
      for (std::uint32_t e = part.begin[c]; e < part.begin[c + 1]; ++e) {
        list.push_back(static_cast<std::uint16_t>(part.row[e] * (problem_.vector_bytes() / 8)));
      }
    }
    return list;
  }

  BufferId add_overlay_list(const Job& job) {
    const Group& group = group_of(job);
    return add_stored(job.machine, word(2 * (group.overlay.row.size() + group.positions())),
                      "overlay list", [list = overlay_list(group.overlay)](auto into) {
                        std::memcpy(into.data(), list.data(), into.size());
                      });
  }

  BufferId add_overlay_values(const Job& job) {
    const Group& group = group_of(job);
    const Type type = problem_.block.input;
    auto fill = [&work = work_, &group, type](std::span<std::byte> into) {
      const std::vector<std::uint32_t>& columns = work.pattern_.tiles[group.tile].columns;
      const OverlayPart& part = group.overlay;
      for (std::size_t c = 0; c + 1 < part.begin.size(); ++c) {
        for (std::uint32_t e = part.begin[c]; e < part.begin[c + 1]; ++e) {
          const float value = work.w_.at(part.rows[part.row[e]], columns[group.columns.begin + c]);
          data::store_element(type, into, e, static_cast<double>(value));
        }
      }
    };
    const std::size_t bytes = group.overlay.row.size() * problem_.block.input_bytes;
    return add_stored(job.machine, word(bytes), "overlay values", std::move(fill));
  }

  /// Single elements, added to what the product has left, or alone.
  void add_overlay(program::ComputeSet& set) {
    for (std::size_t i = 0; i < plan_.jobs.size(); ++i) {
      const Job& job = plan_.jobs[i];
      const Group& group = group_of(job);
      const OverlayPart& part = group.overlay;
      if (part.empty()) continue;
      const std::uint32_t vector = problem_.vector_bytes();
      const BufferId list = add_overlay_list(job);
      const BufferId values = add_overlay_values(job);
      std::vector<Argument> arguments{Place{buffers_.overlay[i]},
                                      Place{buffers_.result[i]},
                                      word(job.panels.size()),
                                      word(vector / kPair),
                                      word((part.rows.size() - 1) * vector),
                                      word((group.positions() - 1) * vector),
                                      vector,
                                      0U};
      for (const gemm::Interval& mine : worker_columns(part, work_.machine_.tile.contexts)) {
        const bool none = mine.size() == 0;
        const std::uint64_t first = none ? 0 : part.begin[mine.begin];
        arguments.emplace_back(Place{list, none ? 0 : word(2 * (first + mine.begin))});
        arguments.emplace_back(Place{values, word(first * problem_.block.input_bytes)});
        arguments.emplace_back(word(mine.size()));
        arguments.emplace_back(none ? 0U : word(mine.begin * vector));
      }
      set.vertices.push_back({TileId(job.machine), overlay_codelet(!group.rows.empty()),
                              program::Executor::all_workers, 0, std::move(arguments)});
    }
  }

  std::uint32_t overlay_codelet(bool adds) {
    const bool half = problem_.block.input == Type::f16;
    const std::string name = fmt::format("overlay_{}{}", adds ? "add_" : "", half ? "f16" : "f32");
    return program_.add_codelet(elf::embedded_codelet("spmm_tilewise", name));
  }

  const SpmmTilewise& work_;
  const Problem& problem_;
  const Plan& plan_;
  std::uint32_t tiles_;
  program::Program program_;
  Buffers buffers_;
};

program::Program SpmmTilewise::build() const { return Builder(*this).build(); }

}  // namespace tessera::spmm_tilewise
