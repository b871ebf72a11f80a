#include <algorithm>
#include <bit>

#include "sim/base/errors.h"
#include "sim/plan/lower.h"
#include "sim/plan/search.h"

namespace tessera::plan {
namespace {

/// The exchanges in the order in which the program has them, each as often as it stands there.
void list_exchanges(const Sequence& steps, std::vector<const Exchange*>& all) {
  for (const Step& step : steps) {
    if (const auto* repeat = std::get_if<Repeat>(&step.action)) {
      if (repeat->count > 0) list_exchanges(repeat->body, all);
    } else if (const auto* loop = std::get_if<While>(&step.action)) {
      list_exchanges(loop->test, all);
      list_exchanges(loop->body, all);
    } else if (const auto* rounds = std::get_if<Rounds>(&step.action)) {
      list_exchanges(unrolled(*rounds), all);
    } else if (const auto* round = std::get_if<Round>(&step.action)) {
      list_exchanges(*round->steps, all);
    } else if (const auto* exchange = std::get_if<Exchange>(&step.action)) {
      all.push_back(exchange);
    }
  }
}

}  // namespace

std::uint64_t all_pulls(const Sequence& steps, std::span<const Tile> tiles) {
  std::vector<const Exchange*> exchanges;
  list_exchanges(steps, exchanges);
  std::uint64_t sum = 0;
  for (const Exchange* exchange : exchanges) {
    std::uint64_t most = 0;
    for (const Tile tile : tiles) {
      Pulls its;
      if (tile < exchange->tiles) exchange->pulls(tile, its);
      most = std::max<std::uint64_t>(most, its.size());
    }
    sum += most * exchange->tiles;
  }
  return sum;
}

std::optional<Found> with_schedules(Found estimate, const Description& description,
                                    std::span<const Tile> tiles, Pricing& pricing,
                                    std::uint64_t limit) {
  std::vector<const Exchange*> exchanges;
  list_exchanges(description.steps(), exchanges);
  Schedules heard;
  auto next = [&, at = exchanges.begin()]() mutable {
    while (at != exchanges.end() && heard.contains(*at)) ++at;
    check(at != exchanges.end(), "plan: more than {} exchanges are scheduled", heard.size());
    return *at;
  };
  program::Watch watch;
  // Transfers with memory outside are carried out to be priced; a price may take as long as some
  // schedules.
  if (limit < UINT64_MAX && description.outers().empty())
    watch = [&, next](const program::ExchangeNeeds& needs) mutable {
      heard[next()] = {needs.makespan.count(), needs.ends};
      return !std::has_single_bit(heard.size()) ||
             pricing.time(description, tiles, &heard).cycles < limit;
    };
  const auto needs = pricing.costs().watched_needs(lower(description), watch);
  if (!needs) return std::nullopt;
  Schedules schedules;
  std::size_t at = 0;
  for (const program::StepInfo& step : needs->steps) {
    if (step.kind != "exchange") continue;
    check(at < exchanges.size(), "plan: more than {} exchanges are scheduled", at);
    Scheduled& its = schedules[exchanges[at++]];
    if (step.exchange_makespan.count() >= its.makespan)
      its = {step.exchange_makespan.count(), step.exchange_ends};
  }
  check(at == exchanges.size(), "plan: {} exchanges of {} are scheduled", at, exchanges.size());
  estimate.memory = needs->memory.on_max;
  estimate.prediction = pricing.time(description, tiles, &schedules);
  return estimate;
}

program::CategoryBytes unscheduled(const Description& description, const MachineConfig& machine) {
  return program::needs(lower(description), machine, CountedLists()).memory.on_max;
}

Found priced(const Described& described, bool schedules, Pricing& pricing) {
  const auto& [description, tiles] = described;
  Found found;
  found.fits = true;
  found.prediction = pricing.time(description, tiles);
  found.memory = pricing.memory(description, tiles).value_or(program::CategoryBytes{});
  if (!schedules || all_pulls(description.steps(), tiles) > kMostPulls) return found;
  return *with_schedules(found, description, tiles, pricing);
}

}  // namespace tessera::plan
