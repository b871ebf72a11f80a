#include "kernels/snn/program.h"
#include "kernels/training/matrix.h"

/// The way back through time; states of all steps are there, or computed again from checkpoints, a
/// stretch of steps at a time.
namespace tessera::snn {

/// Every so many steps states are put aside, as they are before the step.
void ProgramBuilder::add_checkpoints(ComputeSet& set) {
  for (std::uint32_t l = 0; l < neurons_.size(); ++l) {
    if (!recomputes(l)) continue;
    for (const Neurons& tile : neurons_[l])
      set.vertices.push_back(all(tile.tile, "snn_save",
                                 {Place{tile.states}, Place{tile.checkpoints}, slot_bytes(tile, l),
                                  Place{clocks_.at(tile.tile)}, plan_.checkpoint_steps}));
  }
}

void ProgramBuilder::add_way_back() {
  const std::uint32_t stretch = plan_.checkpoint_steps;
  if (stretch == 0) return repeat(options_.time_steps, [this] { add_backward(); });
  // The last stretch may be shorter; it comes first.
  if (options_.time_steps % stretch != 0) add_segment(options_.time_steps % stretch);
  if (options_.time_steps >= stretch)
    repeat(options_.time_steps / stretch, [&] { add_segment(stretch); });
}

/// `steps` steps of which the clock shows the last one: forth from their checkpoint, without
/// looking for spikes, as lists are stored; then back.
void ProgramBuilder::add_segment(std::uint32_t steps) {
  ComputeSet begin{"to checkpoint", {}};
  add_ticks(begin, ~0U, 1 - steps);
  add_place_ticks(begin, 0, 0);
  Exchange lists{"spikes again", {}};
  ComputeSet again{"states again", {}};
  for (std::uint32_t l = 0; l < neurons_.size(); ++l) {
    if (!recomputes(l)) continue;
    receive(lists, l);
    for (const Neurons& tile : neurons_[l]) {
      begin.vertices.push_back(
          all(tile.tile, "snn_restore",
              {Place{tile.states}, Place{tile.checkpoints}, slot_bytes(tile, l),
               Place{clocks_.at(tile.tile)}, plan_.checkpoint_steps}));
      again.vertices.push_back(update(tile, l, {places_.at(tile.tile)}, ~0U));
    }
  }
  ComputeSet turn{"turn again", {}};
  for (ComputeSet* const set : {&again, &turn}) {
    add_ticks(*set, ~0U, set == &again ? 1 : ~0U);
    add_place_ticks(*set, ~0U, set == &again ? 1 : ~0U);
  }
  for (VectorId v = 0; v < homes_.size(); ++v)
    for (const Home& home : homes_[v])
      for (ComputeSet* const set : {&begin, &again, &turn})
        if (listed(v)) set->vertices.push_back(fetch(home, home.list, v, 0));
  add_step(std::move(begin));
  repeat(steps, [&] {
    add_step(std::move(lists));
    add_step(std::move(again));
  });
  add_step(std::move(turn));
  repeat(steps, [this] { add_backward(); });
}

/// Which of the states at hand belong to the clock's step.
void ProgramBuilder::add_place_ticks(ComputeSet& set, std::uint32_t keep, std::uint32_t change) {
  for (const auto& [tile, place] : places_)
    set.vertices.push_back(one(tile, "snn_tick", {Place{place}, keep, change}));
}

}  // namespace tessera::snn
