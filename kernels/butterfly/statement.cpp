#include "kernels/butterfly/statement.h"

#include <algorithm>
#include <utility>

#include "kernels/butterfly/storage.h"
#include "sim/data/element.h"

namespace tessera::butterfly {

using plan::Calls;
using plan::Pulls;
using plan::Tile;

Statement::Statement(plan::Description& description, const Geometry& geometry,
                     const MachineConfig& machine, const Codes& codes, const Operands* operands)
    : description_(description),
      geometry_(geometry),
      machine_tiles_(machine.tiles),
      contexts_(machine.tile.contexts),
      codes_(codes),
      operands_(operands),
      functions_(codes.butterfly, description, geometry.problem, contexts_,
                 geometry.plan.workers_n),
      dense_(codes.gemm, description, contexts_) {}

BufferId Statement::array(std::string_view name, const Bytes& bytes, bool keep, Contents contents) {
  return description_.array({name,
                             [tiles = geometry_.tiles(), bytes](Tile tile) -> std::uint64_t {
                               return tile < tiles ? bytes(tile) : 0;
                             },
                             keep, std::move(contents)});
}

// Arrays of all rounds and tiles are as large as the largest: all tiles are then packed alike.

BufferId Statement::empty_rows(std::string_view name, bool keep, std::uint32_t times) {
  return array(
      name,
      [first = geometry_.round(0), times, all_alike = blocked()](Tile tile) {
        return times * first.bytes(all_alike ? 0 : tile);
      },
      keep);
}

BufferId Statement::stored(
    const kernels::EvenStorage& storage, std::uint64_t each, std::string_view name,
    const std::function<void(std::uint64_t first, std::span<std::byte>)>& fill) {
  return description_.array(
      {name,
       [storage, each](Tile tile) -> std::uint64_t { return tile < storage.tiles() ? each : 0; },
       false,
       [storage, fill, its = operands_](Tile tile, std::span<std::byte> into) {
         if (its != nullptr) fill(storage.begin(tile), into.first(storage.bytes_on(tile)));
       }});
}

std::uint64_t Statement::row_bytes() const {
  return StoredRows(geometry_.round(0), machine_tiles_).storage().each();
}

BufferId Statement::given_rows(Values values, std::string_view name, const Rows& rows, bool keep) {
  if (!blocked()) {
    return array(
        name, [g = geometry_](Tile tile) { return g.bytes(tile); }, keep,
        [g = geometry_, rows, values, its = operands_](Tile tile, std::span<std::byte> into) {
          if (its == nullptr) return;
          std::fill(into.begin(), into.end(), std::byte{});
          g.for_values(tile, rows, [&](std::uint64_t feature, std::uint64_t column, auto at) {
            data::store_element(g.problem.type(), into, at,
                                (its->*values).element(feature, column));
          });
        });
  }
  const StoredRows from(geometry_, machine_tiles_);
  const BufferId store = stored(
      from.storage(), row_bytes(), name,
      [from, values, its = operands_](auto first, auto to) { from.fill(its->*values, first, to); });
  const BufferId array = empty_rows(name);
  inputs_.push_back([from, rows, store, array](Tile tile, Pulls& pulls) {
    for (const StoredRows::Line& line : from.lines_of(tile, rows))
      for (const auto& piece : from.storage().pieces(line.begin, line.end))
        pulls.push_back(
            {{array, word(line.at + piece.at)}, piece.tile, {store, piece.offset}, piece.bytes});
  });
  return array;
}

BufferId Statement::twiddles(const RowPass& pass, std::uint64_t bytes, const Groups& fill) {
  const auto each = [bytes](Tile /*tile*/) { return bytes; };
  // What one tile alone takes lies there, as weights do in other products.
  if (!blocked() || geometry_.plan.split_n == 1) {
    return array("twiddles", each, false,
                 [fill, g = geometry_, groups = pass.groups(), its = operands_](
                     Tile tile, std::span<std::byte> into) {
                   if (its != nullptr) fill(g.feature_part(tile), {0, groups}, into);
                 });
  }
  const BufferId array = this->array("twiddles", each);
  const StoredTwiddles from(geometry_, pass, bytes, machine_tiles_);
  const BufferId store =
      stored(from.storage, from.storage.each(), "twiddles",
             [fill, from](auto first, auto into) { from.fill(fill, first, into); });
  inputs_.push_back([from, store, array, g = geometry_](Tile tile, Pulls& pulls) {
    const std::uint64_t begin = g.feature_part(tile) * from.part_bytes;
    for (const auto& piece : from.storage.pieces(begin, begin + from.part_bytes))
      pulls.push_back({{array, piece.at}, piece.tile, {store, piece.offset}, piece.bytes});
  });
  return array;
}

void Statement::add_inputs() {
  if (inputs_.empty()) return;
  add_exchange(
      "inputs", machine_tiles_,
      [all = std::exchange(inputs_, {}), tiles = geometry_.tiles()](Tile tile, Pulls& pulls) {
        if (tile >= tiles) return;
        for (const PullsOf& each : all) each(tile, pulls);
      });
}

void Statement::add_results() {
  for (std::uint32_t round = 0; round < geometry_.plan.rounds && blocked(); ++round) {
    const StoredRows to(geometry_.round(round), machine_tiles_);
    results_.push_back(description_.array(
        {"y",
         [storage = to.storage(), each = row_bytes()](Tile tile) -> std::uint64_t {
           return tile < storage.tiles() ? each : 0;
         },
         true}));
  }
}

void Statement::finish_rows(BufferId array, const Rows& rows) {
  if (!blocked()) return description_.tensor(result_in_rows(geometry_, rows, array));
  const StoredRows to(geometry_, machine_tiles_);
  const BufferId result = results_[geometry_.number];
  add_exchange(
      "results", machine_tiles_,
      [to, rows, array, result](Tile tile, Pulls& pulls) {
        for (const StoredRows::Part& part : to.parts_on(tile, rows))
          pulls.push_back(
              {{result, word(part.at)}, part.tile, {array, word(part.begin)}, word(part.bytes)});
      },
      [g = geometry_](Tile tile) { return tile < g.tiles() ? g.bytes(tile) : 0; });
  description_.tensor(result_in_store(geometry_, to, result));
}

void Statement::add_exchange(std::string name, Tile tiles, PullsOf pulls, Bytes sends) {
  finish();
  description_.exchange(std::move(name), tiles, std::move(pulls), std::move(sends));
}

void Statement::add_swap(const Swap& swap, BufferId array) {
  add_exchange("swap", geometry_.tiles(), [g = geometry_, swap, array](Tile tile, Pulls& pulls) {
    pull_swapped(g, swap, array, tile, pulls);
  });
}

/// Blocks of rows go to the tiles whose number they will have in common.
void pull_swapped(const Geometry& geometry, const Swap& swap, BufferId array, Tile tile,
                  Pulls& pulls) {
  const std::uint32_t ways = 1U << swap.bits;
  const std::uint32_t block = word(geometry.bytes(tile) >> swap.bits);
  const std::uint32_t own = tile >> swap.tile_place & (ways - 1);
  for (std::uint32_t way = 0; way < ways; ++way)
    if (way != own)
      pulls.push_back({{array, way * block},
                       tile ^ (own ^ way) << swap.tile_place,
                       {array, own * block},
                       block});
}

void Statement::finish() {
  if (set_.empty()) return;
  description_.compute("factors", geometry_.tiles(),
                       [all = std::exchange(set_, {})](Tile tile, Calls& calls) {
                         for (const CallsOf& each : all) each(tile, calls);
                       });
}

}  // namespace tessera::butterfly
