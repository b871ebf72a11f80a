#include <exception>
#include <set>

#include "sim/base/errors.h"
#include "sim/base/types.h"
#include "sim/program/resource_choice.h"

namespace tessera {
namespace {

/// Numbers up to this are tried one by one, until one is slower than the best by a quarter: how
/// work divides among so few differs much.
constexpr std::uint32_t kEach = 8;

/// Larger numbers are halved; then those around the best are tried, in ever smaller steps.
class WorkerChoice {
 public:
  WorkerChoice(const Planning& plan, MachineCosts& costs) : plan_(plan), costs_(costs) {}

  std::unique_ptr<Workload> run() {
    const std::uint32_t all = costs_.machine().tile.contexts;
    consider(all, costs_);
    for (std::uint32_t workers = all / 2; workers > kEach; workers /= 2) consider(workers);
    for (std::uint32_t workers = kEach; workers > 0 && !much_slower_; --workers) consider(workers);
    if (!best_) std::rethrow_exception(refused_);
    constexpr std::uint32_t kFinest = 8;  // steps are no smaller a part of the best
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
    } catch (const UserError&) {
      if (!refused_) refused_ = std::current_exception();
      return;
    }
    if (best_) {
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
  bool much_slower_ = false;  ///< the last, of fewer than the best: still fewer are not tried
  std::exception_ptr refused_;
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
