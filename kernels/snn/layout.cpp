#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/snn/statement.h"
#include "sim/data/random.h"

/// The layout, and the expected contents of arrays where data decide the time of calls: a step of
/// some samples, repeated to fill the batch.
namespace tessera::snn {

void fill_unlisted(std::span<std::byte> into) { std::memset(into.data(), 0xff, into.size()); }

std::uint32_t chance_of(std::uint64_t seed, VectorId vector, std::uint32_t sample,
                        std::uint32_t part) {
  constexpr std::uint64_t kStream = 311;
  const std::uint64_t which = (std::uint64_t{vector} << 40) + (std::uint64_t{sample} << 16) + part;
  return static_cast<std::uint32_t>(data::random_bits(seed, kStream, which));
}

void write_list(const List& list, std::span<std::byte> into) {
  const std::array<std::uint32_t, kListHeader> header{list.spikes, word(list.ids.size())};
  std::memcpy(into.data(), header.data(), sizeof header);
  std::ranges::copy(std::as_bytes(std::span(list.ids)), into.data() + sizeof header);
}

void fill_events(const Data& data, std::uint64_t sample, std::uint32_t steps,
                 std::span<std::byte> into) {
  const std::uint32_t words = list_words(data.max_events());
  std::memset(into.data(), 0, into.size());
  for (std::uint32_t t = 0; t < steps; ++t) {
    List list{data.events(sample, t)};
    list.spikes = word(list.ids.size());
    write_list(list, into.subspan(std::size_t{t} * words * 4));
  }
}

void fill_marks(const Layout& layout, const ActivityProfile& stated, VectorId vector,
                std::uint64_t site, std::span<std::byte> into) {
  const Plan& plan = layout.plan;
  const ListPlan& list = plan.lists[vector];
  const Interval marks = list.part(word(site % list.spread));
  const std::vector<std::uint32_t>& neurons =
      ActivityProfile::of(stated.marks[vector], site / list.spread);
  if (!plan.bits()) {
    std::memcpy(into.data(), &neurons[marks.begin], marks.size() * 4);
    return;
  }
  std::vector<std::uint32_t> words(marks.size());
  for (std::uint64_t i = 0; i < words.size(); ++i) {
    const Interval these = plan.marked(vector, marks.begin + i);
    for (std::uint64_t n = these.begin; n < these.end; ++n)
      words[i] |= neurons[n] << (kNeuronsAWord - 1 - ((n - these.begin) ^ 1));
  }
  std::memcpy(into.data(), words.data(), words.size() * 4);
}

void fill_found(const Layout& layout, const ActivityProfile& stated, VectorId vector,
                std::uint32_t sample, std::span<std::byte> into) {
  const std::uint32_t capacity = layout.site_capacity(vector);
  const std::vector<std::uint32_t>& neurons = ActivityProfile::of(stated.marks[vector], sample);
  std::memset(into.data(), 0, into.size());
  const ListPlan& list = layout.plan.lists[vector];
  for (std::uint32_t s = 0; s < list.spread; ++s) {
    const Interval part = list.part(s);
    const std::uint64_t begin = layout.plan.marked(vector, part.begin).begin;
    const std::span found =
        std::span(neurons).subspan(begin, layout.plan.marked(vector, part.end - 1).end - begin);
    const auto count = [&](std::uint32_t mark) {
      return static_cast<std::uint32_t>(std::ranges::count(found, mark));
    };
    const std::uint32_t spikes = std::min(count(kSpikeMark), capacity);
    const std::array<std::uint32_t, 2> counts{spikes,
                                              std::min(count(kCarrierMark), capacity - spikes)};
    std::memcpy(into.data() + std::size_t{s} * found_bytes(capacity), counts.data(), sizeof counts);
  }
}

void fill_listed(const Layout& layout, const ActivityProfile& stated, const Neurons& neurons,
                 std::span<std::byte> into) {
  fill_unlisted(into);
  for (std::uint32_t b = 0; b < layout.batch(); ++b) {
    for (const std::uint32_t id : stated.made(neurons.layer + 1, b).ids)
      if (id >= neurons.begin && id < neurons.end)
        std::memset(into.data() + (std::size_t{b} * 2 * neurons.pairs() + id - neurons.begin) * 4,
                    0, 4);
  }
}

Layout::Layout(const Subject& subject, Plan its_plan)
    : Subject(subject), plan(std::move(its_plan)), neurons_(machine.tiles) {
  for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
    sources_.push_back(Plan::sources(network, l));
    const LayerTiles& lies = plan.layers[l];
    for (std::uint32_t k = 0; k < lies.tiles; ++k) {
      const std::uint32_t begin = k * lies.neurons_per_tile;
      neurons_[lies.first + k] = {
          l, begin, std::min(begin + lies.neurons_per_tile, network.layers[l].neurons)};
    }
  }
}

const Neurons* Layout::listens_for(Tile tile) const {
  const Tile other = tile ^ 1U;
  if (!plan.neighbours_listen || other >= machine.tiles) return nullptr;
  const Neurons* const beside = neurons(other);
  const Neurons* const own = neurons(tile);
  return beside == nullptr || (own != nullptr && own->layer == beside->layer) ? nullptr : beside;
}

Interval Layout::sites(VectorId vector, Tile tile) const {
  if (tile < plan.first) return {0, 0};
  const ListPlan& list = plan.lists[vector];
  const std::uint64_t all = std::uint64_t{batch()} * list.spread;
  const auto first_on = [&](std::uint64_t number) {
    const std::uint64_t first = ceil_div(number * plan.homes, std::uint64_t{plan.tiles});
    return std::clamp<std::uint64_t>(first, list.first_home, list.first_home + all) -
           list.first_home;
  };
  return {first_on(tile - plan.first), first_on(tile - plan.first + 1)};
}

Interval Layout::homes(VectorId vector, Tile tile) const {
  const Interval its = sites(vector, tile);
  const std::uint64_t spread = plan.lists[vector].spread;
  return {ceil_div(its.begin, spread), ceil_div(its.end, spread)};
}

Interval Layout::group_sums(const Reduction& reduction, Tile tile) const {
  if (reduction.groups == 1 || tile < reduction.first || tile >= reduction.first + reduction.tiles)
    return {0, 0};
  const std::uint64_t all = std::uint64_t{reduction.groups} * batch();
  const std::uint64_t number = tile - reduction.first;
  return {ceil_div(number * all, std::uint64_t{reduction.tiles}),
          ceil_div((number + 1) * all, std::uint64_t{reduction.tiles})};
}

bool Layout::works(Tile tile) const {
  if (neurons(tile) != nullptr) return true;
  for (VectorId v = 0; v < vector_count(); ++v)
    if (sites(v, tile).size() > 0) return true;
  return false;
}

std::uint32_t Layout::state_slots(const Neurons& its) const {
  if (!options.train || kind(its) == NeuronKind::integrator) return 2;
  return (recomputes(its) ? plan.checkpoint_steps : options.time_steps) + 1;
}

}  // namespace tessera::snn
