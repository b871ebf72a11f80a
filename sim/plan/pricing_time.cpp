#include <algorithm>
#include <tuple>

#include "sim/base/errors.h"
#include "sim/plan/aliases.h"
#include "sim/plan/pricing.h"
#include "sim/plan/round_script.h"
#include "sim/plan/step_calls.h"
#include "sim/plan/tile_parts.h"

namespace tessera::plan {

namespace {

/// Addresses of external buffers, as the compiler places them.
std::vector<std::uint64_t> outer_addresses(const Description& description) {
  std::vector<std::uint64_t> addresses;
  std::uint64_t end = 0;
  for (const OuterArray& array : description.outers()) {
    addresses.push_back(end);
    end = program::end_of_outer(end, array.bytes);
  }
  return addresses;
}

}  // namespace

class Pricing::TimeWalk {
 public:
  TimeWalk(Pricing& pricing, const Description& description, std::span<const Tile> tiles,
           const Schedules* schedules, std::uint64_t limit)
      : limit_(limit),
        pricing_(pricing),
        description_(description),
        aliases_(description),
        tiles_(tiles),
        schedules_(schedules),
        calls_(pricing, description, tiles, schedules != nullptr),
        addresses_(outer_addresses(description)) {}

  /// `behind_wait`: a compute set at the begin needs no barrier.
  void add(const Sequence& sequence, std::uint64_t times, bool behind_wait = false) {
    if (times == 0) return;
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      if (sum_.cycles > limit_) return;
      const Step& step = sequence[i];
      if (!std::holds_alternative<Rounds>(step.action)) lead_.reset();
      if (const auto* repeat = std::get_if<Repeat>(&step.action)) {
        add(repeat->body, times * repeat->count);
      } else if (const auto* loop = std::get_if<While>(&step.action)) {
        add(loop->test, times + loop->turns);
        pricing_.steps_.add_branch(sum_, times + loop->turns);
        add(loop->body, loop->turns);
      } else if (!step.measured) {
        continue;
      } else if (std::holds_alternative<Host>(step.action)) {
        pricing_.steps_.add_host_wait(sum_, times);
      } else if (const auto* rounds = std::get_if<Rounds>(&step.action)) {
        add_rounds(*rounds, times);
      } else if (const auto* next = std::get_if<Compute>(&step.action);
                 next != nullptr && behind_wait && i == 0 && !next->syncs) {
        pricing_.steps_.add_behind_wait(sum_, calls_.cycles(*next), times);
      } else if (const auto* exchange = std::get_if<Exchange>(&step.action)) {
        StepCosts::Superstep superstep{load_of(*exchange)};
        const Scheduled* const scheduled = scheduled_of(*exchange);
        if (scheduled != nullptr) superstep.scheduled = scheduled->makespan;
        const auto* set = i + 1 < sequence.size() && sequence[i + 1].measured
                              ? std::get_if<Compute>(&sequence[i + 1].action)
                              : nullptr;
        if (set != nullptr && !set->syncs) {
          superstep.vertex_cycles = calls_.cycles(*set);
          if (scheduled != nullptr) *superstep.scheduled -= hidden(*scheduled, *set);
          ++i;
        }
        pricing_.steps_.add(sum_, superstep, times, begins());
      } else if (const auto* set = std::get_if<Compute>(&step.action)) {
        pricing_.steps_.add(sum_, {{}, calls_.cycles(*set)}, times, begins());
      }
    }
  }

  /// If loads and stores overlap the rounds, the time is the slower of both plus what cannot
  /// overlap: the first load, and the last round or store. For the best plans the transfers are
  /// simulated.
  void add_rounds(const Rounds& rounds, std::uint64_t times) {
    if (rounds.fed()) return add_fed(rounds, times);
    std::optional<WorkedRounds> lead = std::exchange(lead_, std::nullopt);
    if (begins()) {
      if (begin_in_loop(rounds) || times > 1)
        pricing_.steps_.add(sum_, {});
      else
        pricing_.steps_.add_end(sum_);
    }
    const std::uint64_t turns = rounds.passes * std::uint64_t{rounds.rounds};
    const bool waits = finishes_behind_wait(rounds);
    const Prediction first = of(rounds.first);
    const Prediction again = rounds.rounds > 1 ? of(rounds.again) : Prediction{};
    const Prediction finish = of(rounds.finish, waits);
    lead_ = std::move(lead);
    Prediction working = rounds.passes * first;
    working += (turns - rounds.passes) * again;
    working += rounds.passes * finish;
    const std::uint64_t control = pricing_.steps_.transfer_cycles();
    working.cycles += control * (turns + rounds.passes);
    working.compute_cycles += control * (turns + rounds.passes);
    std::optional<std::uint64_t> carried;
    if (schedules_ != nullptr) {
      const RoundWork work{part(rounds.first, first), part(rounds.again, again),
                           part(rounds.finish, finish, waits), control / 2};
      carried = carried_out({&rounds, work, sum_.cycles}, times);
    }
    const std::uint64_t last = (rounds.rounds == 1 ? first : again).cycles + finish.cycles;
    const std::uint64_t cycles =
        carried ? *carried : beside(rounds, working.cycles, last, left(times));
    const std::uint64_t blocked = cycles - std::min(cycles, working.cycles);
    working.cycles += blocked;
    working.exchange_cycles += blocked;
    sum_ += times * working;
  }

  [[nodiscard]] const Prediction& sum() const { return sum_; }

 private:
  /// Starts and waits are supersteps. If the host is not measured, the starts' supersteps are left
  /// out although they count: otherwise plans would not feed ahead, which costs no more.
  void add_fed(const Rounds& rounds, std::uint64_t times) {
    const std::uint64_t starts = times * (turns_of(rounds, Transfer::What::load).period +
                                          turns_of(rounds, Transfer::What::load_second).period);
    pricing_.steps_.add_host_wait(sum_, 2 * starts);
    add(rounds.first, times * rounds.passes, true);
  }

  /// True if the measured region begins with the current step.
  [[nodiscard]] bool begins() const { return !within_rounds_ && sum_.cycles == 0; }

  /// The cycles left for each of `times` more steps under the limit.
  [[nodiscard]] std::uint64_t left(std::uint64_t times) const {
    if (limit_ == kNoLimit) return kNoLimit;
    return (limit_ - std::min(limit_, sum_.cycles)) / times;
  }

  /// The prediction for steps of a round alone.
  [[nodiscard]] Prediction of(const Sequence& steps, bool behind_wait = true) {
    const Prediction outer = std::exchange(sum_, {});
    const bool within = std::exchange(within_rounds_, true);
    const std::uint64_t limit = std::exchange(limit_, kNoLimit);
    add(steps, 1, behind_wait);
    limit_ = limit;
    within_rounds_ = within;
    return std::exchange(sum_, outer);
  }

  /// Cycles of rounds with `working` cycles of work in total and `last` in the last round, plus
  /// exposed transfers. A result above `limit` is only a lower bound.
  [[nodiscard]] std::uint64_t beside(const Rounds& rounds, std::uint64_t working,
                                     std::uint64_t last, std::uint64_t limit) const {
    const std::uint64_t passes = rounds.passes;
    const std::uint64_t turns = passes * rounds.rounds;
    const bool overlaps = !rounds.seconds.empty();
    const bool stores = rounds.stores_any();
    const std::vector<OuterLoad> loaded = entries_of(rounds, Transfer::What::load, addresses_);
    const std::vector<OuterLoad> stored =
        stores ? entries_of(rounds, Transfer::What::store, addresses_) : std::vector<OuterLoad>();
    // A store in place ends before the next pass continues.
    const std::uint64_t stores_alone = overlaps && !rounds.in_place ? 1 : passes;
    const std::uint64_t least = working + (overlaps ? 1 : turns) * least_outside(loaded) +
                                (stores ? stores_alone * least_outside(stored) : 0);
    if (least > limit) return least;
    // A pass is stored while a round of the next one is loaded.
    const std::uint64_t both = overlaps && stores ? outside(mixed(loaded, stored)) : 0;
    const std::uint64_t all_both = passes * both + last;
    if (both > 0 && all_both > limit) return all_both;
    // Neither takes longer alone: if everything overlaps, loads and stores are hidden and need not
    // be priced separately.
    if (turns == passes && both > 0 && both + working + stores_alone * both <= all_both)
      return all_both;
    const std::uint64_t alone = stores ? stores_alone * outside(stored) : 0;
    if (working + alone > limit) return working + alone;
    const std::uint64_t load = outside(loaded);
    if (!overlaps) return working + alone + turns * load;
    const std::uint64_t moving = (turns - passes) * load + passes * (stores ? both : load);
    return std::max(load + working + alone, moving + last);
  }

  /// Average cycles of rounds simulated `times` times, including the turn directly before them.
  [[nodiscard]] std::optional<std::uint64_t> carried_out(const WorkedRounds& rounds,
                                                         std::uint64_t times) {
    const std::optional<WorkedRounds> lead = std::exchange(lead_, std::nullopt);
    const auto carried = [&](std::uint64_t begin) {
      return round_cycles({rounds.rounds, rounds.work, begin}, addresses_, pricing_.costs_,
                          pricing_.most_requests_, lead ? &*lead : nullptr);
    };
    if (rounds.rounds->passes * std::uint64_t{rounds.rounds->rounds} == 1) lead_ = rounds;
    std::optional<std::uint64_t> cycles = carried(0);
    if (cycles && begins_faster(*cycles)) {
      const std::uint64_t set_up =
          pricing_.steps_.set_up_cycles(first_lists(description_.steps(), pricing_.machine()));
      const std::uint64_t begin = set_up + (lead ? lead->begin : rounds.begin);
      cycles = carried(begin);
      if (!cycles || times == 1) return cycles;
      const auto later = carried(begin + *cycles);
      if (later) cycles = (*cycles + *later * (times - 1)) / times;
    }
    return cycles;
  }

  /// True if `cycles` are notably fewer because memory has no refresh in the first interval: data
  /// moved in that time would take this much longer later.
  [[nodiscard]] bool begins_faster(std::uint64_t cycles) const {
    constexpr double kNotable = 0.02;
    const MachineConfig& machine = pricing_.machine();
    const DramConfig& dram = machine.external.dram;
    if (dram.refi_clocks == 0) return false;
    const double share = static_cast<double>(dram.rfc_clocks) / dram.refi_clocks;
    const double clocks = dram.refi_clocks * share / (1 - share);
    return clocks / dram.clock_ghz > kNotable * static_cast<double>(cycles) / machine.clock_ghz;
  }

  /// The steps' cycles and each tile's end: after their last barrier tiles are independent.
  [[nodiscard]] RoundWork::Part part(const Sequence& steps, const Prediction& prediction,
                                     bool behind_wait = true) {
    RoundWork::Part part{prediction.cycles, synchronises(steps, behind_wait), {}};
    const std::vector<std::uint64_t> all = ends_by_tile(steps);
    if (all.empty()) return part;
    tessera::check(all.size() <= description_.tiles(), "pricing: a tile ends that does not run");
    part.early.assign(description_.tiles(), std::ranges::max(all));
    for (std::size_t tile = 0; tile < all.size(); ++tile) part.early[tile] -= all[tile];
    return part;
  }

  /// By tile: end of these steps, from a common cycle; empty if unknown.
  [[nodiscard]] std::vector<std::uint64_t> ends_by_tile(const Sequence& steps) {
    std::vector<std::uint64_t> all;
    if (steps.empty()) return all;
    const auto* set = std::get_if<Compute>(&steps.back().action);
    if (set != nullptr) all = calls_.by_tile(*set);
    const std::size_t sets = set == nullptr ? 0 : 1;
    const auto* exchange = steps.size() <= sets
                               ? nullptr
                               : std::get_if<Exchange>(&steps[steps.size() - 1 - sets].action);
    const Scheduled* const scheduled = exchange == nullptr ? nullptr : scheduled_of(*exchange);
    if (scheduled != nullptr && (set == nullptr || (!set->syncs && !all.empty())))
      add_ends(*scheduled, all);
    return all;
  }

  /// One turn of all tiles that loads and stores. Tiles drift apart, so that channels see reads
  /// among writes: every other tile stores first.
  static std::vector<OuterLoad> mixed(std::span<const OuterLoad> loaded,
                                      std::span<const OuterLoad> stored) {
    std::vector<OuterLoad> all;
    auto next = stored.begin();
    for (const OuterLoad& load : loaded) {
      for (; next != stored.end() && next->tile < load.tile; ++next) all.push_back(*next);
      OuterLoad& own = all.emplace_back(load);
      if (next == stored.end() || next->tile != load.tile) continue;
      own.entries.insert(index(own.tile) % 2 == 0 ? own.entries.end() : own.entries.begin(),
                         next->entries.begin(), next->entries.end());
      ++next;
    }
    all.insert(all.end(), next, stored.end());
    return all;
  }

  [[nodiscard]] std::uint64_t outside(std::span<const OuterLoad> loads) const {
    return pricing_.costs_.outside(loads, schedules_ != nullptr);
  }

  /// The schedule of an exchange; null: it is estimated.
  [[nodiscard]] const Scheduled* scheduled_of(const Exchange& exchange) const {
    if (schedules_ == nullptr) return nullptr;
    const auto found = schedules_->find(&exchange);
    return found == schedules_->end() ? nullptr : &found->second;
  }

  /// Adds to each tile's call cycles the end of its part of the exchange, when its calls begin.
  static void add_ends(const Scheduled& scheduled, std::vector<std::uint64_t>& by_tile) {
    if (scheduled.ends == nullptr) return;
    const program::ExchangeEnds& ends = *scheduled.ends;
    if (by_tile.size() < ends.size()) by_tile.resize(ends.size());
    for (std::size_t tile = 0; tile < ends.size(); ++tile) by_tile[tile] += ends[tile];
  }

  /// Cycles of an exchange hidden behind the work of the tile that ends the step last.
  [[nodiscard]] std::uint64_t hidden(const Scheduled& scheduled, const Compute& set) {
    std::vector<std::uint64_t> all = calls_.estimates_by_tile(set);
    if (all.empty() || scheduled.ends == nullptr) return 0;
    const std::uint64_t apart = scheduled.makespan + std::ranges::max(all);
    add_ends(scheduled, all);
    return apart - std::ranges::max(all);
  }

  /// Lower bound on the cycles of external transfers, from their bytes alone.
  [[nodiscard]] std::uint64_t least_outside(std::span<const OuterLoad> loads) const {
    std::uint64_t bytes = 0;
    for (const OuterLoad& load : loads)
      for (const program::OuterEntry& entry : load.entries)
        bytes += std::uint64_t{entry.rows} * entry.row_bytes;
    const MachineConfig& machine = pricing_.machine();
    return machine.external.least_cycles(bytes, machine.tiles, machine.clock_ghz);
  }

  /// The load of the exchange on its busiest tile; nothing if no tile receives.
  [[nodiscard]] std::optional<ExchangeLoad> load_of(const Exchange& exchange) const {
    const std::map<BufferId, ArrayPulls> most = most_taken(exchange, tiles_, aliases_);
    std::vector<ExchangeLoad> loads;
    for (const Tile tile : tiles_) {
      ExchangeLoad& load = loads.emplace_back();
      load.sent = sent(exchange, tile, most);
      const Pulls others = pulls_of(exchange, tile ^ 1U, aliases_);
      const std::vector<Taking> other = takings(others);
      std::uint64_t& way = load.way_cycles.emplace(0);
      for (const Pull& pull : others) way = std::max(way, way_of(pull, tile ^ 1U));
      for (const Pull& pull : pulls_of(exchange, tile, aliases_)) {
        way = std::max(way, way_of(pull, tile));
        const bool shared = std::binary_search(other.begin(), other.end(), taking(pull));
        (shared ? load.shared : load.received) += pull.bytes;
      }
    }
    if (std::ranges::none_of(
            loads, [](const ExchangeLoad& load) { return load.received + load.shared > 0; }))
      return {};
    return *std::ranges::max_element(
        loads, {}, [&](const ExchangeLoad& load) { return pricing_.costs_.exchange(load); });
  }

  [[nodiscard]] std::uint64_t way_of(const Pull& pull, Tile to) const {
    return pricing_.costs_.way(TileId(pull.from), TileId(to));
  }

  [[nodiscard]] std::uint64_t sent(const Exchange& exchange, Tile tile,
                                   const std::map<BufferId, ArrayPulls>& most) const {
    if (exchange.sends) return exchange.sends(tile);
    std::uint64_t sum = 0;
    for (const auto& [array, one] : most)
      sum += std::min(one.bytes, description_.array(array).bytes(tile));
    return sum;
  }

  /// The source bytes of a pull: the other tile of a pair may pull the same.
  using Taking = std::tuple<Tile, BufferId, std::uint32_t, std::uint32_t>;
  static Taking taking(const Pull& pull) {
    return {pull.from, pull.source.buffer, pull.source.offset, pull.bytes};
  }
  static std::vector<Taking> takings(const Pulls& pulls) {
    std::vector<Taking> all;
    all.reserve(pulls.size());
    for (const Pull& pull : pulls) all.push_back(taking(pull));
    std::sort(all.begin(), all.end());
    return all;
  }

  std::uint64_t limit_;
  Pricing& pricing_;
  const Description& description_;
  Aliases aliases_;
  std::span<const Tile> tiles_;
  const Schedules* schedules_;  ///< null: exchanges are estimated
  StepCalls calls_;
  std::vector<std::uint64_t> addresses_;  ///< addresses of external buffers
  bool within_rounds_ = false;
  std::optional<WorkedRounds> lead_;  ///< the previous step, if it is one turn of rounds
  Prediction sum_;
};

Prediction Pricing::time(const Description& description, std::span<const Tile> tiles,
                         const Schedules* schedules, std::uint64_t limit) {
  TimeWalk walk(*this, description, tiles, schedules, limit);
  walk.add(description.steps(), 1);
  return walk.sum();
}

std::uint64_t Pricing::calls(const Description& description, Tile tile) {
  return calls(description, description.steps(), tile, 1);
}

std::uint64_t Pricing::calls(const Description& description, const Sequence& steps, Tile tile,
                             std::uint64_t times) {
  StepCalls its(*this, description, std::span(&tile, 1), false);
  std::uint64_t sum = 0;
  for (const Step& step : steps) {
    if (const auto* repeat = std::get_if<Repeat>(&step.action))
      sum += calls(description, repeat->body, tile, times * repeat->count);
    else if (const auto* rounds = std::get_if<Rounds>(&step.action))
      sum +=
          calls(description, rounds->first, tile, times * rounds->passes) +
          calls(description, rounds->again, tile, times * rounds->passes * (rounds->rounds - 1)) +
          calls(description, rounds->finish, tile, times * rounds->passes);
    else if (const auto* loop = std::get_if<While>(&step.action))
      sum += calls(description, loop->test, tile, times + loop->turns) +
             calls(description, loop->body, tile, loop->turns);
    else if (const auto* set = std::get_if<Compute>(&step.action); set != nullptr && step.measured)
      sum += times * its.cycles(*set);
  }
  return sum;
}

}  // namespace tessera::plan
