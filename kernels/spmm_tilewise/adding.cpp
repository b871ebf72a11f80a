#include <cstring>

#include <fmt/format.h>

#include "kernels/spmm_tilewise/steps.h"
#include "sim/data/element.h"
#include "sim/elf/codelet.h"

namespace tessera::spmm_tilewise {

using program::Argument;
using program::BufferId;
using program::Place;
using program::Type;

namespace {

constexpr std::uint32_t kPass = 16;  // bytes of each vector that the tile code takes at once

/// For each column its elements, then the place of each one's row in a panel, in 64-bit words.
std::vector<std::uint16_t> overlay_list(const Problem& problem, const OverlayPart& part) {
  std::vector<std::uint16_t> list;
  for (std::size_t c = 0; c + 1 < part.begin.size(); ++c) {
    list.push_back(static_cast<std::uint16_t>(part.begin[c + 1] - part.begin[c]));
    for (std::uint32_t e = part.begin[c]; e < part.begin[c + 1]; ++e) {
      list.push_back(static_cast<std::uint16_t>(part.row[e] * (problem.vector_bytes() / 8)));
    }
  }
  return list;
}

BufferId add_overlay_list(Assembly& assembly, const Job& job) {
  const Group& group = assembly.group_of(job);
  return assembly.add_stored(job.machine, word(2 * (group.overlay.row.size() + group.positions())),
                             "overlay list",
                             [list = overlay_list(assembly.problem, group.overlay)](auto into) {
                               std::memcpy(into.data(), list.data(), into.size());
                             });
}

BufferId add_overlay_values(Assembly& assembly, const Job& job) {
  const Group& group = assembly.group_of(job);
  const Type type = assembly.problem.block.input;
  auto fill = [&pattern = assembly.pattern, &w = assembly.w, &group,
               type](std::span<std::byte> into) {
    const std::vector<std::uint32_t>& columns = pattern.tiles[group.tile].columns;
    const OverlayPart& part = group.overlay;
    for (std::size_t c = 0; c + 1 < part.begin.size(); ++c) {
      for (std::uint32_t e = part.begin[c]; e < part.begin[c + 1]; ++e) {
        const float value = w.at(part.rows[part.row[e]], columns[group.columns.begin + c]);
        data::store_element(type, into, e, static_cast<double>(value));
      }
    }
  };
  const std::size_t bytes = group.overlay.row.size() * assembly.problem.block.input_bytes;
  return assembly.add_stored(job.machine, word(bytes), "overlay values", std::move(fill));
}

std::uint32_t overlay_codelet(Assembly& assembly, bool adds) {
  const bool half = assembly.problem.block.input == Type::f16;
  const std::string name = fmt::format("overlay_{}{}", adds ? "add_" : "", half ? "f16" : "f32");
  return assembly.program.add_codelet(elf::embedded_codelet("sparse/code", name));
}

}  // namespace

void add_overlay(Assembly& assembly, program::ComputeSet& set) {
  for (std::size_t i = 0; i < assembly.plan.jobs.size(); ++i) {
    const Job& job = assembly.plan.jobs[i];
    const Group& group = assembly.group_of(job);
    const OverlayPart& part = group.overlay;
    if (part.empty()) continue;
    const std::uint32_t vector = assembly.problem.vector_bytes();
    const BufferId list = add_overlay_list(assembly, job);
    const BufferId values = add_overlay_values(assembly, job);
    std::vector<Argument> arguments{Place{assembly.buffers.overlay[i]},
                                    Place{assembly.buffers.result[i]},
                                    word(job.panels.size()),
                                    word(vector / kPass),
                                    word((part.rows.size() - 1) * vector),
                                    word((group.positions() - 1) * vector),
                                    vector,
                                    0U};
    for (const gemm::Interval& mine : worker_columns(part, assembly.contexts)) {
      const bool none = mine.size() == 0;
      const std::uint64_t first = none ? 0 : part.begin[mine.begin];
      arguments.emplace_back(Place{list, none ? 0 : word(2 * (first + mine.begin))});
      arguments.emplace_back(Place{values, word(first * assembly.problem.block.input_bytes)});
      arguments.emplace_back(word(mine.size()));
      arguments.emplace_back(none ? 0U : word(mine.begin * vector));
    }
    set.vertices.push_back({TileId(job.machine), overlay_codelet(assembly, !group.rows.empty()),
                            program::Executor::all_workers, 0, std::move(arguments)});
  }
}

}  // namespace tessera::spmm_tilewise
