#include "sim/plan/program_cost.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "sim/base/errors.h"
#include "sim/plan/step_costs.h"

namespace tessera {

using program::BufferId;
using program::Place;
using program::Program;

namespace {

/// What the time of a tile's vertices in one step depends on, but for the contents of buffers.
using Kind = std::vector<std::uint64_t>;

constexpr std::size_t kAlike = 8;  ///< tiles of a kind that are measured

class Walk {
 public:
  Walk(const Program& program, MachineCosts& costs)
      : program_(program), costs_(costs), steps_(costs) {}

  void add(const program::Sequence& sequence, std::uint64_t times) {
    for (std::size_t i = 0; i < sequence.steps.size(); ++i) {
      const program::Step& step = sequence.steps[i];
      if (const auto* repeat = std::get_if<program::Repeat>(&step.action)) {
        add(repeat->body, times * repeat->count);
        continue;
      }
      check(!std::holds_alternative<program::While>(step.action),
            "program cost: of a loop whose turns are not known");
      if (!step.measured || std::holds_alternative<program::HostTransfer>(step.action)) continue;
      if (const auto* exchange = std::get_if<program::Exchange>(&step.action)) {
        StepCosts::Superstep superstep{load_of(*exchange)};
        const auto* set = i + 1 < sequence.steps.size() && sequence.steps[i + 1].measured
                              ? std::get_if<program::ComputeSet>(&sequence.steps[i + 1].action)
                              : nullptr;
        if (set != nullptr) {
          superstep.vertex_cycles = cycles_of(*set);
          ++i;
        }
        steps_.add(sum_, superstep, times);
      } else {
        const auto& set = std::get<program::ComputeSet>(step.action);
        steps_.add(sum_, {{}, cycles_of(set)}, times);
      }
    }
  }

  [[nodiscard]] const Prediction& sum() const { return sum_; }

 private:
  [[nodiscard]] std::uint32_t tile_of(Place place) const {
    return index(program_.buffer(place.buffer).tile);
  }

  /// Of the tile that it asks most of.
  [[nodiscard]] ExchangeLoad load_of(const program::Exchange& exchange) const {
    std::vector<ExchangeLoad> loads(program_.tiles());
    std::uint32_t tiles = 1;
    std::vector<std::uint32_t> takers;
    for (const program::Copy& copy : exchange.copies) {
      const std::uint32_t source = tile_of(copy.source);
      tiles = std::max(tiles, source + 1);
      takers.clear();
      for (const Place& place : copy.destinations) takers.push_back(tile_of(place));
      std::sort(takers.begin(), takers.end());
      if (!takers.empty()) loads[source].sent += copy.bytes;
      for (std::size_t i = 0; i < takers.size(); ++i) {
        const std::uint32_t tile = takers[i];
        tiles = std::max(tiles, tile + 1);
        const bool pair = i + 1 < takers.size() && (tile ^ 1U) == takers[i + 1];
        if (!pair) {
          loads[tile].received += copy.bytes;
          continue;
        }
        loads[tile].shared += copy.bytes;
        loads[tile + 1].shared += copy.bytes;
        ++i;
      }
    }
    for (ExchangeLoad& load : loads) load.tiles = tiles;
    return *std::max_element(loads.begin(), loads.end(), [&](const auto& a, const auto& b) {
      return costs_.exchange(a) < costs_.exchange(b);
    });
  }

  [[nodiscard]] Kind kind_of(const std::vector<const program::Vertex*>& vertices) const {
    Kind kind;
    for (const program::Vertex* vertex : vertices) {
      kind.push_back(vertex->codelet);
      kind.push_back(static_cast<std::uint64_t>(vertex->executor));
      kind.push_back(vertex->worker);
      for (const program::Argument& argument : vertex->arguments) {
        if (const auto* place = std::get_if<Place>(&argument)) {
          kind.push_back(program_.buffer(place->buffer).bytes);
          kind.push_back(place->offset);
        } else {
          kind.push_back(std::get<std::uint32_t>(argument));
        }
      }
    }
    return kind;
  }

  /// Of the tile that takes longest.
  std::uint64_t cycles_of(const program::ComputeSet& set) {
    std::map<std::uint32_t, std::vector<const program::Vertex*>> tiles;
    for (const program::Vertex& vertex : set.vertices) tiles[index(vertex.tile)].push_back(&vertex);
    std::map<Kind, std::vector<const std::vector<const program::Vertex*>*>> kinds;
    for (const auto& [tile, vertices] : tiles) kinds[kind_of(vertices)].push_back(&vertices);
    std::uint64_t most = 0;
    for (const auto& [kind, alike] : kinds) {
      const auto [known, is_new] = cycles_.try_emplace(kind);
      // What their buffers hold may differ.
      const std::size_t looked = is_new ? std::min(alike.size(), kAlike) : 0;
      for (std::size_t i = 0; i < looked; ++i)
        known->second = std::max(known->second, measured(*alike[i * alike.size() / looked]));
      most = std::max(most, known->second);
    }
    return most;
  }

  /// The vertices of one tile on the machine's.
  std::uint64_t measured(const std::vector<const program::Vertex*>& vertices) {
    return steps_.vertices([&](Program& sample) {
      std::map<BufferId, BufferId> buffers;
      std::vector<program::Vertex> copies;
      for (const program::Vertex* vertex : vertices) {
        program::Vertex& copy = copies.emplace_back(*vertex);
        copy.tile = TileId{0};
        copy.codelet = sample.add_codelet(program_.codelets()[vertex->codelet]);
        for (program::Argument& argument : copy.arguments) {
          auto* const place = std::get_if<Place>(&argument);
          if (place == nullptr) continue;
          const auto [known, is_new] = buffers.try_emplace(place->buffer);
          if (is_new) {
            program::Buffer buffer = program_.buffer(place->buffer);
            buffer.tile = TileId{0};
            known->second = sample.add_buffer(std::move(buffer));
          }
          place->buffer = known->second;
        }
      }
      return copies;
    });
  }

  const Program& program_;
  MachineCosts& costs_;
  StepCosts steps_;
  Prediction sum_;
  std::map<Kind, std::uint64_t> cycles_;
};

}  // namespace

Prediction program_cost(const Program& program, MachineCosts& costs) {
  Walk walk(program, costs);
  walk.add(program.main(), 1);
  return walk.sum();
}

}  // namespace tessera
