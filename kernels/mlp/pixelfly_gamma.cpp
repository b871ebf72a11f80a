#include <cmath>

#include "kernels/mlp/pixelfly_weights.h"
#include "kernels/pixelfly/gamma.h"

namespace tessera::mlp {

using pixelfly::Factor;
using pixelfly::kSumBytes;

PixelflyGamma::PixelflyGamma(training::Statement& statement, const LayerContext& context,
                             std::shared_ptr<const AtRest> w, std::uint64_t first_of_u)
    : statement_(statement),
      w_(std::move(w)),
      runs_([w = w_, first_of_u, bias = context.linear.padded_inputs()](Tile tile) {
        return pixelfly::factor_runs(w->of, tile, [&](std::uint64_t e) {
          const std::uint64_t column = std::uint64_t{w->of.column(e)} * w->block;
          if (column >= first_of_u) return Factor::of_uv;
          return column == bias ? Factor::none : Factor::of_s;
        });
      }),
      fixed_(*context.linear.layer.gamma) {
  const LayerOptions& layer = context.linear.layer;
  if (!layer.learn_gamma) return;
  const auto value =
      static_cast<float>(context.linear.given ? context.linear.given->back() : *layer.gamma);
  parameter_ = training::ParameterMaker(statement, context.learning, context.copies)
                   .numbers([](Tile tile) { return tile == 0 ? 1U : 0U; },
                            [value](Tile /*tile*/) { return std::vector<double>{value}; });
  gamma_ = statement.array("gamma", [storage = w_->storage](Tile tile) -> std::uint64_t {
    return tile < storage.tiles() ? sizeof(float) : 0;
  });
}

BufferId PixelflyGamma::multiply(BufferId weights) {
  plan::Description& d = statement_.description();
  const Tile tiles = w_->storage.tiles();
  if (parameter_)
    d.exchange("gamma", tiles,
               [to = gamma_, from = parameter_->weights](Tile /*tile*/, Pulls& pulls) {
                 pulls.push_back({{to}, 0, {from}, sizeof(float)});
               });
  if (!scaling_ && parameter_)
    scaling_.emplace(sparse(), statement_.type(), gamma_, runs_);
  else if (!scaling_)
    scaling_.emplace(sparse(), statement_.type(), fixed_, runs_);
  const BufferId copies = sparse().stored(w_->storage, "weights times gamma");
  d.compute("scale", tiles, [scaling = *scaling_, weights, copies](Tile tile, Calls& calls) {
    scaling.add(calls, tile, weights, copies);
  });
  return copies;
}

void PixelflyGamma::add_gradients(const Parameters& w) {
  plan::Description& d = statement_.description();
  const Tile tiles = w_->storage.tiles();
  if (!parameter_)
    return d.compute("gradients of parts", tiles,
                     [scaling = *scaling_, of = w.gradient](Tile tile, Calls& calls) {
                       scaling.add(calls, tile, of, of);
                     });
  const std::uint32_t contexts = statement_.contexts();
  const auto on_tiles = [&](const char* name, std::uint64_t bytes) {
    return statement_.array(name, [tiles, bytes](Tile tile) { return tile < tiles ? bytes : 0; });
  };
  const BufferId workers = on_tiles("gamma gradients", contexts * sizeof(float));
  const BufferId sums = on_tiles("gamma gradient", kSumBytes);
  d.compute("gradients of parts", tiles,
            [=, scaling = *scaling_, code = pixelfly::Scaling::gradient_code(sparse(), w.gradients),
             adds = sparse().codelet("gamma_sum"), of = w.gradient,
             weights = w.weights](Tile tile, Calls& calls) {
              scaling.add_gradients(calls, tile, code, of, weights, workers);
              calls.add(pixelfly::sum_of(adds, workers, contexts, sums));
            });
  add_up(sums);
}

/// In groups of about as many tiles as there are groups, then of all.
void PixelflyGamma::add_up(BufferId sums) {
  const Tile tiles = w_->storage.tiles();
  const auto group = static_cast<Tile>(std::ceil(std::sqrt(static_cast<double>(tiles))));
  // Of `count` tiles, each `apart` from the next, `members` are added up on the first of them.
  const auto level = [&](BufferId from, Tile apart, Tile members, BufferId into) {
    const auto of = [=](Tile tile) -> Tile {
      if (tile >= tiles || tile % (apart * members) != 0) return 0;
      return std::min(members, ceil_div(tiles - tile, apart));
    };
    const BufferId received = statement_.array(
        "gamma gradients received", [of](Tile tile) { return of(tile) * sizeof(float); });
    statement_.description().exchange("gamma gradients", tiles, [=](Tile tile, Pulls& pulls) {
      for (Tile i = 0; i < of(tile); ++i)
        pulls.push_back(
            {{received, word(i * sizeof(float))}, tile + i * apart, {from}, sizeof(float)});
    });
    statement_.description().compute(
        "gamma gradients", tiles,
        [of, received, into, code = sparse().codelet("gamma_sum")](Tile tile, Calls& calls) {
          if (of(tile) > 0) calls.add(pixelfly::sum_of(code, received, of(tile), into));
        });
  };
  const BufferId groups = statement_.array("gamma gradient of a group", [=](Tile tile) {
    return tile < tiles && tile % group == 0 ? kSumBytes : 0;
  });
  level(sums, 1, group, groups);
  level(groups, group, ceil_div(tiles, group), parameter_->gradient);
}

}  // namespace tessera::mlp
