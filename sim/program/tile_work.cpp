#include "sim/program/tile_work.h"

namespace tessera::program {
namespace {

void add_vertices(const ComputeSet& set, std::uint32_t step, std::vector<TileWork>& tiles) {
  for (const Vertex& vertex : set.vertices) {
    tiles[index(vertex.tile)].push_back({step, &vertex});
  }
}

void add_exchange(const Program& program, const Exchange& exchange, std::uint32_t step,
                  std::vector<TileWork>& tiles) {
  const auto join = [&](Place place) {
    TileWork& work = tiles[index(program.buffer(place.buffer).tile)];
    if (work.empty() || work.back().step != step) work.push_back({step, nullptr});
  };
  for (const Copy& copy : exchange.copies) {
    if (!copy.destinations.empty()) join(copy.source);
    for (Place destination : copy.destinations) join(destination);
  }
}

/// Where the test of an inner loop ends that of an outer one, the inner one decides first.
void add_decisions(const Flow& flow, std::uint32_t step, std::vector<TileWork>& tiles) {
  for (auto loop = flow.loops.rbegin(); loop != flow.loops.rend(); ++loop) {
    if (loop->condition == nullptr || loop->body != step + 1) continue;
    for (TileWork& work : tiles) work.push_back({step, nullptr, loop->condition});
  }
}

}  // namespace

std::vector<TileWork> work_by_tile(const Program& program, const Flow& flow) {
  std::vector<TileWork> tiles(program.tiles());
  for (std::uint32_t step = 0; step < flow.steps.size(); ++step) {
    const FlatStep& flat = flow.steps[step];
    if (flat.compute != nullptr) {
      add_vertices(*flat.compute, step, tiles);
    } else if (flat.exchange != nullptr) {
      add_exchange(program, *flat.exchange, step, tiles);
    }
    add_decisions(flow, step, tiles);
  }
  return tiles;
}

std::vector<std::uint32_t> control_signature(const TileWork& work) {
  std::vector<std::uint32_t> signature;
  signature.reserve(work.size() * 2);
  for (const Work& item : work) {
    signature.push_back(item.step);
    if (item.vertex == nullptr) continue;  // its step says what it is, the same for every tile
    const Vertex& vertex = *item.vertex;
    signature.push_back(vertex.codelet);
    signature.push_back(static_cast<std::uint32_t>(vertex.executor));
    signature.push_back(vertex.executor == Executor::one_worker ? vertex.worker : 0);
    signature.push_back(static_cast<std::uint32_t>(vertex.arguments.size()));
  }
  return signature;
}

ControlData layout_control_data(const TileWork& work) {
  constexpr std::uint32_t kWord = 4;
  ControlData data;
  for (const Work& item : work) data.table_bytes += item.exchanges() ? kWord : 0;
  data.table_bytes = round_up(data.table_bytes, ControlData::kAlign);
  data.bytes = data.table_bytes;
  std::uint32_t entry = 0;
  for (const Work& item : work) {
    if (item.exchanges()) {
      data.offset.push_back(entry);
      entry += kWord;
    } else {
      data.offset.push_back(data.bytes);
      const auto words =
          item.vertex == nullptr ? 1U : static_cast<std::uint32_t>(item.vertex->arguments.size());
      data.bytes += round_up(words * kWord, ControlData::kAlign);
    }
  }
  return data;
}

}  // namespace tessera::program
