#include <array>
#include <cstring>

#include "kernels/snn/statement.h"
#include "kernels/training/loss.h"

namespace tessera::snn {

namespace {

using training::fill_zeros;

using Bytes = std::span<std::byte>;  ///< bytes of a part of an array, to be written

/// Writes `value`, then zeros.
void fill_word(std::uint32_t value, Bytes into) {
  fill_zeros(into);
  std::memcpy(into.data(), &value, sizeof value);
}

class Maker {
 public:
  Maker(plan::Description& description, const Subject& subject, const Plan& plan)
      : d_(description), s_(std::make_shared<Arrays>(subject, plan)) {
    s_->code = d_.code();
  }

  std::shared_ptr<const Arrays> make() {
    add_clocks();
    s_->by_vector.resize(s_->vector_count());
    for (VectorId v = 0; v < s_->vector_count(); ++v)
      if (s_->listed(v)) add_lists(v);
    add_outputs();
    add_neurons();
    if (s_->options.train) add_training();
    return s_;
  }

 private:
  /// For arrays on tiles with neurons.
  using BytesOf = std::function<std::uint64_t(const Layout&, const Neurons&)>;
  using FillOf = std::function<void(const Layout&, const Neurons&, Bytes)>;
  using ExpectedOf =
      std::function<void(const Layout&, const Neurons&, const ActivityProfile&, Bytes)>;
  /// Fills the slice of sample or site `number`.
  using Fill = std::function<void(std::uint64_t number, Bytes)>;
  using Expected = std::function<void(const ActivityProfile&, std::uint64_t number, Bytes)>;

  BufferId of_neurons(std::string_view name, const BytesOf& bytes, const FillOf& fill = {},
                      bool keep = false, const ExpectedOf& expected = {}) {
    plan::Array array{name,
                      [s = s_, bytes](Tile tile) {
                        const Neurons* const its = s->neurons(tile);
                        return its == nullptr ? 0 : bytes(*s, *its);
                      },
                      keep};
    if (fill)
      array.contents = [s = s_, fill](Tile tile, Bytes into) { fill(*s, *s->neurons(tile), into); };
    if (expected)
      array.expected = [s = s_, expected](Tile tile, Bytes into, std::uint32_t moment) {
        expected(*s, *s->neurons(tile), s->stated[moment], into);
      };
    return d_.array(std::move(array));
  }

  /// `part_of`: the samples or sites of a tile.
  Slices slices(std::string_view name, const std::function<Interval(Tile)>& part_of,
                std::uint64_t each, const Fill& fill, bool keep, const Expected& expected) {
    each = round_up(each, std::uint64_t{8});
    plan::Array array{name, [part_of, each](Tile tile) { return part_of(tile).size() * each; },
                      keep};
    const auto for_all = [part_of, each](Tile tile, Bytes into, const auto& visit) {
      const Interval its = part_of(tile);
      for (std::uint64_t i = its.begin; i < its.end; ++i)
        visit(i, into.subspan((i - its.begin) * each, each));
    };
    if (fill)
      array.contents = [for_all, fill](Tile tile, Bytes into) { for_all(tile, into, fill); };
    if (expected)
      array.expected = [s = s_, for_all, expected](Tile tile, Bytes into, std::uint32_t moment) {
        for_all(tile, into,
                [&](std::uint64_t i, Bytes one) { expected(s->stated[moment], i, one); });
      };
    return {d_.array(std::move(array)), each};
  }
  Slices of_homes(std::string_view name, VectorId v, std::uint64_t each, const Fill& fill = {},
                  bool keep = false, const Expected& expected = {}) {
    return slices(
        name, [s = s_, v](Tile tile) { return s->homes(v, tile); }, each, fill, keep, expected);
  }
  Slices of_sites(std::string_view name, VectorId v, std::uint64_t each, const Fill& fill = {},
                  const Expected& expected = {}) {
    return slices(
        name, [s = s_, v](Tile tile) { return s->sites(v, tile); }, each, fill, false, expected);
  }

  /// A count of steps on each tile with work; random choices depend on it. Where states are
  /// recomputed, it goes back by a stretch of steps.
  void add_clocks() {
    plan::Array clock{"clock", [s = s_](Tile tile) { return s->works(tile) ? 8 : 0; }};
    clock.contents = plan::zeros;
    clock.expected = [s = s_](Tile /*tile*/, Bytes into, std::uint32_t moment) {
      const std::uint32_t stretch = std::max(s->plan.checkpoint_steps, 1U);
      fill_word(std::max(s->stated[moment].step, stretch - 1), into);
    };
    s_->clock = d_.array(std::move(clock));
    if (s_->plan.checkpoint_steps > 0)
      s_->stretch_clock = of_neurons(
          "place of states",
          [](auto& l, auto& n) -> std::uint64_t { return l.recomputes(n) ? 8 : 0; }, none);
  }

  void add_lists(VectorId v) {
    Arrays::Vector& of = s_->by_vector[v];
    const std::uint64_t each = s_->stride(v);
    const Expected made = [v](auto& stated, auto sample, Bytes into) {
      write_list(stated.made(v, sample), into);
    };
    of.list = of_homes("spikes", v, each, {}, false, made);
    Fill events;
    if (v == 0 && !s_->options.fed())
      events = [s = s_](auto sample, Bytes into) {
        fill_events(s->data, sample, s->steps(), into);
      };
    const Expected stored = [v, each](auto& stated, auto sample, Bytes into) {
      for (std::size_t slot = 0; slot * each < into.size(); ++slot)
        write_list(stated.stored(v, sample, slot), into.subspan(slot * each, each));
    };
    of.stored = of_homes("spikes of all steps", v, (s_->steps() + 1) * each, events, true, stored);
    of.totals = of_homes(
        "totals", v, kTotals * 4ULL, [](auto, Bytes into) { fill_zeros(into); }, true);
    if (v == 0) return;
    add_sites(v);
    if (!s_->options.train) return;
    of.own = of_homes("own spikes", v, each, {}, false, made);
    if (s_->leads_on(v)) of.gradients = of_homes("spike gradients", v, s_->gradient_bytes(v));
    of.by_neuron = of_homes(
        "gradients by neuron", v, s_->plan.lists[v].neurons * 4ULL,
        [](auto, Bytes into) { fill_unlisted(into); }, true);
  }

  void add_sites(VectorId v) {
    Arrays::Vector& of = s_->by_vector[v];
    const ListPlan& list = s_->plan.lists[v];
    const std::uint32_t marks = s_->marks_a_site(v);
    of.marks = of_sites("marks of neurons", v, marks * 4ULL, {},
                        [s = s_, v](auto& stated, auto site, Bytes into) {
                          fill_marks(*s, stated, v, site, into);
                        });
    of.found = of_sites("found by workers", v,
                        std::uint64_t{s_->contexts()} * found_bytes(s_->worker_capacity(v, marks)));
    of.key = of_sites("key", v, 4ULL * 4, [s = s_, v](std::uint64_t site, Bytes into) {
      const ListPlan& its = s->plan.lists[v];
      const std::uint32_t part = word(site % its.spread);
      const std::array<std::uint32_t, 4> key{
          word(its.part(part).begin), chance_of(s->options.seed, v, word(site / its.spread), part),
          ceil_div(1U << 31, its.marks_a_tile),
          its.marks_a_tile * s->plan.neurons_a_mark() - s->plan.layers[v - 1].neurons_per_tile};
      std::memcpy(into.data(), key.data(), sizeof key);
    });
    if (!s_->spreads(v)) return;
    const std::uint64_t bytes = found_bytes(s_->site_capacity(v));
    of.joining = of_sites("found", v, bytes);
    of.joined = of_homes("found by tiles", v, list.spread * bytes, {}, false,
                         [s = s_, v](auto& stated, auto sample, Bytes into) {
                           fill_found(*s, stated, v, word(sample), into);
                         });
  }

  void add_outputs() {
    const VectorId last = s_->last();
    const std::uint64_t bytes = s_->network.outputs() * 4ULL;
    s_->logits = of_homes("logits", last, bytes);
    s_->logit_gradients = of_homes("logit gradients", last, bytes);
    s_->result = of_homes("loss of sample", last, training::kResultBytes);
    Fill label;
    if (!s_->options.fed())
      label = [s = s_](auto sample, Bytes into) { fill_word(s->data.label(sample), into); };
    s_->label = of_homes("label", last, 8, label);
    const auto on_first = [&](std::string_view name, std::uint64_t bytes_there) {
      return d_.array({name, [bytes_there](Tile tile) { return tile == 0 ? bytes_there : 0; }});
    };
    s_->losses = on_first("losses", std::uint64_t{s_->batch()} * training::kResultBytes);
    s_->mean_loss = on_first("mean loss", training::kResultBytes);
  }

  static void fill_weights(const Layout& layout, const Neurons& its, Bytes into) {
    const Layer& what = layout.layer(its);
    std::byte* to = into.data();
    std::uint32_t first = its.begin;
    for (const std::uint32_t width : block_widths(its.pairs(), layout.plan.wide)) {
      const std::uint32_t here = std::min(2 * width, its.end - first);
      for (std::uint32_t row = 0; row < what.rows(); ++row, to += std::size_t{width} * 8) {
        std::memcpy(to, what.weights_from(row, first), here * sizeof(float));
        std::memset(to + here * sizeof(float), 0, (2 * width - here) * sizeof(float));
      }
      first += 2 * width;
    }
  }

  static void none(const Layout&, const Neurons&, Bytes into) { fill_zeros(into); }

  void add_neurons() {
    Arrays& s = *s_;
    s.weights = of_neurons("weights", &Layout::weight_bytes, fill_weights, true);
    s.parameters = of_neurons(
        "parameters", [](auto&, auto& n) { return std::uint64_t{n.pairs()} * kPairBytes; },
        [](auto& l, auto& n, Bytes into) {
          fill_parameters(l.layer(n), {n.begin, n.end}, into);
        });
    s.states = of_neurons("states", [](auto& l, auto& n) {
      return std::uint64_t{l.state_slots(n)} * l.slot_bytes(n);
    });
    s.marks = of_neurons(
        "marks", [](auto& l, auto& n) { return std::uint64_t{l.batch()} * l.marks_of(n) * 4; });
    if (s.plan.bits()) add_step_arrays();
    s.sums = of_neurons("sums of states", &Layout::value_bytes);
    for (std::size_t source = 0; source < 2; ++source) add_received(source);
    s.overheard = d_.array({"spikes for a neighbour", [its = s_](Tile tile) {
                              std::uint64_t bytes = 0;
                              if (const Neurons* const beside = its->listens_for(tile))
                                for (const VectorId v : its->sources(beside->layer))
                                  bytes += its->batch() * its->stride(v);
                              return bytes;
                            }});
  }

  /// Adds the operands of a step whose marks are bits: parameter streams and sums of weights.
  void add_step_arrays() {
    s_->streams = of_neurons(
        "parameters of steps",
        [](auto& l, auto& n) {
          return std::uint64_t{n.pairs()} * (1 + 2 * stream_values(l.kind(n))) * 8;
        },
        [](auto& l, auto& n, Bytes into) {
          fill_streams(l.layer(n), {n.begin, n.end}, into);
        });
    s_->drives = of_neurons("sums of weights", [](auto& l, auto& n) {
      return states_of(l.kind(n)) > 1 ? l.value_bytes(n) : 0;
    });
  }

  void add_received(std::size_t source) {
    s_->lists[source] = of_neurons(
        "spikes received",
        [source](auto& l, auto& n) -> std::uint64_t {
          const std::vector<VectorId>& from = l.sources(n.layer);
          return source < from.size() ? l.batch() * l.stride(from[source]) : 0;
        },
        {}, false,
        [source](auto& l, auto& n, auto& stated, Bytes into) {
          const VectorId v = l.sources(n.layer)[source];
          for (std::uint32_t b = 0; b < l.batch(); ++b)
            write_list(stated.taken(v, b), into.subspan(b * l.stride(v)));
        });
  }

  void add_training() {
    Arrays& s = *s_;
    s.gradients = of_neurons("weight gradients", [](auto& l, auto& n) {
      return l.gradient_copies(n) * l.weight_bytes(n);
    });
    const auto moments = [&](const char* name) {
      return of_neurons(name, &Layout::weight_bytes, none, true);
    };
    s.first_moments = moments("first moments");
    s.second_moments = s.options.learning.adam() ? moments("second moments") : s.first_moments;
    s.state_gradients = of_neurons("state gradients", &Layout::slot_bytes);
    s.inputs = of_neurons("input gradients", &Layout::value_bytes);
    const auto when = [](bool integrates) -> BytesOf {
      return [integrates](auto& l, auto& n) {
        return (l.kind(n) == NeuronKind::integrator) == integrates ? l.value_bytes(n) : 0;
      };
    };
    s.logit_slopes = of_neurons("logit gradients", when(true), none);
    s.spike_gradients = of_neurons(
        "spike gradients", when(false), [](auto&, auto&, Bytes into) { fill_unlisted(into); },
        false, [](auto& l, auto& n, auto& stated, Bytes into) { fill_listed(l, stated, n, into); });
    if (s.plan.checkpoint_steps > 0)
      s.checkpoints = of_neurons("checkpoints of states", [](auto& l, auto& n) {
        const std::uint64_t kept = ceil_div(l.steps(), l.plan.checkpoint_steps);
        return l.recomputes(n) ? kept * l.slot_bytes(n) : 0;
      });
    for (std::size_t source = 0; source < 2; ++source)
      s.input_gradients[source] =
          of_neurons("gradients of spikes received", [source](auto& l, auto& n) -> std::uint64_t {
            const std::vector<VectorId>& from = l.sources(n.layer);
            const bool leads = source < from.size() && from[source] > 0;
            return leads ? std::uint64_t{l.batch()} * l.gradient_bytes(from[source]) : 0;
          });
    s.rate = of_neurons(
        "rate", [](auto&, auto&) -> std::uint64_t { return training::kRateBytes; },
        [rate = training::first_rate(s.options.learning)](auto&, auto&, Bytes into) { rate(into); },
        true);
    add_sums();
  }

  /// Adds the arrays in which gradients of spikes are summed.
  void add_sums() {
    std::vector<std::uint64_t> parts(s_->vector_count());
    for (const Reduction& of : s_->plan.reductions) {
      const std::uint32_t tiles = s_->plan.layers[of.layer].tiles;
      parts[of.vector] += of.groups > 1 ? of.groups : tiles;
      Arrays::Sums& made = s_->by_reduction.emplace_back();
      const std::uint64_t bytes = s_->gradient_bytes(of.vector);
      made.group = of.group_size * bytes;
      made.last_group = of.members(of.groups - 1, tiles).size() * bytes;
      const std::size_t r = s_->by_reduction.size() - 1;
      if (of.groups == 1) continue;
      made.parts =
          d_.array({"parts of a group", [s = s_, r](Tile tile) -> std::uint64_t {
                      const Interval its = s->group_sums(s->plan.reductions[r], tile);
                      return its.size() == 0 ? 0 : s->parts_of_sum(r, tile, its.end).offset;
                    }});
      made.sum = d_.array({"sum of a group", [s = s_, r, bytes](Tile tile) {
                             return s->group_sums(s->plan.reductions[r], tile).size() * bytes;
                           }});
    }
    for (VectorId v = 1; v < s_->vector_count(); ++v)
      if (parts[v] > 0)
        s_->by_vector[v].sums = of_homes("sums of groups", v, parts[v] * s_->gradient_bytes(v));
  }

  plan::Description& d_;
  std::shared_ptr<Arrays> s_;
};

}  // namespace

std::shared_ptr<const Arrays> make_arrays(plan::Description& description, const Subject& subject,
                                          const Plan& plan) {
  return Maker(description, subject, plan).make();
}

training::Codelet Arrays::codelet(const std::string& name) const {
  const elf::KernelCode& its = name.starts_with("training_") ? training_code : own_code;
  return {its.in(*code, name), contexts()};
}

void Arrays::clear(Calls& calls, Place place, std::uint64_t bytes) const {
  const std::uint32_t words = word(bytes / 8);
  calls.add(all("snn_clear", {place, words, ceil_div(words, contexts())}));
}

void Arrays::tick(BufferId which, Tile tile, std::uint32_t keep, std::uint32_t change,
                  Calls& calls) const {
  const Neurons* const its = neurons(tile);
  if (which == clock ? works(tile) : its != nullptr && recomputes(*its))
    calls.add(one("snn_tick", {Place{which}, keep, change}));
}

void Arrays::fetch_lists(Tile tile, bool own, Calls& calls) const {
  for_lists(0, tile, [&](VectorId v, std::uint32_t /*sample*/, std::uint64_t slot) {
    fetch(calls, v, by_vector[v].list, slot, 0);
    if (own && v > 0) fetch(calls, v, by_vector[v].own, slot, 1);
  });
}

void Arrays::fetch(Calls& calls, VectorId vector, const Slices& to, std::uint64_t slot,
                   std::uint32_t ahead) const {
  calls.add(all("snn_fetch", {by_vector[vector].stored[slot], word(stride(vector)), ahead,
                              Place{clock}, to[slot]}));
}

}  // namespace tessera::snn
