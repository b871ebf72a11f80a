#include <vector>

#include <fmt/format.h>

#include "sim/program/flow.h"
#include "sim/report/report.h"

namespace tessera::report {
namespace {

constexpr std::uint32_t kMostGroups = 128;

}  // namespace

std::string traffic_csv(const program::Program& program, const RunResult& result) {
  const program::Flow flow = program::flatten(program);
  const std::uint32_t tiles = ceil_div(program.tiles(), kMostGroups);  // of a group
  const std::uint32_t groups = ceil_div(program.tiles(), tiles);
  std::vector<std::uint64_t> bytes(std::size_t{groups} * groups);
  const auto group = [&](program::Place place) {
    return index(program.buffer(place.buffer).tile) / tiles;
  };
  std::vector<std::uint64_t> done(flow.exchanges.size());
  for (const SuperstepRecord& step : result.steps)
    for (const std::uint32_t number : step.exchanges) ++done.at(number);
  for (std::size_t number = 0; number < done.size(); ++number) {
    for (const program::Stream& stream : flow.exchanges[number]->streams) {
      const std::size_t row = std::size_t{group(stream.source.place)} * groups;
      for (const program::Walk& to : stream.destinations)
        bytes[row + group(to.place)] += done[number] * program::stream_bytes(to.unit, to.extents);
    }
    for (const program::Copy& copy : flow.exchanges[number]->copies) {
      const std::size_t row = std::size_t{group(copy.source)} * groups;
      for (const program::Place to : copy.destinations) {
        bytes[row + group(to)] += done[number] * copy.bytes;
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
