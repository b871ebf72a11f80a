#include "sim/plan/search.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/machine/nodes.h"

namespace tessera::plan {

namespace {

/// Limit on pulls, summed over the plans that are scheduled for comparison.
constexpr std::uint64_t kMostPullsCompared = 1U << 19;
/// Limit on external-memory requests, per plan.
constexpr std::uint64_t kMostRequestsCompared = 150'000;

/// External transfers are estimated from parts, so kMoreOutside times as many finalists are
/// simulated.
constexpr std::size_t kMoreOutside = 4;

/// Upper limit on a finalist's estimate: 25 % above the best.
std::uint64_t limit(std::uint64_t best) { return best + best / 4; }

class Search {
 public:
  Search(const Space& space, Pricing& pricing)
      : space_(space),
        pricing_(pricing),
        room_(sram_bytes(pricing.machine().tile)),
        most_finalists_(space.finalists) {}

  Found run() {
    std::vector<std::size_t> order(space_.bounds.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return space_.bounds[a] < space_.bounds[b];
    });
    while (true) {
      misfits_.clear();
      doubtful_.clear();
      if (space_.alike)
        climb(order);
      else
        enumerate(order);
      if (const std::optional<Found> found = best()) return *found;
      if (finalists_.empty()) return closest();
      // All of them have longer lists than estimated.
      finalists_.clear();
      margin_ += room_ / 64;
    }
  }

 private:
  /// Called if no plan fits by its estimate: returns the one that needs least, or one that fits
  /// because its lists are shorter than estimated.
  Found closest() {
    constexpr std::size_t kAsked = 8;  // number of closest options, and of closest plans
    const std::size_t asked = std::min(misfits_.size(), kAsked);
    std::ranges::partial_sort(misfits_, misfits_.begin() + static_cast<std::ptrdiff_t>(asked));
    misfits_.resize(asked);
    for (const auto& [never, bytes, option] : misfits_) {
      if (bytes > kFarOver * room_)
        note_far(option, bytes);
      else
        note_least(option);
    }
    std::ranges::stable_sort(near_, {}, [&](const Found& found) { return least_bytes_of(found); });
    near_.resize(std::min(near_.size(), kAsked));
    for (Found& found : near_) {
      if (!may_fit(found)) continue;
      last_.reset();
      time(found);
      std::optional<Found> exact = compiled(found, scheduled_pulls(found).has_value(), UINT64_MAX);
      if (!exact) continue;
      exact->fits = true;
      return *exact;
    }
    return closest_;
  }

  /// Bytes with lists as short as possible: a third of their estimate.
  [[nodiscard]] std::uint64_t least_bytes_of(const Found& found) const {
    constexpr std::uint64_t kPart = 3;
    program::CategoryBytes memory = found.memory;
    memory[static_cast<std::size_t>(program::Category::exchange)] /= kPart;
    return in_sram(memory);
  }
  /// Order of plans that do not fit.
  [[nodiscard]] std::uint64_t rank(const Found& found) const {
    return program::total(found.memory) == 0 ? UINT64_MAX : least_bytes_of(found);
  }
  [[nodiscard]] bool may_fit(const Found& found) const {
    constexpr std::uint64_t kOver = 8;  // other estimates are at most 1 / kOver too high
    return within_if_short(found) || in_sram(found.memory) <= room() + room_ / kOver;
  }

  void enumerate(const std::vector<std::size_t>& order) {
    for (const std::size_t option : order) {
      if (!takes(space_.bounds[option])) return;
      consider(option);
    }
  }

  void climb(const std::vector<std::size_t>& order) {
    std::set<std::size_t> seen;
    const auto consider_new = [&](std::size_t option) {
      if (seen.insert(option).second) consider(option);
    };
    for (const std::size_t option : order) {
      if (2 * seen.size() >= space_.most_estimated) break;
      consider_new(option);
    }
    std::optional<std::size_t> centre;
    while (!finalists_.empty() && seen.size() < space_.most_estimated &&
           centre != finalists_.front().option) {
      centre = finalists_.front().option;
      for (const std::size_t option : space_.alike(*centre)) consider_new(option);
    }
  }

  /// Upper limit on a new finalist's cycles.
  [[nodiscard]] std::uint64_t most_cycles() const {
    if (finalists_.empty()) return kNoLimit;
    const std::uint64_t most = limit(finalists_.front().prediction.cycles);
    if (finalists_.size() < most_finalists_) return most;
    return std::min(most, finalists_.back().prediction.cycles - 1);
  }
  [[nodiscard]] bool takes(std::uint64_t cycles) const { return cycles <= most_cycles(); }

  void consider(std::size_t option) {
    last_.reset();
    const std::uint64_t least = space_.least_bytes ? space_.least_bytes(option) : 0;
    if (least + space_.reserved > room_) {
      misfits_.push_back({true, least, option});
      return;
    }
    Found found = variant(option, 0);
    bool timed = !finalists_.empty();
    // Further variants only take longer.
    if (timed && !takes(time(found, most_cycles()))) return;
    place(found);
    if (!within(found, most())) {
      doubt(found, timed);
      const Found last = last_variant(found);
      const std::optional<Found> later = first_within(found, last, most());
      if (!later) {
        misfits_.push_back({false, rank(least_of(found, last)), option});
        return;
      }
      found = *later;
      timed = false;
    }
    found.fits = true;
    if (!timed) time(found);
    if (takes(found.prediction.cycles)) add(finalists_, found);
  }

  /// Keeps a plan if it fits with lists shorter than estimated.
  void doubt(Found found, bool timed) {
    if (!space_.schedules || !within_if_short(found)) return;
    if (!timed) time(found);
    add(doubtful_, found);
  }

  static Found variant(std::size_t option, std::uint32_t number) {
    Found found;
    found.option = option;
    found.variant = number;
    return found;
  }

  /// Reads a variant's description; keeps the last one.
  const Described& described(const Found& found) {
    const std::pair plan(found.option, found.variant);
    if (!last_ || last_->first != plan) {
      last_.emplace(plan, space_.describe(found.option, found.variant));
      if (!last_->second.description.outers().empty())
        most_finalists_ = kMoreOutside * space_.finalists;
    }
    return last_->second;
  }

  std::uint64_t time(Found& found, std::uint64_t limit = kNoLimit) {
    const Described& of = described(found);
    found.prediction = pricing_.time(of.description, of.tiles, nullptr, limit);
    return found.prediction.cycles;
  }

  void place(Found& found) {
    const Described& of = described(found);
    found.memory = pricing_.memory(of.description, of.tiles).value_or(program::CategoryBytes{});
  }
  Found placed(std::size_t option, std::uint32_t number) {
    Found found = variant(option, number);
    place(found);
    return found;
  }
  [[nodiscard]] std::uint64_t bytes(const Found& found) const {
    const std::uint64_t all = in_sram(found.memory);
    return all == 0 ? UINT64_MAX : all;
  }
  [[nodiscard]] std::uint64_t in_sram(const program::CategoryBytes& memory) const {
    return program::as_sram(memory, pricing_.machine().tile);
  }

  /// Limits on a plan's bytes: exact bytes, and estimated bytes.
  [[nodiscard]] std::uint64_t room() const { return room_ - std::min(room_, space_.reserved); }
  [[nodiscard]] std::uint64_t most() const { return room() - std::min(room(), margin_); }
  [[nodiscard]] bool within(const Found& found, std::uint64_t most) const {
    return bytes(found) <= most;
  }
  [[nodiscard]] bool within_if_short(const Found& found) const {
    return program::total(found.memory) > 0 && least_bytes_of(found) + space_.reserved <= room_;
  }

  /// Notes the first variant of an option that does not fit, and variants that need even less.
  void note_least(std::size_t option) {
    const Found first = placed(option, 0);
    std::uint64_t least = bytes(first);
    note(first);
    const Found last = last_variant(first);
    note_below(least, last);
    note_between(least, first, last);
  }

  /// Notes the variants between these that need less than `least` and than those before them.
  void note_between(std::uint64_t& least, const Found& low, const Found& high) {
    if (high.variant <= low.variant + 1 || in_sram(least_of(low, high).memory) >= least) return;
    const Found middle = between(low, high);
    note_below(least, middle);
    note_between(least, low, middle);
    note_between(least, middle, high);
  }

  void note_below(std::uint64_t& least, const Found& found) {
    if (bytes(found) >= least) return;
    note(found);
    least = bytes(found);
  }

  void note(const Found& found) {
    if (program::total(found.memory) > 0) near_.push_back(found);
    if (in_sram(found.memory) >= closest_bytes_) return;
    closest_bytes_ = in_sram(found.memory);
    closest_ = found;
  }

  /// Notes an option too large to be placed: its steps may exceed the host's memory.
  void note_far(std::size_t option, std::uint64_t least) {
    if (least >= closest_bytes_) return;
    closest_bytes_ = least;
    closest_ = variant(option, 0);
    closest_.memory[static_cast<std::size_t>(program::Category::tensors)] = least;
  }

  [[nodiscard]] std::uint32_t variants(std::size_t option) const {
    return space_.variants ? space_.variants(option) : 1;
  }

  /// The last variant, placed: `first` if it is the only one.
  Found last_variant(const Found& first) {
    const std::uint32_t last = variants(first.option) - 1;
    return last == first.variant ? first : placed(first.option, last);
  }

  /// The first variant with at most `most` bytes in (`low`, `high`]; `low` has more.
  std::optional<Found> first_within(const Found& low, const Found& high, std::uint64_t most) {
    if (in_sram(least_of(low, high).memory) > most) return std::nullopt;
    if (high.variant <= low.variant + 1)
      return within(high, most) ? std::optional(high) : std::nullopt;
    const Found middle = between(low, high);
    const std::optional<Found> first = first_within(low, middle, most);
    return first ? first : first_within(middle, high, most);
  }

  Found between(const Found& low, const Found& high) {
    return placed(low.option, low.variant + (high.variant - low.variant) / 2);
  }

  /// Lower bound on bytes of all variants between: each category is monotonic over variants.
  static Found least_of(const Found& low, const Found& high) {
    Found least = low;
    for (std::size_t category = 0; category < low.memory.size(); ++category)
      least.memory[category] = std::min(low.memory[category], high.memory[category]);
    return least;
  }

  static bool faster(const Found& a, const Found& b) {
    return a.prediction.cycles < b.prediction.cycles;
  }

  void add(std::vector<Found>& best, const Found& found) const {
    best.insert(std::upper_bound(best.begin(), best.end(), found, faster), found);
    if (best.size() > most_finalists_) best.pop_back();
  }

  /// The best plan, priced with all its external transfers.
  std::optional<Found> best() {
    pricing_.carry_out(kMostRequestsCompared);
    std::optional<Found> best = fastest();
    pricing_.carry_out(kMostRequests);
    if (!best || described(*best).description.outers().empty() || !scheduled_pulls(*best))
      return best;
    std::optional<Found> exact = compiled(*best, true, UINT64_MAX);
    exact->fits = true;
    return exact;
  }

  /// The fastest plan among those that fit as programs of all tiles and are few enough to be
  /// scheduled. Estimated times are lower bounds, except where bounds are only expected values.
  /// Nothing if none fits.
  std::optional<Found> fastest() {
    std::optional<Found> best;
    std::uint64_t compared = 0;
    for (const std::vector<Found>* plans : {&finalists_, &doubtful_}) {
      for (const Found& plan : *plans) {
        if (best && plan.prediction.cycles >= best->prediction.cycles && !space_.alike) break;
        last_.reset();
        const std::optional<std::uint64_t> scheduled = scheduled_pulls(plan);
        compared += scheduled.value_or(0);
        if (best && (!scheduled || compared > kMostPullsCompared)) break;
        std::optional<Found> exact =
            compiled(plan, scheduled.has_value(), best ? best->prediction.cycles : UINT64_MAX);
        if (!exact) continue;
        exact->fits = true;
        if (!scheduled) return exact;
        if (!best || exact->prediction.cycles < best->prediction.cycles) best = exact;
      }
    }
    return best;
  }

  /// Pulls of a plan whose exchanges are to be scheduled; nothing if they are only estimated.
  std::optional<std::uint64_t> scheduled_pulls(const Found& found) {
    if (!space_.schedules || !pricing_.costs().schedules()) return std::nullopt;
    const Described& of = described(found);
    const std::uint64_t all = all_pulls(of.description.steps(), of.tiles);
    return all <= kMostPulls ? std::optional(all) : std::nullopt;
  }

  /// True if the plan's estimate is so small that it fits with lists of any length.
  [[nodiscard]] bool fits_by_far(const Found& estimate) const {
    const std::uint64_t bytes = in_sram(estimate.memory);
    return bytes > 0 && bytes + bytes / 4 + space_.reserved <= room_;
  }

  /// The compiled plan; nothing if it does not fit, or if scheduled and not below `limit` cycles.
  std::optional<Found> compiled(const Found& estimate, bool schedules, std::uint64_t limit) {
    if (!schedules && fits_by_far(estimate)) return estimate;
    const Described& of = described(estimate);
    const bool in_doubt = !within(estimate, room());
    if (in_doubt && !pricing_.has_room(of.description, of.tiles, space_.reserved))
      return std::nullopt;
    try {
      // Counting lists is faster than scheduling.
      if (in_doubt && schedules) static_cast<void>(unscheduled(of.description, pricing_.machine()));
      if (schedules) return with_schedules(estimate, of.description, of.tiles, pricing_, limit);
      Found exact = estimate;
      exact.memory = unscheduled(of.description, pricing_.machine());
      if (in_sram(exact.memory) + space_.reserved <= room_) return exact;
    } catch (const UserError&) {  // it does not fit
    }
    return std::nullopt;
  }

  const Space& space_;
  Pricing& pricing_;
  std::uint64_t room_;  ///< bytes of a tile
  std::size_t most_finalists_;
  std::uint64_t margin_ = 0;      ///< reserved for lists longer than estimated
  std::vector<Found> finalists_;  ///< least predicted cycles first
  std::vector<Found> doubtful_;   ///< likewise: plans that fit only with shorter lists
  /// An option that does not fit by its estimate. Those that never fit sort last.
  struct Misfit {
    bool never;           ///< it exceeds the memory even with the shortest lists
    std::uint64_t bytes;  ///< minimum need if `never`, else lower bound of rank()
    std::size_t option;
    auto operator<=>(const Misfit&) const = default;
  };
  std::vector<Misfit> misfits_;
  std::uint64_t closest_bytes_ = UINT64_MAX;
  Found closest_;
  std::vector<Found> near_;  ///< candidates for closest_
  std::optional<std::pair<std::pair<std::size_t, std::uint32_t>, Described>> last_;
};

}  // namespace

void Described::add(std::span<const Tile> more) {
  for (const Tile tile : more) add_once(tiles, tile);
}

Found search(const Space& space, Pricing& pricing) { return Search(space, pricing).run(); }

}  // namespace tessera::plan
