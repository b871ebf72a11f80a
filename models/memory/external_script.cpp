#include "models/memory/external_script.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>

#include "models/memory/outer_traffic.h"
#include "sim/base/errors.h"

namespace tessera {
namespace {

using Step = OuterScript::Step;

class ScriptRun {
 public:
  ScriptRun(const MachineConfig& machine, const OuterScript& script)
      : script_(script), tiles_(by_tile(script)), traffic_(machine, count(), nullptr) {}

  std::uint64_t cycles() {
    for (std::uint32_t tile = 0; tile < count(); ++tile) ready_.emplace(script_.begin, tile);
    while (!ready_.empty() || !traffic_.is_idle()) {
      const std::uint64_t limit = ready_.empty() ? UINT64_MAX : ready_.top().first;
      const std::vector<OuterTraffic::Ended> ended = traffic_.advance_to_end(Cycle(limit));
      for (const OuterTraffic::Ended& each : ended) end(each);
      if (!ended.empty()) continue;
      check(!ready_.empty(), "memory: transfers of a script do not end");
      const auto [cycle, tile] = ready_.top();
      ready_.pop();
      go_on(tile, cycle);
    }
    check(ended_ == count(), "memory: {} of {} tiles end their script", ended_, count());
    return last_ - std::min(last_, script_.begin);
  }

 private:
  struct Tile {
    std::uint32_t id = 0;
    std::vector<const OuterLoad*> loads;  ///< by transfer; null: it takes no part
    std::vector<std::uint64_t> starts;    ///< by transfer
    std::vector<bool> moving;             ///< by transfer
    std::size_t step = 0;
    bool waits = false;  ///< for the transfer of its step
  };

  /// The tiles that take part in a transfer or have longer work than the rest.
  static std::vector<Tile> by_tile(const OuterScript& script) {
    std::map<TileId, Tile> tiles;
    for (std::size_t i = 0; i < script.transfers.size(); ++i)
      for (const OuterLoad& load : script.transfers[i].loads) {
        Tile& tile = tiles[load.tile];
        tile.loads.resize(script.transfers.size());
        tile.loads[i] = &load;
      }
    for (const OuterScript::Early& early : script.early)
      for (std::uint32_t id = 0; id < early.size(); ++id)
        tiles[TileId(id)].loads.resize(script.transfers.size());
    std::vector<Tile> all;
    for (auto& [id, tile] : tiles) {
      tile.id = index(id);
      tile.starts.resize(script.transfers.size());
      tile.moving.resize(script.transfers.size());
      all.push_back(std::move(tile));
    }
    return all;
  }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(tiles_.size()); }

  void go_on(std::uint32_t number, std::uint64_t cycle) {
    Tile& tile = tiles_[number];
    for (; tile.step < script_.steps.size(); ++tile.step) {
      const Step& step = script_.steps[tile.step];
      if (step.kind == Step::Kind::start) {
        start(number, step.transfer, cycle);
      } else if (step.kind == Step::Kind::wait) {
        tile.waits = tile.moving[step.transfer];
        if (tile.waits) return;
      } else {
        ++tile.step;
        return work(number, step, cycle);
      }
    }
    ++ended_;
    last_ = std::max(last_, cycle);
  }

  void start(std::uint32_t number, std::uint32_t transfer, std::uint64_t cycle) {
    Tile& tile = tiles_[number];
    const OuterScript::Transfer& of = script_.transfers[transfer];
    const program::OuterTurn turn = program::turn_of(of.turns, tile.starts[transfer]++);
    if (tile.loads[transfer] == nullptr || !turn.moves) return;
    std::vector<program::OuterEntry> entries = tile.loads[transfer]->entries;
    for (program::OuterEntry& entry : entries) entry.address = program::address_of(entry, turn);
    tile.moving[transfer] = true;
    traffic_.start({TileId{number}, Cycle(cycle), Address(transfer), std::move(entries), {}, 0});
  }

  void work(std::uint32_t number, const Step& step, std::uint64_t cycle) {
    if (!step.together) return ready_.emplace(cycle + cycles_of(step, number), number);
    arrived_.push_back(number);
    if (arrived_.size() < tiles_.size()) return;
    for (const std::uint32_t each : arrived_) ready_.emplace(cycle + cycles_of(step, each), each);
    arrived_.clear();
  }

  [[nodiscard]] std::uint64_t cycles_of(const Step& step, std::uint32_t number) const {
    const OuterScript::Early& early = script_.early[step.early];
    const std::uint32_t id = tiles_[number].id;
    return id < early.size() ? step.cycles - std::min(step.cycles, early[id]) : step.cycles;
  }

  void end(const OuterTraffic::Ended& ended) {
    const std::uint32_t number = index(ended.transfer.tile);
    Tile& tile = tiles_[number];
    const std::uint32_t transfer = ended.transfer.list.count();
    tile.moving[transfer] = false;
    if (tile.waits && script_.steps[tile.step].transfer == transfer) {
      tile.waits = false;
      ready_.emplace(ended.done.count(), number);
    }
  }

  using Ready = std::pair<std::uint64_t, std::uint32_t>;

  const OuterScript& script_;
  std::vector<Tile> tiles_;
  OuterTraffic traffic_;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  std::vector<std::uint32_t> arrived_;  ///< by step: tiles at its barrier
  std::uint32_t ended_ = 0;
  std::uint64_t last_ = 0;
};

}  // namespace

std::uint64_t script_cycles(const MachineConfig& machine, const OuterScript& script) {
  return ScriptRun(machine, script).cycles();
}

}  // namespace tessera
