#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/snn/program.h"
#include "kernels/training/learning.h"
#include "sim/elf/codelet.h"
#include "sim/plan/description.h"

/// The program of a network whose spikes are lists: turns of training, then turns of testing; a
/// turn is a batch.
namespace tessera::snn {

using plan::Tile;
using training::Arguments;

/// Neurons of a layer on a tile.
struct Neurons {
  std::uint32_t layer = 0, begin = 0, end = 0;

  [[nodiscard]] std::uint32_t count() const { return end - begin; }
  [[nodiscard]] std::uint32_t pairs() const { return ceil_div(count(), 2U); }
};

/// The neurons, lists and sums of each tile, and their bytes. A vector's homes are the tiles that
/// hold the lists of its samples; its sites, `spread` per sample, are those that search for spikes.
class Layout : public Subject {
 public:
  Layout(const Subject& subject, Plan its_plan);

  /// Null: none, or the machine has no such tile.
  [[nodiscard]] const Neurons* neurons(Tile tile) const {
    return tile < neurons_.size() && neurons_[tile] ? &*neurons_[tile] : nullptr;
  }
  /// The neurons of the pair's other tile, whose lists this tile receives too so that the pair
  /// receives at twice the rate; null: none.
  [[nodiscard]] const Neurons* listens_for(Tile tile) const;
  [[nodiscard]] Interval sites(VectorId vector, Tile tile) const;
  [[nodiscard]] Interval homes(VectorId vector, Tile tile) const;
  /// Calls visit(sample, place on the tile) for the samples whose lists a tile holds.
  template <class Visit>
  void for_homes(VectorId vector, Tile tile, const Visit& visit) const {
    const Interval its = homes(vector, tile);
    for (std::uint64_t b = its.begin; b < its.end; ++b) visit(word(b), b - its.begin);
  }
  /// Calls visit(vector, sample, place) for the lists that a tile holds, of vectors from `first`
  /// on.
  template <class Visit>
  void for_lists(VectorId first, Tile tile, const Visit& visit) const {
    for (VectorId v = first; v < vector_count(); ++v)
      if (listed(v))
        for_homes(v, tile, [&](std::uint32_t b, std::uint64_t slot) { visit(v, b, slot); });
  }
  /// Calls visit(vector, site, place) for the sites on a tile of all vectors.
  template <class Visit>
  void for_sites(Tile tile, const Visit& visit) const {
    for (VectorId v = 1; v < vector_count(); ++v) {
      const Interval its = listed(v) ? sites(v, tile) : Interval{0, 0};
      for (std::uint64_t site = its.begin; site < its.end; ++site) visit(v, site, site - its.begin);
    }
  }
  /// Calls visit(number of the reduction, sum, place) for the sums of groups on a tile.
  template <class Visit>
  void for_group_sums(Tile tile, const Visit& visit) const {
    for (std::size_t r = 0; r < plan.reductions.size(); ++r) {
      const Interval its = group_sums(plan.reductions[r], tile);
      for (std::uint64_t sum = its.begin; sum < its.end; ++sum) visit(r, sum, sum - its.begin);
    }
  }
  [[nodiscard]] Tile home(VectorId vector, std::uint32_t sample) const {
    return plan.home(vector, sample);
  }
  /// Sums of a reduction on a tile: group * batch + sample.
  [[nodiscard]] Interval group_sums(const Reduction& reduction, Tile tile) const;
  /// True if a tile has work in time steps.
  [[nodiscard]] bool works(Tile tile) const;

  [[nodiscard]] VectorId vector_count() const { return word(plan.lists.size()); }
  [[nodiscard]] VectorId last() const { return vector_count() - 1; }
  [[nodiscard]] std::uint32_t batch() const { return plan.batch; }
  [[nodiscard]] std::uint32_t steps() const { return options.time_steps; }
  [[nodiscard]] std::uint32_t contexts() const { return machine.tile.contexts; }
  [[nodiscard]] const Layer& layer(const Neurons& its) const { return network.layers[its.layer]; }
  [[nodiscard]] NeuronKind kind(const Neurons& its) const { return layer(its).kind; }
  [[nodiscard]] std::string kind_name(const Neurons& its) const {
    return std::string(config::name_of(kNeuronKinds, kind(its)));
  }
  [[nodiscard]] const std::vector<VectorId>& sources(std::uint32_t of_layer) const {
    return sources_[of_layer];
  }
  [[nodiscard]] bool listed(VectorId vector) const { return plan.lists[vector].capacity > 0; }
  /// True if a vector's spikes lead to neurons of a layer.
  [[nodiscard]] bool leads_on(VectorId vector) const {
    return vector < network.layers.size() || network.layers.back().recurrent();
  }
  [[nodiscard]] bool spreads(VectorId vector) const { return plan.lists[vector].spread > 1; }
  [[nodiscard]] bool recomputes(const Neurons& its) const {
    return plan.checkpoint_steps > 0 && kind(its) != NeuronKind::integrator;
  }
  /// Number of steps whose states a tile holds. Read-outs need none in the backward pass.
  [[nodiscard]] std::uint32_t state_slots(const Neurons& its) const;
  [[nodiscard]] std::uint64_t stride(VectorId vector) const {
    return list_words(plan.lists[vector].capacity) * 4ULL;
  }
  [[nodiscard]] std::uint32_t list_bytes(VectorId vector) const {
    return (kListHeader + plan.lists[vector].capacity) * 4;
  }
  /// Bytes of a sample's gradients of listed spikes.
  [[nodiscard]] std::uint32_t gradient_bytes(VectorId vector) const {
    return round_up(plan.lists[vector].capacity, 2U) * 4;
  }
  [[nodiscard]] std::uint32_t plane_bytes(const Neurons& its) const {
    return layer(its).rows() * 8;
  }
  [[nodiscard]] std::uint64_t weight_bytes(const Neurons& its) const {
    return std::uint64_t{its.pairs()} * plane_bytes(its);
  }
  [[nodiscard]] std::uint32_t slot_bytes(const Neurons& its) const {
    return batch() * its.pairs() * states_of(kind(its)) * 8;
  }
  /// Bytes of one number per sample and neuron.
  [[nodiscard]] std::uint64_t value_bytes(const Neurons& its) const {
    return std::uint64_t{batch()} * its.pairs() * 8;
  }
  /// Words of marks per sample on a tile.
  [[nodiscard]] std::uint32_t marks_of(const Neurons& its) const {
    return plan.bits() ? ceil_div(2 * its.pairs(), kNeuronsAWord) : 2 * its.pairs();
  }
  [[nodiscard]] std::uint32_t gradient_copies(const Neurons& its) const {
    return snn::gradient_copies(its.count(), contexts(), batch());
  }
  /// Marks per site; then the most ids that a worker and a site can find.
  [[nodiscard]] std::uint32_t marks_a_site(VectorId vector) const {
    return word(EvenSplit{plan.lists[vector].marks, plan.lists[vector].spread}.largest());
  }
  [[nodiscard]] std::uint32_t worker_capacity(VectorId vector, std::uint32_t marks) const {
    return std::min(plan.lists[vector].capacity,
                    ceil_div(marks, contexts()) * plan.neurons_a_mark());
  }
  [[nodiscard]] std::uint32_t site_capacity(VectorId vector) const {
    return std::min(plan.lists[vector].capacity, marks_a_site(vector) * plan.neurons_a_mark());
  }

  Plan plan;

 private:
  std::vector<std::optional<Neurons>> neurons_;  ///< by tile
  std::vector<std::vector<VectorId>> sources_;   ///< by layer
};

/// Slices of an array for a vector's homes or sites, contiguous on a tile.
struct Slices {
  BufferId array{};
  std::uint64_t each = 0;  ///< bytes

  [[nodiscard]] Place operator[](std::uint64_t slot) const { return {array, word(slot * each)}; }
};

/// The program's arrays, and each step's codelet calls and pulls on them.
struct Arrays : Layout {
  using Layout::Layout;

  struct Vector {
    Slices list, stored, totals, joined;     ///< at homes; joined: what sites have found
    Slices own, gradients, by_neuron, sums;  ///< at homes, for training
    Slices marks, found, joining, key;       ///< at sites
  };
  struct Sums {
    BufferId parts{}, sum{};
    std::uint64_t group = 0, last_group = 0;  ///< bytes of parts
  };

  BufferId clock{}, stretch_clock{};  ///< stretch_clock: slot among the recomputed states
  BufferId weights{}, parameters{}, states{}, marks{}, sums{}, streams{}, drives{};
  BufferId lists[2]{}, overheard{};  ///< received, by source
  BufferId gradients{}, first_moments{}, second_moments{}, state_gradients{}, inputs{};
  BufferId logit_slopes{}, spike_gradients{}, input_gradients[2]{}, checkpoints{}, rate{};
  Slices logits, logit_gradients, label, result;  ///< on the last vector's homes
  BufferId losses{}, mean_loss{};                 ///< tile 0
  std::vector<Vector> by_vector;
  std::vector<Sums> by_reduction;

  /// The slice of a sample on its home, as seen from any tile.
  [[nodiscard]] Place of_sample(const Slices& slices, VectorId vector, std::uint32_t sample) const {
    return slices[sample - homes(vector, home(vector, sample)).begin];
  }
  /// The parts of a sum that a tile adds.
  [[nodiscard]] Place parts_of_sum(std::size_t reduction, Tile tile, std::uint64_t sum) const;

  /// A call by all workers of a tile, or by one.
  [[nodiscard]] program::Vertex all(const std::string& name, Arguments arguments) const {
    return codelet(name).all(std::move(arguments));
  }
  [[nodiscard]] program::Vertex one(const std::string& name, Arguments arguments) const {
    return codelet(name).one(std::move(arguments));
  }
  [[nodiscard]] training::Codelet codelet(const std::string& name) const;
  void clear(Calls& calls, Place place, std::uint64_t bytes) const;
  /// Sets a clock, on tiles that have it, to (clock & keep) + change.
  void tick(BufferId which, Tile tile, std::uint32_t keep, std::uint32_t change,
            Calls& calls) const;
  /// Moves both clocks by `change` steps.
  void tick_both(Tile tile, std::uint32_t change, Calls& calls) const {
    tick(clock, tile, ~0U, change, calls);
    if (plan.checkpoint_steps > 0) tick(stretch_clock, tile, ~0U, change, calls);
  }
  /// Fetches the lists that the clock's step receives; with `own` those that it makes, too.
  void fetch_lists(Tile tile, bool own, Calls& calls) const;
  void fetch(Calls& calls, VectorId vector, const Slices& to, std::uint64_t slot,
             std::uint32_t ahead) const;

  // forward.cpp
  void pull_lists(Tile tile, bool again, Pulls& pulls) const;
  void update(Tile tile, bool again, Calls& calls) const;
  void pull_marks(Tile tile, Pulls& pulls) const;
  void select(Tile tile, Calls& calls) const;
  void pull_found(Tile tile, Pulls& pulls) const;
  void join(Tile tile, bool spread, Calls& calls) const;
  void end_step(Tile tile, Calls& calls) const;
  void begin(Tile tile, bool trains, Calls& calls) const;

  // backward.cpp
  void turn_round(Tile tile, Calls& calls) const;
  void pull_back(Tile tile, Pulls& pulls) const;
  [[nodiscard]] std::uint64_t sent_back(Tile tile) const;
  void find_gradients(Tile tile, Calls& calls) const;
  void pull_group_parts(Tile tile, Pulls& pulls) const;
  [[nodiscard]] std::uint64_t sent_gradients(Tile tile, bool in_groups) const;
  void add_groups(Tile tile, Calls& calls) const;
  void pull_group_sums(Tile tile, Pulls& pulls) const;
  void step_back(Tile tile, Calls& calls) const;
  void save_or_restore(Tile tile, const char* name, Calls& calls) const;

  std::shared_ptr<program::Program> code;
  elf::KernelCode own_code{"snn"}, training_code{"training"};

 private:
  void pull_lists_of(const Neurons& its, const std::function<Place(std::size_t source)>& into,
                     Pulls& pulls) const;
  [[nodiscard]] program::Vertex published_step(const Neurons& its, const Arguments& time) const;
  [[nodiscard]] program::Vertex step_of_bits(const Neurons& its, const Arguments& time) const;
  void place_gradients(VectorId vector, std::uint64_t slot, Calls& calls) const;
  void add_state_gradient(const Neurons& its, Calls& calls) const;
  void add_sum(Place parts, Place sum, std::uint64_t bytes, std::uint64_t count,
               Calls& calls) const;
};

std::shared_ptr<const Arrays> make_arrays(plan::Description& description, const Subject& subject,
                                          const Plan& plan);
void add_tensors(plan::Description& description, const std::shared_ptr<const Arrays>& arrays);

/// Expected contents of arrays: marks of neurons, one word or one bit each.
void fill_marks(const Layout& layout, const ActivityProfile& stated, VectorId vector,
                std::uint64_t site, std::span<std::byte> into);
/// Spikes of a sample that sites have found.
void fill_found(const Layout& layout, const ActivityProfile& stated, VectorId vector,
                std::uint32_t sample, std::span<std::byte> into);
/// Gradients of the spikes of a tile's neurons: 0 where they are listed.
void fill_listed(const Layout& layout, const ActivityProfile& stated, const Neurons& neurons,
                 std::span<std::byte> into);

}  // namespace tessera::snn
