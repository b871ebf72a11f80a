#include "kernels/spmm_tilewise/steps.h"
#include "sim/elf/codelet.h"

namespace tessera::spmm_tilewise {

using program::Argument;
using program::Place;
using program::Type;

namespace {

constexpr std::uint64_t kPair = 16;  // bytes that the packing loop takes at once

}  // namespace

program::ComputeSet multiplied(Assembly& assembly, std::uint32_t cut) {
  const gemm::BlockShape& block = assembly.problem.block;
  const std::uint32_t codelet =
      assembly.program.add_codelet(elf::embedded_codelet("gemm", "gemm_" + block.name()));
  program::ComputeSet set{"product", {}};
  for (std::size_t i = 0; i < assembly.plan.jobs.size(); ++i) {
    const Job& job = assembly.plan.jobs[i];
    const std::uint64_t positions = assembly.group_of(job).positions();
    const std::uint64_t depth =
        depth_blocks(assembly.group_of(job), assembly.problem, assembly.plan.cuts, cut).size();
    if (depth == 0) continue;
    std::vector<Argument> arguments{Place{assembly.buffers.a[i]},
                                    Place{assembly.buffers.x[i]},
                                    word(positions * block.x_bytes()),
                                    word(depth),
                                    word(job.panels.size()),
                                    cut > 0 ? 1U : 0U,
                                    0U,
                                    0U};
    const gemm::EvenSplit split{positions, assembly.contexts};
    for (std::uint32_t w = 0; w < assembly.contexts; ++w) {
      const gemm::Interval mine = split.part(w);
      const std::uint64_t first = mine.size() == 0 ? 0 : mine.begin;
      arguments.emplace_back(word(first * block.x_bytes()));
      arguments.emplace_back(Place{assembly.buffers.y[i], word(first * block.y_bytes())});
      arguments.emplace_back(word(mine.size()) - 3);
      arguments.emplace_back(word(positions * block.y_bytes()));
    }
    set.vertices.push_back(
        {TileId(job.machine), codelet, program::Executor::supervisor, 0, std::move(arguments)});
  }
  return set;
}

void add_packing(Assembly& assembly, program::ComputeSet& set) {
  if (!assembly.converts()) return;
  const gemm::BlockShape& block = assembly.problem.block;
  const std::uint32_t codelet =
      assembly.program.add_codelet(elf::embedded_codelet("gemm", "gemm_pack"));
  for (std::size_t i = 0; i < assembly.plan.jobs.size(); ++i) {
    const Job& job = assembly.plan.jobs[i];
    if (assembly.group_of(job).rows.empty()) continue;
    const std::uint64_t bytes =
        assembly.group_of(job).positions() * job.panels.size() * block.y_bytes();
    std::vector<Argument> arguments{
        Place{assembly.buffers.y[i]}, Place{assembly.buffers.result[i]}, 0U, 0U, 0U, 0U, 0U, 0U};
    const gemm::EvenSplit pairs{bytes / kPair, assembly.contexts};
    for (std::uint32_t w = 0; w < assembly.contexts; ++w) {
      arguments.emplace_back(word(pairs.begin(w) * kPair));
      arguments.emplace_back(word(pairs.part(w).size()));
    }
    set.vertices.push_back(
        {TileId(job.machine), codelet, program::Executor::all_workers, 0, std::move(arguments)});
  }
}

}  // namespace tessera::spmm_tilewise
