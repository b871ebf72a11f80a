#include <algorithm>
#include <bit>
#include <exception>
#include <set>

#include "sim/base/errors.h"
#include "sim/base/types.h"
#include "sim/program/resource_choice.h"

namespace tessera {

namespace {

/// For longer runs (cycles x tiles) planning again costs more than fewer tiles may save.
constexpr std::uint64_t kMostTileCycles = std::uint64_t{1} << 23;
/// Minimum share (1 / n) of exchanges and barriers to try fewer tiles; to try one, if there are
/// few.
constexpr std::uint64_t kLeastShare = 4, kLeastShareAlone = 16;

/// 1 / n slower counts as much worse.
constexpr std::uint64_t kMuchWorse = 8;
/// Limit on consecutive numbers that are no better.
constexpr std::uint32_t kMostInVain = 6;
/// Up to this number of tiles, one tile may be better than all numbers between.
constexpr std::uint32_t kFewTiles = 16;

/// Tries numbers with few set bits (they have many divisors), largest first, until one is much
/// worse than the best or kMostInVain are no better; then smaller powers of two. One tile, which
/// exchanges nothing, is tried last: if some were no better, or if the machine has few tiles.
class TileChoice {
 public:
  TileChoice(const Planning& plan, MachineCosts& costs) : plan_(plan), costs_(costs) {}

  std::unique_ptr<Workload> run() {
    best_ = plan_(costs_);
    std::uint32_t tiles = costs_.machine().tiles;
    const bool alone = tiles <= kFewTiles && may_pay(kLeastShareAlone);
    if (may_pay(kLeastShare)) {
      do tiles = next(tiles);
      while (tiles > 0 && consider(tiles));
    }
    const bool in_vain = in_vain_ == kMostInVain;
    if (in_vain) consider_halves(tiles);
    if (tiles > 1 && (alone || in_vain)) consider(1);
    if (tiles_ > 0) best_->use_tiles(tiles_);
    return std::move(best_);
  }

 private:
  [[nodiscard]] bool may_pay(std::uint64_t least_share) const {
    const Prediction& all = best_->prediction();
    const std::uint64_t moving = all.exchange_cycles + all.sync_cycles;
    // Not for stream programs: they name nodes after the tiles.
    return costs_.machine().fabric.kind != "streams" && least_share * moving >= all.cycles &&
           all.cycles > 0 && all.cycles <= kMostTileCycles / costs_.machine().tiles;
  }

  /// Clears the lowest set bit, in steps of at most an eighth of the highest.
  static std::uint32_t next(std::uint32_t tiles) {
    constexpr std::uint32_t kParts = 8;
    const std::uint32_t lowest = tiles & (~tiles + 1);
    return tiles - std::min(lowest, std::max(std::bit_floor(tiles - 1) / kParts, 1U));
  }

  /// Tries smaller powers of two: if travel times are long, far fewer tiles may be better.
  void consider_halves(std::uint32_t tiles) {
    if (tiles < 2) return;
    for (tiles = std::bit_floor(tiles - 1); tiles > 1; tiles /= 2) consider(tiles);
  }

  /// Tries a number of tiles. True if still fewer may be better.
  bool consider(std::uint32_t tiles) {
    const std::unique_ptr<MachineCosts> costs = costs_.with_tiles(tiles);
    std::unique_ptr<Workload> planned;
    try {
      planned = plan_(*costs);
    } catch (const UserError&) {
      return false;
    }
    const std::uint64_t best = best_->prediction().cycles;
    const std::uint64_t cycles = planned->prediction().cycles;
    if (planned->bytes_over() > best_->bytes_over()) return false;
    if (planned->useful_work() != best_->useful_work()) return false;
    if (cycles >= best) return ++in_vain_ < kMostInVain && cycles <= best + best / kMuchWorse;
    in_vain_ = 0;
    best_ = std::move(planned);
    tiles_ = tiles;
    return true;
  }

  const Planning& plan_;
  MachineCosts& costs_;
  std::unique_ptr<Workload> best_;
  std::uint32_t tiles_ = 0;  ///< 0: all
  std::uint32_t in_vain_ = 0;
};

}  // namespace

std::unique_ptr<Workload> plan_for_tiles(const Planning& plan, MachineCosts& costs,
                                         std::uint32_t pinned) {
  if (pinned == 0) return TileChoice(plan, costs).run();
  const std::uint32_t all = costs.machine().tiles;
  if (costs.machine().fabric.kind == "streams" && pinned != all)
    throw KeyError("workload.used_tiles",
                   "found {}, allowed 0 or all {} with machine.fabric.kind streams", pinned, all);
  if (pinned > all)
    throw KeyError("workload.used_tiles", "found {}, allowed 0 to {} (tiles of the machine)",
                   pinned, all);
  if (pinned == all) return plan(costs);
  std::unique_ptr<Workload> planned = plan(*costs.with_tiles(pinned));
  planned->use_tiles(pinned);
  return planned;
}

std::unique_ptr<Workload> plan_for_machine(const Planning& plan, MachineCosts& costs,
                                           std::uint32_t pinned_tiles) {
  std::uint32_t workers = 0;
  const Planning with_workers = [&](MachineCosts& of) {
    std::unique_ptr<Workload> made = plan_for_workers(plan, of, workers);
    if (workers == 0) workers = made->workers() > 0 ? made->workers() : of.machine().tile.contexts;
    return made;
  };
  return plan_for_tiles(with_workers, costs, pinned_tiles);
}

namespace {

/// Numbers up to this are all tried, until one is a quarter slower than the best: work division
/// among few workers varies much.
constexpr std::uint32_t kEach = 8;

/// Tries larger numbers by halving, then numbers around the best in ever smaller steps.
class WorkerChoice {
 public:
  WorkerChoice(const Planning& plan, MachineCosts& costs) : plan_(plan), costs_(costs) {}

  std::unique_ptr<Workload> run() {
    const std::uint32_t all = costs_.machine().tile.contexts;
    consider(all, costs_);
    for (std::uint32_t workers = all / 2; workers > kEach; workers /= 2) consider(workers);
    for (std::uint32_t workers = kEach; workers > 0 && !much_slower_; --workers) consider(workers);
    // A pinned plan may hold for one number alone.
    for (std::uint32_t workers = all; workers > 0 && !best_ && key_refused_; --workers)
      consider(workers);
    if (!best_) std::rethrow_exception(refused_);
    constexpr std::uint32_t kFinest = 8;  // smallest step: an eighth of the best
    for (std::uint32_t step = ceil_div(workers_, 2U); step * kFinest >= workers_; step /= 2) {
      const std::uint32_t centre = workers_;
      consider(centre + step);
      consider(centre - step);
    }
    if (workers_ < all) best_->start_workers(workers_);
    return std::move(best_);
  }

 private:
  void consider(std::uint32_t workers) {
    if (workers == 0 || workers > costs_.machine().tile.contexts || tried_.contains(workers))
      return;
    if (const std::unique_ptr<MachineCosts> costs = costs_.with_workers(workers))
      consider(workers, *costs);
  }

  void consider(std::uint32_t workers, MachineCosts& costs) {
    tried_.insert(workers);
    std::unique_ptr<Workload> planned;
    try {
      planned = plan_(costs);
    } catch (const UserError& error) {
      if (!refused_) key_refused_ = dynamic_cast<const KeyError*>(&error) != nullptr;
      if (!refused_) refused_ = std::current_exception();
      return;
    }
    if (best_ && planned->bytes_over() > best_->bytes_over()) return;
    if (best_ && planned->bytes_over() == best_->bytes_over()) {
      const std::uint64_t best = best_->prediction().cycles;
      const std::uint64_t cycles = planned->prediction().cycles;
      much_slower_ = workers < workers_ && cycles > best + best / 4;
      if (planned->useful_work() != best_->useful_work() || cycles >= best) return;
    }
    best_ = std::move(planned);
    workers_ = workers;
  }

  const Planning& plan_;
  MachineCosts& costs_;
  std::set<std::uint32_t> tried_;
  std::unique_ptr<Workload> best_;
  std::uint32_t workers_ = 0;
  bool much_slower_ = false;    ///< the last, smaller number: do not try still fewer
  std::exception_ptr refused_;  ///< the first refusal
  bool key_refused_ = false;    ///< it was one of a key, such as a pinned plan's
};

}  // namespace

std::unique_ptr<Workload> plan_for_workers(const Planning& plan, MachineCosts& costs,
                                           std::uint32_t number) {
  if (number == 0) return WorkerChoice(plan, costs).run();
  if (number == costs.machine().tile.contexts) return plan(costs);
  std::unique_ptr<Workload> planned = plan(*costs.with_workers(number));
  planned->start_workers(number);
  return planned;
}

}  // namespace tessera
