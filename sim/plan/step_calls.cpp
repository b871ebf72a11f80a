#include "sim/plan/step_calls.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tessera::plan {
namespace {

/// True if the time of some of these calls depends on expected data.
bool expects(const Description& description, const std::vector<Call>& calls) {
  return std::any_of(calls.begin(), calls.end(), [&](const Call& call) {
    const std::vector<program::Argument>& arguments = call.vertex.arguments;
    return std::any_of(arguments.begin(), arguments.end(), [&](const program::Argument& argument) {
      const auto* place = std::get_if<Place>(&argument);
      return place != nullptr && description.array(place->buffer).expected;
    });
  });
}

/// Maximum tiles on which calls are run.
constexpr std::size_t kMostTiles = 256;

/// Calls of one step are measured together up to kMostTogether of them, and only if their mean is
/// at most kShort times a superstep's control code: the saving is less than that code.
constexpr std::size_t kMostTogether = 64;
constexpr std::uint64_t kShort = 1'000;

bool has_estimate(const Call& call) { return call.cycles || call.function != nullptr; }

}  // namespace

std::uint64_t Pricing::StepCalls::cycles(const Compute& set) {
  std::vector<std::uint64_t> most(description_.moments());
  for (const Tile tile : standing_for(set)) {
    Calls calls;
    set.calls(tile, calls);
    const bool changes = expects(description_, calls.all());
    std::uint64_t its = 0;
    for (std::uint32_t moment = 0; moment < most.size(); ++moment) {
      if (changes || moment == 0) its = cycles(calls.all(), tile, moment);
      most[moment] = std::max(most[moment], its);
    }
  }
  return std::accumulate(most.begin(), most.end(), most.size() / 2) / most.size();
}

/// The tiles to price. `closely`: also the tile with the largest estimate, or all such tiles if
/// calls are run.
std::vector<Tile> Pricing::StepCalls::standing_for(const Compute& set) {
  std::vector<Tile> all;
  for (const Tile tile : tiles_)
    if (tile < set.tiles) all.push_back(tile);
  if (!closely_) return all;
  const std::vector<std::uint64_t>& each = estimates(set).by_tile;
  std::vector<Tile> order(each.size());
  std::iota(order.begin(), order.end(), Tile{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](Tile tile) { return each[tile]; });
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < std::min(order.size(), kMostTiles); ++i) {
    sum += each[order[i]];
    if (i > 0 && sum > kMostMeasured) break;
    if (std::ranges::find(all, order[i]) == all.end()) all.push_back(order[i]);
    Calls calls;
    set.calls(order[i], calls);
    if (!pricing_.costs_.workers_compete() ||
        std::ranges::none_of(calls.all(), [&](const Call& call) { return runs(call); }))
      break;
  }
  return all;
}

std::uint64_t Pricing::StepCalls::estimate(const Call& call) {
  return call.cycles ? *call.cycles : pricing_.call(description_, *call.function, call.sizes);
}

const Pricing::StepCalls::Estimates& Pricing::StepCalls::estimates(const Compute& set) {
  const auto [known, is_new] = estimates_.try_emplace(&set);
  Estimates& its = known->second;
  if (!is_new) return its;
  for (Tile tile = 0; tile < set.tiles; ++tile) {
    Calls calls;
    set.calls(tile, calls);
    std::uint64_t& sum = its.by_tile.emplace_back(0);
    for (const Call& call : calls.all()) {
      if (has_estimate(call))
        sum += estimate(call);
      else
        its.of_all = false;
    }
    if (!its.of_all && sum == 0) break;
  }
  return its;
}

std::vector<std::uint64_t> Pricing::StepCalls::by_tile(const Compute& set) {
  const Estimates& known = estimates(set);
  if (known.of_all) return known.by_tile;
  if (set.tiles > kMostTiles) return {};
  std::vector<std::uint64_t> all;
  std::uint64_t sum = 0;
  for (Tile tile = 0; tile < set.tiles; ++tile) {
    Calls calls;
    set.calls(tile, calls);
    if (expects(description_, calls.all())) return {};
    sum += all.emplace_back(cycles(calls.all(), tile, 0));
    if (sum > kMostMeasured) return {};
  }
  return all;
}

/// True if the call is run instead of estimated.
bool Pricing::StepCalls::runs(const Call& call) {
  if (!has_estimate(call)) return true;
  return closely_ && call.held && estimate(call) <= kMostMeasured;
}

/// True if calls take notably less time together than one by one.
bool Pricing::StepCalls::saves(const std::vector<Call>& calls) {
  if (!closely_ || calls.size() < 2 || calls.size() > kMostTogether) return false;
  std::uint64_t sum = 0;
  for (const Call& call : calls) {
    if (call.function == nullptr || runs(call)) return false;
    sum += estimate(call);
  }
  return sum <= kShort * calls.size() * pricing_.steps_.superstep_cycles();
}

std::uint64_t Pricing::StepCalls::cycles(const std::vector<Call>& calls, Tile tile,
                                         std::uint32_t moment) {
  if (saves(calls)) return pricing_.together(description_, calls);
  std::uint64_t sum = 0;
  std::vector<const Call*> run;
  for (const Call& call : calls) {
    if (runs(call))
      run.push_back(&call);
    else if (call.cycles)
      sum += *call.cycles;
    else
      sum += pricing_.call(description_, *call.function, call.sizes, closely_);
  }
  return run.empty() ? sum : sum + pricing_.measured(description_, tile, run, moment);
}

}  // namespace tessera::plan
