#include "kernels/spmm_static/looks.h"

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

void Looks::look(Partition partition, const Cuts& cuts) {
  if (partition.parts.empty()) return;
  if (program::total(tile_memory(partition)) > room()) {
    if (!closest_) closest_ = cuts;
  } else if (!places_fit(partition)) {
    unnamed_ = cuts;
  } else {
    const Prediction prediction = cost_.predict(partition);
    if (best_ && best_->prediction.cycles <= prediction.cycles) return;
    best_ = Plan{pinned_.algorithm, cuts.dealing, cuts.sums, std::move(partition), prediction};
    best_cuts_ = cuts;
  }
}

Plan Looks::take(std::uint64_t budget, const char* whose) {
  if (best_) return *std::move(best_);
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
