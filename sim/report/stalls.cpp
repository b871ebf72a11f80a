#include "sim/report/stalls.h"

#include <algorithm>
#include <numeric>

#include <nlohmann/json.hpp>

#include "sim/machine/nodes.h"

namespace tessera::report {

std::array<std::uint64_t, kStallNames.size()> stalls_of_tile(const RunResult& result,
                                                             std::size_t tile,
                                                             std::uint32_t contexts) {
  const Stalls& stalls = result.stalls[tile];
  const TileRecord& record = result.tiles[tile];
  const std::uint64_t all = contexts * (record.compute + record.exchange + record.sync).count();
  std::array<std::uint64_t, kStallNames.size()> cycles{};
  std::ranges::copy(stalls.cycles, cycles.begin());
  const std::uint64_t known =
      std::accumulate(stalls.cycles.begin(), stalls.cycles.end(), std::uint64_t{0});
  cycles.back() = all - std::min(all, known);
  return cycles;
}

nlohmann::ordered_json stalls_section(const RunResult& result, const MachineConfig& machine) {
  std::array<std::uint64_t, kStallNames.size()> sums{};
  for (std::uint32_t tile = 0; tile < result.stalls.size(); ++tile) {
    const auto cycles = stalls_of_tile(result, tile, tile_of(machine, tile).contexts);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += cycles[i];
  }
  nlohmann::ordered_json section;
  for (std::size_t i = 0; i < sums.size(); ++i) section[std::string(kStallNames[i])] = sums[i];
  auto codelets = nlohmann::ordered_json::array();
  for (const auto& [name, stalls] : result.codelet_stalls) {
    nlohmann::ordered_json entry = {{"codelet", name}};
    for (std::size_t i = 0; i < Stalls::kCount; ++i)
      entry[std::string(kStallNames[i])] = stalls.cycles[i];
    codelets.push_back(std::move(entry));
  }
  section["codelets"] = std::move(codelets);
  return section;
}

}  // namespace tessera::report
