#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "sim/base/errors.h"
#include "sim/plan/lower.h"
#include "sim/plan/search.h"
#include "sim/plan/sent_streams.h"

namespace tessera::plan {
std::uint64_t all_pulls(const Sequence& steps, std::span<const Tile> tiles) {
  std::uint64_t sum = 0;
  for (const Exchange* exchange : exchanges_of(steps)) {
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
  const std::vector<const Exchange*> exchanges = exchanges_of(description.steps());
  Schedules heard;
  auto next = [&, at = exchanges.begin()]() mutable {
    while (at != exchanges.end() && heard.contains(*at)) ++at;
    check(at != exchanges.end(), "plan: more than {} exchanges are scheduled", heard.size());
    return *at;
  };
  program::Watch watch;
  // Pricing simulates external transfers and may take as long as several schedules.
  if (limit < UINT64_MAX && description.outers().empty())
    watch = [&, next](const program::ExchangeUsage& usage) mutable {
      heard[next()] = {usage.makespan.count(), usage.ends};
      return !std::has_single_bit(heard.size()) ||
             pricing.time(description, tiles, &heard).cycles < limit;
    };
  auto program = std::make_shared<program::Program>(lower(description));
  const auto usage = pricing.costs().watched_usage(*program, watch);
  if (!usage) return std::nullopt;
  Schedules schedules;
  std::size_t at = 0;
  for (const program::StepInfo& step : usage->steps) {
    if (step.kind != "exchange") continue;
    check(at < exchanges.size(), "plan: more than {} exchanges are scheduled", at);
    Scheduled& its = schedules[exchanges[at++]];
    if (step.exchange_makespan.count() >= its.makespan)
      its = {step.exchange_makespan.count(), step.exchange_ends};
  }
  check(at == exchanges.size(), "plan: {} exchanges of {} are scheduled", at, exchanges.size());
  estimate.program = std::move(program);
  estimate.memory = usage->memory.on_max;
  estimate.prediction = pricing.time(description, tiles, &schedules);
  return estimate;
}

program::CategoryBytes unscheduled(const Description& description, const MachineConfig& machine) {
  return program::resource_usage(lower(description), machine, CountedLists()).memory.on_max;
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
