#include "sim/program/tile_work.h"

#include <algorithm>
#include <span>

namespace tessera::program {
namespace {

void add_vertices(const ComputeSet& set, std::uint32_t step, std::vector<TileWork>& tiles) {
  for (const Vertex& vertex : set.vertices) {
    tiles[index(vertex.tile)].push_back({.step = step, .vertex = &vertex});
  }
}

/// `tile_of`: by buffer.
void add_exchange(const Program& program, std::span<const TileId> tile_of, const FlatStep& flat,
                  std::uint32_t step, std::uint32_t zone, std::vector<TileWork>& tiles) {
  for_each_place(*flat.exchange, [&](Place place) {
    const TileId tile = tile_of[static_cast<std::size_t>(place.buffer)];
    if (program.zone_of(tile) != zone) return;
    TileWork& work = tiles[index(tile)];
    if (work.empty() || work.back().step != step)
      work.push_back({.step = step, .exchange = flat.number});
  });
}

/// If the test of an inner loop ends an outer loop's test, the inner loop decides first.
/// `deciding`: loops with conditions, inner ones first.
void add_decisions(const Program& program, std::span<const FlatLoop* const> deciding,
                   std::uint32_t step, std::uint32_t zone, std::vector<TileWork>& tiles) {
  for (const FlatLoop* const loop : deciding) {
    if (loop->body != step + 1) continue;
    for (std::uint32_t tile = 0; tile < tiles.size(); ++tile)
      if (program.zone_of(TileId{tile}) == zone)
        tiles[tile].push_back({.step = step, .decision = loop->condition});
  }
}

}  // namespace

std::vector<TileWork> work_by_tile(const Program& program, const Flow& flow) {
  std::vector<TileWork> tiles(program.tiles());
  std::vector<TileId> tile_of;
  tile_of.reserve(program.buffers().size());
  for (const Buffer& buffer : program.buffers()) tile_of.push_back(buffer.tile);
  std::vector<const FlatLoop*> deciding;
  for (auto loop = flow.loops.rbegin(); loop != flow.loops.rend(); ++loop)
    if (loop->condition != nullptr) deciding.push_back(&*loop);
  for (std::uint32_t zone = 0; zone < program.zones(); ++zone) {
    for (std::uint32_t step = flow.begin_of_zone(zone); step < flow.end_of_zone[zone]; ++step) {
      const FlatStep& flat = flow.steps[step];
      if (flat.compute != nullptr) {
        add_vertices(*flat.compute, step, tiles);
      } else if (flat.exchange != nullptr) {
        add_exchange(program, tile_of, flat, step, zone, tiles);
      }
      add_decisions(program, deciding, step, zone, tiles);
    }
  }
  return tiles;
}

std::vector<std::uint32_t> control_signature(std::uint32_t zone, const TileWork& work) {
  std::vector<std::uint32_t> signature;
  signature.reserve(work.size() * 2 + 1);
  signature.push_back(zone);
  for (const Work& item : work) {
    signature.push_back(item.step);
    if (item.vertex == nullptr) continue;  // its step determines it, equally on every tile
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
  for (const Work& item : work)
    if (item.exchanges()) data.exchanges.push_back(item.exchange);
  std::ranges::sort(data.exchanges);
  data.exchanges.erase(std::unique(data.exchanges.begin(), data.exchanges.end()),
                       data.exchanges.end());
  data.table_bytes =
      round_up(static_cast<std::uint32_t>(data.exchanges.size()) * kWord, ControlData::kAlign);
  data.bytes = data.table_bytes;
  for (const Work& item : work) {
    if (item.exchanges()) {
      const auto entry = std::ranges::lower_bound(data.exchanges, item.exchange);
      data.offset.push_back(static_cast<std::uint32_t>(entry - data.exchanges.begin()) * kWord);
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
