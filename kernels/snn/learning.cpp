#include "kernels/snn/program.h"
#include "kernels/training/matrix.h"

namespace tessera::snn {

using training::bits_of;

/// Sums of the read-out's states, from its tiles to the samples'.
void ProgramBuilder::gather_logits(program::Sequence& body) {
  Exchange exchange{"logits", {}};
  for (const Neurons& tile : neurons_.back())
    for (std::uint32_t b = 0; b < plan_.batch; ++b)
      exchange.copies.push_back({{tile.sums, 2 * b * tile.pairs * 4},
                                 tile.count() * 4,
                                 {{homes_.back()[b].logits, tile.begin * 4}}});
  step(body, std::move(exchange));
}

/// Their gradients, back again.
void ProgramBuilder::spread_logit_gradients(program::Sequence& body) {
  Exchange exchange{"logit gradients", {}};
  for (const Neurons& tile : neurons_.back())
    for (std::uint32_t b = 0; b < plan_.batch; ++b)
      exchange.copies.push_back({{homes_.back()[b].logit_gradients, tile.begin * 4},
                                 tile.count() * 4,
                                 {{tile.logits, 2 * b * tile.pairs * 4}}});
  step(body, std::move(exchange));
}

/// Softmax and cross-entropy, each sample on its own tile; tile 0 adds up.
void ProgramBuilder::add_loss(program::Sequence& body, const Turn& turn) {
  const bool reads_out = !listed(word(homes_.size() - 1));
  if (reads_out) gather_logits(body);
  constexpr std::uint32_t kResultBytes = 8;
  ComputeSet set{"loss", {}};
  Exchange exchange{"losses", {}};
  const BufferId losses = buffer(0, std::uint64_t{plan_.batch} * kResultBytes, "losses");
  const BufferId totals = buffer(0, kResultBytes, "mean loss");
  for (std::uint32_t b = 0; b < plan_.batch; ++b) {
    const Home& home = homes_.back()[b];
    set.vertices.push_back(all(
        home.tile, "training_cross_entropy",
        {Place{home.logits}, Place{home.logit_gradients}, Place{home.label}, Place{home.result}, 1U,
         network_.outputs(), round_up(network_.outputs(), 2U), bits_of(1.0 / plan_.batch), 1U}));
    exchange.copies.push_back({{home.result}, kResultBytes, {{losses, b * kResultBytes}}});
  }
  step(body, std::move(set));
  step(body, std::move(exchange));
  ComputeSet sum{"total loss", {}};
  sum.vertices.push_back(
      one(0, "training_totals",
          {Place{losses}, Place{totals}, plan_.batch, bits_of(1.0 / plan_.batch)}));
  step(body, std::move(sum));
  if (reads_out && turn.trains) spread_logit_gradients(body);
  step(body, program::HostTransfer{std::string(turn.first_sample > 0 ? training::kTestResults
                                                                     : training::kTrainingResults),
                                   program::HostTransfer::Direction::write,
                                   {{{totals}, kResultBytes}}});
}

/// Workers' gradients are added up, and weights follow them.
void ProgramBuilder::add_update(program::Sequence& body) {
  const training::Learning& learning = options_.learning;
  ComputeSet set{"update weights", {}};
  for (std::uint32_t l = 0; l < neurons_.size(); ++l) {
    for (const Neurons& tile : neurons_[l]) {
      const auto [rate, is_new] = rates_.try_emplace(tile.tile);
      if (is_new)
        rate->second =
            buffer(tile.tile, training::kRateBytes, "rate", training::first_rate(learning), true);
      set.vertices.push_back(one(tile.tile, training::schedule_codelet(learning),
                                 training::schedule_arguments(learning, Place{rate->second})));
      const std::uint32_t words = tile.pairs * network_.layers[l].rows();
      if (tile.copies > 1)
        set.vertices.push_back(
            all(tile.tile, "snn_sum",
                {Place{tile.gradients}, Place{tile.gradients}, words, words * 8, tile.copies}));
      set.vertices.push_back(
          all(tile.tile, training::update_codelet(learning),
              training::update_arguments(
                  learning, {tile.weights, tile.gradients, tile.first_moments, tile.second_moments},
                  Place{rate->second}, {words, contexts()})));
    }
  }
  step(body, std::move(set));
}

}  // namespace tessera::snn
