#include "kernels/snn/program.h"
#include "kernels/training/loss.h"

namespace tessera::snn {

using training::kResultBytes;

/// Sums of the read-out's states, from its tiles to the samples'.
void ProgramBuilder::gather_logits() {
  Exchange exchange{"logits", {}};
  for (const Neurons& tile : neurons_.back())
    for (std::uint32_t b = 0; b < plan_.batch; ++b)
      exchange.copies.push_back({{tile.sums, 2 * b * tile.pairs * 4},
                                 tile.count() * 4,
                                 {{homes_.back()[b].logits, tile.begin * 4}}});
  add_step(std::move(exchange));
}

/// Their gradients, back again.
void ProgramBuilder::spread_logit_gradients() {
  Exchange exchange{"logit gradients", {}};
  for (const Neurons& tile : neurons_.back())
    for (std::uint32_t b = 0; b < plan_.batch; ++b)
      exchange.copies.push_back({{homes_.back()[b].logit_gradients, tile.begin * 4},
                                 tile.count() * 4,
                                 {{tile.logits, 2 * b * tile.pairs * 4}}});
  add_step(std::move(exchange));
}

/// Softmax and cross-entropy, each sample on its own tile; tile 0 adds up.
void ProgramBuilder::add_loss(const Turn& turn) {
  const bool reads_out = !listed(word(homes_.size() - 1));
  if (reads_out) gather_logits();
  ComputeSet set{"loss", {}};
  Exchange exchange{"losses", {}};
  const BufferId losses = buffer(0, std::uint64_t{plan_.batch} * kResultBytes, "losses");
  for (std::uint32_t b = 0; b < plan_.batch; ++b) {
    const Home& home = homes_.back()[b];
    set.vertices.push_back(
        training::loss_call(*this, "training_cross_entropy", {network_.outputs(), plan_.batch},
                            {home.tile, home.logits, home.logit_gradients, home.label, home.result,
                             1, 1, round_up(network_.outputs(), 2U)}));
    exchange.copies.push_back({{home.result}, kResultBytes, {{losses, b * kResultBytes}}});
  }
  add_step(std::move(set));
  add_step(std::move(exchange));
  const BufferId mean =
      training::add_total(*this, "total loss", losses, plan_.batch, 1.0 / plan_.batch, "mean loss");
  if (reads_out && turn.trains) spread_logit_gradients();
  add_step(training::telling(turn.tests, {mean}));
}

/// Workers' gradients are added up, and weights follow them.
void ProgramBuilder::add_update() {
  const training::Learning& learning = options_.learning;
  ComputeSet set{"update weights", {}};
  for (std::uint32_t l = 0; l < neurons_.size(); ++l) {
    for (const Neurons& tile : neurons_[l]) {
      const BufferId rate = training::add_rate(*this, learning, tile.tile);
      set.vertices.push_back(training::scheduling(*this, learning, rate));
      const std::uint32_t words = tile.pairs * network_.layers[l].rows();
      if (tile.copies > 1)
        set.vertices.push_back(
            all(tile.tile, "snn_sum",
                {Place{tile.gradients}, Place{tile.gradients}, words, words * 8, tile.copies}));
      const training::Stretch stretch{tile.weights,       tile.weights,        tile.gradients,
                                      tile.first_moments, tile.second_moments, 2ULL * words};
      set.vertices.push_back(training::updating(*this, learning, stretch, rate));
    }
  }
  add_step(std::move(set));
}

}  // namespace tessera::snn
