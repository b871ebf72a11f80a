#include "kernels/spmm_static/looks.h"

#include <algorithm>

#include "kernels/spmm_static/work_list.h"
#include "sim/base/counted.h"
#include "sim/base/errors.h"

namespace tessera::spmm_static {

Partition Looks::partition(const Cuts& cuts) const {
  Partition partition = make_partition(w_, problem_.shape, n_, cost_.machine().tiles, cuts,
                                       cost_.elements(), around_.x);
  partition.code_bytes = cost_.code_bytes();
  if (cuts.sums == Sums::placed) partition.placement = policy_.placement();
  return partition;
}

void Looks::look(Partition partition, const Cuts& cuts, bool anyway) {
  if (partition.parts.empty()) return;
  if (program::total(tile_memory(partition)) > room()) {
    if (!closest_) closest_ = cuts;
    return;
  }
  if (!places_fit(partition)) {
    unnamed_ = cuts;
    return;
  }
  const Prediction prediction = cost_.predict(partition);
  fitting_.emplace_back(prediction.cycles, cuts);
  const auto after = std::upper_bound(
      plans_.begin(), plans_.end(), prediction.cycles,
      [](std::uint64_t cycles, const Plan& plan) { return cycles < plan.prediction.cycles; });
  if (after == plans_.begin()) best_cuts_ = cuts;
  const std::size_t most = most_plans(partition);
  const auto place = static_cast<std::size_t>(after - plans_.begin());
  if (place >= most && !(anyway && most > 1)) return;
  plans_.insert(after, {pinned_.algorithm, std::move(partition), prediction});
  if (plans_.size() > most && !anyway) plans_.pop_back();
}

/// One where exchanges are not scheduled: with many copies that takes long, and their estimates
/// miss least.
std::size_t Looks::most_plans(const Partition& partition) const {
  constexpr std::size_t kMost = 3;
  constexpr std::uint64_t kMostCopies = 3'000;
  if (!around_.scheduled) return 1;
  std::uint64_t copies = 0;
  for (const Part& part : partition.parts)
    for (const Share& share : partition.layer(part).shares)
      copies += share.columns.size() + share.rows.size();
  return copies <= kMostCopies ? kMost : 1;
}

/// Of the best by estimate the best with scheduled exchanges; null if none fits so.
Plan* Looks::scheduled() {
  Plan* best = nullptr;
  for (Plan& plan : plans_) {
    if (most_plans(plan.partition) == 1) continue;
    try {
      plan.prediction = around_.scheduled(plan.partition, plan.prediction);
      if (best == nullptr || plan.prediction.cycles < best->prediction.cycles) best = &plan;
    } catch (const UserError&) {
      continue;  // estimates of memory leave out how a schedule cuts its streams
    }
  }
  return best;
}

/// Whether the estimate leaves so much room that a schedule's lists go in whatever it cuts.
bool Looks::roomy(const Partition& partition) const {
  constexpr double kSure = 0.85;
  return static_cast<double>(program::total(tile_memory(partition))) <=
         kSure * static_cast<double>(room());
}

/// The first by estimate of all that were looked at that fits with scheduled exchanges; nothing if
/// none does.
std::optional<Plan> Looks::first_scheduled() {
  std::stable_sort(fitting_.begin(), fitting_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [cycles, cuts] : fitting_) {
    Plan plan{pinned_.algorithm, partition(cuts), {}};
    plan.prediction = cost_.predict(plan.partition);
    try {
      const Prediction exact = around_.scheduled(plan.partition, plan.prediction);
      if (most_plans(plan.partition) > 1) plan.prediction = exact;
      return plan;
    } catch (const UserError&) {
      continue;
    }
  }
  return std::nullopt;
}

Plan Looks::chosen() {
  Plan& first = plans_.front();
  const bool few = most_plans(first.partition) > 1;
  const bool sure = fitting_.size() == 1 || roomy(first.partition);
  if (!around_.scheduled || (!few && sure)) return std::move(first);
  if (Plan* const best = few ? scheduled() : nullptr) return std::move(*best);
  return first_scheduled().value_or(first);
}

Plan Looks::take(std::uint64_t budget, const char* whose) {
  if (!plans_.empty()) return chosen();
  std::string what =
      fmt::format("{}: {} x {} with {} of {} times {} does not fit {}", around_.kernel, w_.rows,
                  w_.columns, counted(w_.blocks(), "block"), w_.block, counted(n_, "column"),
                  counted(cost_.machine().tiles, "tile"));
  if (unnamed_) {
    throw UserError(fmt::format(
        "{}: with {} parts and {} bands a tile needs more than 65536 words of X, which is what "
        "work lists of 16-bit numbers can name",
        what, unnamed_->parts, unnamed_->bands));
  }
  if (!closest_) throw UserError(what + ": its bands and intervals need more tiles");
  what +=
      fmt::format("; of the closest plan, {} parts and {} bands", closest_->parts, closest_->bands);
  const program::CategoryBytes need = tile_memory(partition(*closest_), around_.beside);
  if (program::total(need) <= room() + around_.beside) {
    throw UserError(fmt::format("{}: tile 0 needs {} bytes, and {} to {}", what,
                                program::total(need), whose, budget));
  }
  throw UserError(program::overflow_message(what, {&need, 1}, cost_.machine()));
}

}  // namespace tessera::spmm_static
