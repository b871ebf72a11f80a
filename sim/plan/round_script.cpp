#include "sim/plan/round_script.h"

#include <algorithm>
#include <map>
#include <set>

#include "sim/program/held_lists.h"

namespace tessera::plan {
namespace {

using What = Transfer::What;
using Kind = OuterScript::Step::Kind;

/// Approximate number of requests in one turn.
std::uint64_t requests(std::span<const OuterLoad> loads, std::uint64_t request_bytes) {
  std::uint64_t sum = 0;
  for (const OuterLoad& load : loads)
    for (const program::OuterEntry& entry : load.entries)
      sum += entry.rows * (entry.row_bytes / request_bytes + 1);
  return sum;
}

class Writer {
 public:
  Writer(const Rounds& rounds, const RoundWork& work, std::span<const std::uint64_t> addresses)
      : rounds_(rounds), work_(work) {
    for (const What what : {What::load, What::load_second, What::store}) {
      const bool none = what == What::load_second ? rounds.seconds.empty()
                                                  : what == What::store && !rounds.stores_any();
      script_.transfers.push_back(
          {turns_of(rounds, what),
           none ? std::vector<OuterLoad>() : entries_of(rounds, what, addresses)});
    }
  }

  OuterScript write() && {
    add(unrolled(rounds_));
    return std::move(script_);
  }

 private:
  void add(const Sequence& steps) {
    for (const Step& step : steps) {
      if (const auto* repeat = std::get_if<Repeat>(&step.action)) {
        for (std::uint32_t i = 0; i < repeat->count; ++i) add(repeat->body);
      } else if (const auto* round = std::get_if<Round>(&step.action)) {
        const RoundWork::Part& part = round->steps == &rounds_.first   ? work_.first
                                      : round->steps == &rounds_.again ? work_.again
                                                                       : work_.finish;
        if (part.cycles > 0 || part.together)
          script_.steps.push_back({Kind::work, 0, part.cycles, part.together, early_of(part)});
      } else {
        const Transfer& transfer = std::get<Transfer>(step.action);
        const auto number = static_cast<std::uint32_t>(transfer.what);
        if (transfer.starts) control(Kind::start, number);
        if (transfer.waits) control(Kind::wait, number);
      }
    }
  }

  /// Index of the part in the script's `early`; 0 for parts whose tiles end together.
  [[nodiscard]] std::uint32_t early_of(const RoundWork::Part& part) {
    if (part.early.empty()) return 0;
    const auto [known, is_new] =
        early_.try_emplace(&part, static_cast<std::uint32_t>(script_.early.size()));
    if (is_new) script_.early.push_back(part.early);
    return known->second;
  }

  void control(Kind kind, std::uint32_t transfer) {
    script_.steps.push_back({kind, transfer, 0, false});
    script_.steps.push_back({Kind::work, 0, work_.start_or_wait, false});
  }

  const Rounds& rounds_;
  const RoundWork& work_;
  std::map<const RoundWork::Part*, std::uint32_t> early_;
  OuterScript script_;
};

/// Concatenates two scripts.
OuterScript joined(OuterScript first, const OuterScript& second) {
  const auto transfers = static_cast<std::uint32_t>(first.transfers.size());
  const auto early = static_cast<std::uint32_t>(first.early.size());
  first.transfers.insert(first.transfers.end(), second.transfers.begin(), second.transfers.end());
  first.early.insert(first.early.end(), second.early.begin(), second.early.end());
  for (OuterScript::Step step : second.steps) {
    step.transfer += transfers;
    step.early += early;
    first.steps.push_back(step);
  }
  return first;
}

/// The lists of the first starts and waits, at most as many as registers can hold.
struct FirstLists {
  std::set<std::pair<const Rounds*, What>> all;
  std::size_t left = program::HeldLists::kMost;

  /// Returns true if there is room for more.
  bool add(const Transfer& transfer) {
    all.emplace(transfer.rounds, transfer.what);
    left -= std::min<std::size_t>(left, transfer.starts && transfer.waits ? 2 : 1);
    return left > 0;
  }
};

/// Adds the transfers at the begin of these steps; false if the next step needs a barrier or is in
/// a loop.
bool add_first(const Sequence& steps, FirstLists& lists) {
  return std::ranges::all_of(steps, [&](const Step& step) {
    if (const auto* transfer = std::get_if<Transfer>(&step.action)) return lists.add(*transfer);
    if (const auto* round = std::get_if<Round>(&step.action)) return round->steps->empty();
    if (const auto* repeat = std::get_if<Repeat>(&step.action))
      return repeat->count == 1 && add_first(repeat->body, lists);
    if (const auto* rounds = std::get_if<Rounds>(&step.action))
      return !rounds->fed() && !begin_in_loop(*rounds) && add_first(unrolled(*rounds), lists);
    return false;
  });
}

/// `rounds` with fewer passes and rounds.
Rounds some_of(const Rounds& rounds, std::uint32_t passes, std::uint32_t each) {
  Rounds some = rounds;
  some.passes = passes;
  some.rounds = each;
  return some;
}

}  // namespace

bool synchronises(const Sequence& steps, bool behind_wait) {
  std::size_t sets = behind_wait ? 0 : 1;
  for (const Step& step : steps) {
    const auto* set = std::get_if<Compute>(&step.action);
    if (set == nullptr || set->syncs) return true;
    ++sets;
  }
  return sets > 1;
}

std::uint64_t first_lists(const Sequence& program, const MachineConfig& machine) {
  if (!program.empty() && std::holds_alternative<Exchange>(program.front().action)) return 1;
  FirstLists lists;
  add_first(program, lists);
  return std::min(lists.all.size(), machine.tile.overlap ? program::HeldLists::kMost : 1);
}

std::vector<OuterLoad> entries_of(const Rounds& rounds, What what,
                                  std::span<const std::uint64_t> addresses) {
  const bool stores = what == What::store;
  std::vector<OuterLoad> all;
  Loads its;
  for (Tile tile = 0; tile < rounds.tiles; ++tile) {
    its.clear();
    (stores ? rounds.stores : rounds.loads)(tile, its);
    std::vector<program::OuterEntry> entries;
    for (const Load& one : its) {
      if (one.row_bytes == 0) continue;
      program::OuterEntry& entry = entries.emplace_back();
      entry.address = addresses[static_cast<std::size_t>(one.outside)] + one.offset;
      std::ranges::copy(one.steps, entry.steps);
      entry.pitch = one.pitch;
      entry.row_bytes = one.row_bytes;
      entry.rows = one.rows;
      entry.outward = stores ? 1 : 0;
    }
    if (!entries.empty()) all.push_back({TileId(tile), std::move(entries)});
  }
  return all;
}

std::optional<std::uint64_t> round_cycles(const WorkedRounds& worked,
                                          std::span<const std::uint64_t> addresses,
                                          MachineCosts& costs, std::uint64_t most_requests,
                                          const WorkedRounds* lead) {
  const Rounds& rounds = *worked.rounds;
  const RoundWork& work = worked.work;
  const std::uint64_t cut = costs.machine().external.request_bytes;
  const std::uint64_t load = requests(entries_of(rounds, What::load, addresses), cut);
  const std::uint64_t store =
      rounds.stores_any() ? requests(entries_of(rounds, What::store, addresses), cut) : 0;
  const auto written = [&](const Rounds& some, const RoundWork& its) {
    OuterScript script = Writer(some, its, addresses).write();
    script.begin = worked.begin;
    return script;
  };
  const auto of = [&](std::uint64_t passes, std::uint64_t each) {
    const Rounds some =
        some_of(rounds, static_cast<std::uint32_t>(passes), static_cast<std::uint32_t>(each));
    return costs.script(written(some, work));
  };
  /// Extrapolates linearly from two counts.
  const auto further = [](std::uint64_t less, std::uint64_t more, std::uint64_t first,
                          std::uint64_t second, std::uint64_t all) {
    return more + (more - std::min(less, more)) * (all - second) / (second - first);
  };
  const std::uint64_t pass = std::max<std::uint64_t>(1, load * rounds.rounds + store);
  const std::uint64_t passes = std::min<std::uint64_t>(rounds.passes, most_requests / pass);
  if (passes == rounds.passes) {
    if (lead == nullptr) return of(passes, rounds.rounds);
    const OuterScript first = written(*lead->rounds, lead->work);
    const auto alone = costs.script(first);
    const auto both = costs.script(joined(first, written(rounds, work)));
    if (!alone || !both) return std::nullopt;
    return *both - std::min(*alone, *both);
  }
  if (passes >= 2) {
    const auto less = of(passes / 2, rounds.rounds);
    const auto more = of(passes, rounds.rounds);
    if (!less || !more) return std::nullopt;
    return further(*less, *more, passes / 2, passes, rounds.passes);
  }
  const std::uint64_t each = most_requests / (load + 1) / 4 * 4;  // halves are even too
  if (each < 8 || each >= rounds.rounds) return std::nullopt;
  const auto less = of(1, each / 2);
  const auto more = of(1, each);
  if (!less || !more) return std::nullopt;
  return rounds.passes * further(*less, *more, each / 2, each, rounds.rounds);
}

}  // namespace tessera::plan
