#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "sim/program/flow.h"
#include "sim/report/report.h"

namespace tessera::report {
namespace {

constexpr std::uint32_t kMostGroups = 128;

/// How often each step of the program was an exchange of the measured region. A superstep ends in
/// an exchange, or in a compute set that may follow one without a barrier.
std::vector<std::uint64_t> exchanges_done(const program::Flow& flow, const RunResult& result) {
  std::vector<std::uint64_t> done(flow.steps.size());
  for (const SuperstepRecord& record : result.steps) {
    std::size_t at = record.program_step;
    if (at >= flow.steps.size()) continue;
    if (flow.steps[at].exchange == nullptr && !flow.steps[at].sync) --at;
    if (flow.steps[at].exchange != nullptr) ++done[at];
  }
  return done;
}

}  // namespace

std::string traffic_csv(const program::Program& program, const RunResult& result) {
  const program::Flow flow = program::flatten(program);
  const std::vector<std::uint64_t> done = exchanges_done(flow, result);
  const std::uint32_t tiles = ceil_div(program.tiles(), kMostGroups);  // of a group
  const std::uint32_t groups = ceil_div(program.tiles(), tiles);
  std::vector<std::uint64_t> bytes(std::size_t{groups} * groups);
  const auto group = [&](program::Place place) {
    return index(program.buffer(place.buffer).tile) / tiles;
  };
  for (std::size_t step = 0; step < flow.steps.size(); ++step) {
    if (done[step] == 0) continue;
    for (const program::Copy& copy : flow.steps[step].exchange->copies) {
      const std::size_t row = std::size_t{group(copy.source)} * groups;
      for (const program::Place to : copy.destinations) {
        bytes[row + group(to)] += done[step] * copy.bytes;
      }
    }
  }
  std::string text = "from_tile,to_tile,tiles,bytes\n";
  for (std::uint32_t from = 0; from < groups; ++from) {
    for (std::uint32_t to = 0; to < groups; ++to) {
      const std::uint64_t moved = bytes[std::size_t{from} * groups + to];
      if (moved > 0) text += fmt::format("{},{},{},{}\n", from * tiles, to * tiles, tiles, moved);
    }
  }
  return text;
}

}  // namespace tessera::report
