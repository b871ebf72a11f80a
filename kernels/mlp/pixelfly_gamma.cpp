#include "kernels/mlp/pixelfly_gamma.h"

#include <cmath>

#include "kernels/pixelfly/gamma.h"

namespace tessera::mlp {

using pixelfly::Factor;
using pixelfly::kSumBytes;

PixelflyGamma::PixelflyGamma(Assembly& assembly, sparse::Assembly& sparse,
                             const LayerContext& context, const AtRest& w, std::uint64_t first_of_u)
    : assembly_(assembly),
      sparse_(sparse),
      w_(w),
      first_of_u_(first_of_u),
      bias_(context.linear.padded_inputs()) {
  const LayerOptions& layer = context.linear.layer;
  const bool given = layer.learn_gamma && context.linear.given != nullptr;
  const auto value = static_cast<float>(given ? context.linear.given->back() : *layer.gamma);
  if (layer.learn_gamma)
    parameter_ =
        training::StretchMaker(assembly, context.learning).masters(0, 1, [value](std::uint64_t) {
          return value;
        });
  for (std::uint32_t t = 0; t < w.storage.tiles(); ++t)
    gamma_.push_back(layer.learn_gamma ? assembly.buffer(t, sizeof value, "gamma")
                                       : sparse.list(t, std::vector{value}, "gamma"));
}

std::vector<pixelfly::FactorRun> PixelflyGamma::runs(std::uint32_t tile) const {
  return factor_runs(w_.of, tile, [&](std::uint64_t e) {
    const std::uint64_t column = std::uint64_t{w_.of.column(e)} * w_.block;
    if (column >= first_of_u_) return Factor::of_uv;
    return column == bias_ ? Factor::none : Factor::of_s;
  });
}

std::vector<BufferId> PixelflyGamma::multiply() {
  if (parameter_) {
    program::Copy told{parameter_->weights_place(), sizeof(float), {}};
    for (const BufferId each : gamma_) told.destinations.push_back({each});
    assembly_.add_step(program::Exchange{"gamma", {std::move(told)}});
  }
  std::vector<BufferId> copies = sparse_.stored(w_.storage, "weights times gamma");
  program::ComputeSet set{"scale", {}};
  for (std::uint32_t t = 0; t < copies.size(); ++t)
    set.vertices.push_back(
        pixelfly::scaling(sparse_, assembly_.type(), TileId(t),
                          {w_.stretches[t].weights, copies[t], gamma_[t], runs(t)}));
  assembly_.add_step(std::move(set));
  return copies;
}

void PixelflyGamma::add_gradients() {
  const std::uint32_t contexts = sparse_.contexts();
  program::ComputeSet set{"gradients of parts", {}};
  std::vector<BufferId> sums;
  for (std::uint32_t t = 0; t < gamma_.size(); ++t) {
    const training::Stretch& mine = w_.stretches[t];
    const pixelfly::ScaledElements elements{mine.gradient, mine.gradient, gamma_[t], runs(t)};
    if (!parameter_) {
      set.vertices.push_back(pixelfly::scaling(sparse_, mine.gradients, TileId(t), elements));
      continue;
    }
    const BufferId workers = assembly_.buffer(t, contexts * sizeof(float), "gamma gradients");
    sums.push_back(assembly_.buffer(t, kSumBytes, "gamma gradient"));
    set.vertices.push_back(pixelfly::gradient_scaling(sparse_, mine.gradients, TileId(t), elements,
                                                      mine.weights, workers));
    set.vertices.push_back(pixelfly::sum_of(sparse_, TileId(t), workers, contexts, sums.back()));
  }
  assembly_.add_step(std::move(set));
  if (parameter_) add_up(sums);
}

/// In groups of about as many tiles as there are groups, then of all.
void PixelflyGamma::add_up(const std::vector<BufferId>& sums) {
  const auto group =
      static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(sums.size()))));
  const auto level = [&](const std::vector<BufferId>& from, std::uint32_t members,
                         const std::vector<BufferId>& into) {
    program::Exchange exchange{"gamma gradients", {}};
    program::ComputeSet set{"gamma gradients", {}};
    for (std::size_t g = 0; g < into.size(); ++g) {
      const std::size_t count = std::min<std::size_t>(members, from.size() - g * members);
      const TileId tile = assembly_.program().buffer(into[g]).tile;
      const BufferId received =
          assembly_.buffer(index(tile), count * sizeof(float), "gamma gradients received");
      for (std::size_t i = 0; i < count; ++i)
        exchange.copies.push_back(
            {{from[g * members + i]}, sizeof(float), {{received, word(i * sizeof(float))}}});
      set.vertices.push_back(pixelfly::sum_of(sparse_, tile, received, count, into[g]));
    }
    assembly_.add_step(std::move(exchange));
    assembly_.add_step(std::move(set));
  };
  std::vector<BufferId> groups;
  for (std::uint32_t t = 0; t < sums.size(); t += group)
    groups.push_back(assembly_.buffer(t, kSumBytes, "gamma gradient of a group"));
  level(sums, group, groups);
  level(groups, word(groups.size()), {parameter_->gradient});
}

}  // namespace tessera::mlp
