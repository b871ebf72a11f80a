#include "kernels/snn/program.h"

#include <map>

#include "kernels/snn/statement.h"
#include "kernels/training/loss.h"

namespace tessera::snn {

using training::bits_of;
using training::kResultBytes;

namespace {

struct Turn {
  std::uint32_t times;
  bool trains, tests;
  training::Batches batches;
};

class Statement {
 public:
  Statement(plan::Description& description, const Subject& subject, const Plan& plan)
      : d_(description), s_(make_arrays(description, subject, plan)) {}

  void state() {
    const training::Turns& turns = s_->turns;
    state({turns.steps, s_->options.train, false, turns.training});
    d_.measure(false);
    if (turns.test_steps > 0) state({turns.test_steps, false, true, turns.testing});
    add_tensors(d_, s_);
  }

 private:
  void compute(const char* name, std::function<void(const Arrays&, Tile, Calls&)> calls) {
    d_.compute(name, d_.tiles(),
               [s = s_, calls = std::move(calls)](Tile tile, Calls& all) { calls(*s, tile, all); });
  }
  void exchange(const char* name, std::function<void(const Arrays&, Tile, Pulls&)> pulls,
                std::function<std::uint64_t(const Arrays&, Tile)> sends = {}) {
    std::function<std::uint64_t(Tile)> sent;
    if (sends) sent = [s = s_, sends = std::move(sends)](Tile tile) { return sends(*s, tile); };
    d_.exchange(
        name, d_.tiles(),
        [s = s_, pulls = std::move(pulls)](Tile tile, Pulls& all) { pulls(*s, tile, all); },
        std::move(sent));
  }

  void state(const Turn& turn) {
    d_.repeat(turn.times, [&] {
      if (turn.batches.fed) feed(turn);
      compute("begin", [trains = turn.trains](const Arrays& s, Tile tile, Calls& calls) {
        s.begin(tile, trains, calls);
      });
      d_.repeat(s_->steps(), [this] { forward(); });
      find_loss(turn);
      if (!turn.trains) return;
      compute("turn round", &Arrays::turn_round);
      go_back();
      update_weights();
    });
  }

  /// Reads the next batch's events and labels from the host.
  void feed(const Turn& turn) {
    d_.host(turn.tests ? "test events" : "events", program::HostTransfer::Direction::read,
            d_.tiles(), [s = s_, of = turn.batches](Tile tile, plan::HostPieces& pieces) {
              const Arrays::Vector& inputs = s->by_vector.front();
              s->for_homes(0, tile, [&](std::uint32_t b, std::uint64_t slot) {
                pieces.push_back({inputs.stored[slot], word(inputs.stored.each),
                                  [s, of, b](std::span<std::byte> into, std::uint64_t number) {
                                    fill_events(s->data, of.sample(number, b), s->steps(), into);
                                  }});
              });
              s->for_homes(s->last(), tile, [&](std::uint32_t b, std::uint64_t slot) {
                pieces.push_back({s->label[slot], 4,
                                  [s, of, b](std::span<std::byte> into, std::uint64_t number) {
                                    const std::uint32_t label = s->data.label(of.sample(number, b));
                                    std::memcpy(into.data(), &label, sizeof label);
                                  }});
              });
            });
  }

  /// One time step: all layers receive the spikes of the step before, then all search for those of
  /// this one.
  void forward() {
    exchange("spikes",
             [](const Arrays& s, Tile t, Pulls& pulls) { s.pull_lists(t, false, pulls); });
    compute("update states", [](const Arrays& s, Tile t, Calls& calls) {
      s.save_or_restore(t, "snn_save", calls);
      s.update(t, false, calls);
    });
    exchange("marks", &Arrays::pull_marks, [](const Arrays& s, Tile t) -> std::uint64_t {
      const Neurons* const its = s.neurons(t);
      return its == nullptr ? 0 : std::uint64_t{s.batch()} * s.marks_of(*its) * 4;
    });
    bool spreads = false;
    for (VectorId v = 1; v < s_->vector_count(); ++v) spreads = spreads || s_->spreads(v);
    compute("select spikes", [spreads](const Arrays& s, Tile t, Calls& calls) {
      s.select(t, calls);
      s.join(t, false, calls);
      if (!spreads) s.end_step(t, calls);
    });
    if (!spreads) return;
    exchange("found spikes", &Arrays::pull_found);
    compute("join spikes", [](const Arrays& s, Tile t, Calls& calls) {
      s.join(t, true, calls);
      s.end_step(t, calls);
    });
  }

  /// Softmax and cross-entropy, each sample on its home; tile 0 sums the losses.
  void find_loss(const Turn& turn) {
    const bool reads_out = !s_->listed(s_->last());
    if (reads_out) gather_logits();
    compute("loss", [](const Arrays& s, Tile tile, Calls& calls) {
      const std::uint32_t outputs = s.network.outputs();
      s.for_homes(s.last(), tile, [&](std::uint32_t /*sample*/, std::uint64_t slot) {
        calls.add_by_size(
            s.all("training_cross_entropy",
                  {s.logits[slot], s.logit_gradients[slot], s.label[slot], s.result[slot], 1U,
                   outputs, round_up(outputs, 2U), bits_of(1.0 / s.batch()), 1U}));
      });
    });
    exchange("losses", [](const Arrays& s, Tile tile, Pulls& pulls) {
      for (std::uint32_t b = 0; tile == 0 && b < s.batch(); ++b)
        pulls.push_back({{s.losses, b * kResultBytes},
                         s.home(s.last(), b),
                         s.of_sample(s.result, s.last(), b),
                         kResultBytes});
    });
    compute("total loss", [](const Arrays& s, Tile tile, Calls& calls) {
      if (tile == 0)
        calls.add(s.one("training_totals", {Place{s.losses}, Place{s.mean_loss}, s.batch(),
                                            bits_of(1.0 / s.batch())}));
    });
    if (reads_out && turn.trains) spread_logit_gradients();
    training::tell(d_, turn.tests ? training::kTestResults : training::kTrainingResults,
                   {s_->mean_loss});
  }

  /// Sends the sums of the read-out's states from its tiles to the samples' homes.
  void gather_logits() {
    exchange(
        "logits",
        [](const Arrays& s, Tile tile, Pulls& pulls) {
          const LayerTiles& from = s.plan.layers.back();
          s.for_homes(s.last(), tile, [&](std::uint32_t b, std::uint64_t slot) {
            for (Tile other = from.first; other < from.first + from.tiles; ++other) {
              const Neurons& its = *s.neurons(other);
              Place into = s.logits[slot];
              into.offset += its.begin * 4;
              pulls.push_back({into, other, {s.sums, 2 * b * its.pairs() * 4}, its.count() * 4});
            }
          });
        },
        [](const Arrays& s, Tile t) {
          return s.neurons(t) == nullptr ? 0 : s.value_bytes(*s.neurons(t));
        });
  }

  /// Sends the logits' gradients back to the read-out's tiles.
  void spread_logit_gradients() {
    exchange(
        "logit gradients",
        [](const Arrays& s, Tile tile, Pulls& pulls) {
          const Neurons* const its = s.neurons(tile);
          if (its == nullptr || its->layer + 1 != s.last()) return;
          for (std::uint32_t b = 0; b < s.batch(); ++b) {
            Place from = s.of_sample(s.logit_gradients, s.last(), b);
            from.offset += its->begin * 4;
            pulls.push_back({{s.logit_slopes, 2 * b * its->pairs() * 4},
                             s.home(s.last(), b),
                             from,
                             its->count() * 4});
          }
        },
        [](const Arrays& s, Tile tile) {
          return s.homes(s.last(), tile).size() * s.network.outputs() * 4;
        });
  }

  void go_back() {
    const std::uint32_t stretch = s_->plan.checkpoint_steps;
    if (stretch == 0) return d_.repeat(s_->steps(), [this] { backward(); });
    // The last stretch may be shorter; it comes first.
    if (s_->steps() % stretch != 0) go_back(s_->steps() % stretch);
    if (s_->steps() >= stretch) d_.repeat(s_->steps() / stretch, [&] { go_back(stretch); });
  }

  /// Backward pass of `steps` steps, the last one at the clock: recomputes states from their
  /// checkpoint, without a search for spikes, as lists are stored; then goes back.
  void go_back(std::uint32_t steps) {
    compute("to checkpoint", [steps](const Arrays& s, Tile tile, Calls& calls) {
      s.tick(s.clock, tile, ~0U, 1 - steps, calls);
      s.tick(s.stretch_clock, tile, 0, 0, calls);
      s.save_or_restore(tile, "snn_restore", calls);
      s.fetch_lists(tile, false, calls);
    });
    d_.repeat(steps, [&] {
      exchange("spikes again",
               [](const Arrays& s, Tile t, Pulls& pulls) { s.pull_lists(t, true, pulls); });
      compute("states again", [](const Arrays& s, Tile tile, Calls& calls) {
        s.update(tile, true, calls);
        s.tick_both(tile, 1, calls);
        s.fetch_lists(tile, false, calls);
      });
    });
    compute("turn again", [](const Arrays& s, Tile tile, Calls& calls) {
      s.tick_both(tile, ~0U, calls);
      s.fetch_lists(tile, false, calls);
    });
    d_.repeat(steps, [this] { backward(); });
  }

  void backward() {
    exchange("spikes back", &Arrays::pull_back, &Arrays::sent_back);
    compute("gradients", &Arrays::find_gradients);
    const std::vector<Reduction>& all = s_->plan.reductions;
    const auto grouped = [](const Reduction& of) { return of.groups > 1; };
    if (std::any_of(all.begin(), all.end(), grouped)) {
      exchange("spike gradients", &Arrays::pull_group_parts,
               [](const Arrays& s, Tile t) { return s.sent_gradients(t, true); });
      compute("group sums", &Arrays::add_groups);
    }
    if (!all.empty())
      exchange("sums of groups", &Arrays::pull_group_sums,
               [](const Arrays& s, Tile t) { return s.sent_gradients(t, false); });
    compute("sums", &Arrays::step_back);
  }

  /// Sums the workers' gradients and updates the weights.
  void update_weights() {
    compute("update weights", [](const Arrays& s, Tile tile, Calls& calls) {
      const Neurons* const its = s.neurons(tile);
      if (its == nullptr) return;
      const training::Learning& learning = s.options.learning;
      calls.add_by_size(s.one(training::schedule_codelet(learning),
                              training::schedule_arguments(learning, {s.rate})));
      const std::uint32_t words = word(s.weight_bytes(*its) / 8);
      if (const std::uint32_t copies = s.gradient_copies(*its); copies > 1)
        calls.add_by_size(
            s.all("snn_sum", {Place{s.gradients}, Place{s.gradients}, words, words * 8, copies}));
      const training::Stretch stretch{
          {s.weights, s.weights, s.gradients, s.first_moments, s.second_moments}, 2ULL * words};
      calls.add_by_size(
          s.codelet(learning.adam() ? "training_adam" : "training_momentum")
              .all_over(training::update_arguments(learning, stretch, {s.rate}), words * 8ULL));
    });
  }

  plan::Description& d_;
  std::shared_ptr<const Arrays> s_;
};

/// Tiles that represent all others: up to kAlike of each set with equal work, as their data differ.
std::vector<Tile> representatives(const Subject& subject, const Plan& plan) {
  constexpr std::size_t kAlike = 8;
  const Layout layout(subject, plan);
  std::map<std::vector<std::uint64_t>, std::vector<Tile>> kinds;
  const auto number = [&](const Neurons* its) {
    return its == nullptr ? 0 : (std::uint64_t{its->layer} << 32) + its->count();
  };
  for (Tile tile = 0; tile < subject.machine.tiles; ++tile) {
    std::vector<std::uint64_t> kind{tile == 0, number(layout.neurons(tile)),
                                    number(layout.listens_for(tile)),
                                    number(layout.listens_for(tile ^ 1U))};
    for (VectorId v = 0; v < layout.vector_count(); ++v) {
      kind.push_back(layout.sites(v, tile).size());
      kind.push_back(layout.homes(v, tile).size());
    }
    for (const Reduction& of : plan.reductions)
      kind.push_back(subject.options.train ? layout.group_sums(of, tile).size() : 0);
    kinds[kind].push_back(tile);
  }
  std::vector<Tile> tiles;
  for (const auto& [kind, alike] : kinds) {
    const std::size_t looked = std::min(alike.size(), kAlike);
    for (std::size_t i = 0; i < looked; ++i) tiles.push_back(alike[i * alike.size() / looked]);
  }
  return tiles;
}

}  // namespace

plan::Described describe_program(const Subject& subject, const Plan& plan) {
  plan::Described made(subject.machine.tiles);
  made.description.expect(word(subject.stated.size()));
  Statement(made.description, subject, plan).state();
  made.tiles = representatives(subject, plan);
  return made;
}

}  // namespace tessera::snn
