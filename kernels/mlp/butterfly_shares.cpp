#include <cstring>

#include "kernels/mlp/butterfly_layer.h"

namespace tessera::mlp {

using kernels::Interval;
using program::Place;
using training::kElementBytes;

std::vector<std::uint64_t> ButterflyLayer::twiddle_places(std::uint32_t stack,
                                                          std::uint32_t tile) const {
  const butterfly::Problem& problem = geometry_.problem;
  const std::uint64_t each = problem.twiddle_parameters();
  std::vector<std::uint64_t> places;
  layout_.for_pairs(tile, [&](std::uint32_t stage, std::uint32_t pair) {
    for (std::uint64_t i = 0; i < each; ++i)
      places.push_back(((std::uint64_t{stack} * stages() + stage) * problem.pairs() + pair) * each +
                       i);
  });
  return places;
}

std::vector<std::uint64_t> ButterflyLayer::bias_places(std::uint32_t stack,
                                                       std::uint32_t tile) const {
  const Linear& linear = context_.linear;
  const Interval share = bias_share(tile);
  std::vector<std::uint64_t> places;
  for (std::uint64_t row = share.begin / kElementBytes; row < share.end / kElementBytes; ++row) {
    const std::uint64_t feature =
        row < geometry_.rows()
            ? std::uint64_t{stack} * geometry_.problem.features +
                  layout_.passes().back().rows.feature(geometry_.feature_part(tile), word(row))
            : kNone;
    places.push_back(feature < linear.outputs ? linear.parameters() - linear.outputs + feature
                                              : kNone);
  }
  return places;
}

void ButterflyLayer::enter(const std::vector<Place>& masters,
                           const std::vector<std::uint64_t>& from, std::vector<Place>& places) {
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] != kNone) places[from[i]] = masters[i];
}

void ButterflyLayer::distribute() {
  program::ComputeSet turns{"rotations", {}};
  program::Exchange exchange{"twiddles", {}};
  for (Stack& stack : stacks_) {
    stack.all_twiddles.clear();
    stack.all_bias.clear();
    stack.turns.clear();
    stack.applied_turns.clear();
    for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
      stack.all_twiddles.push_back(
          assembly_.buffer(t, layout_.bytes() / 16 * applied_bytes(), "twiddles"));
      stack.all_bias.push_back(assembly_.buffer(t, applied({0, bias_bytes()}).size(), "bias"));
      if (rotates()) add_turns(turns, stack, t);
    }
    for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
      const Interval share = layout_.share(t);
      send(exchange, rotates() ? stack.applied_turns[t] : stack.twiddles[t].weights,
           {share.begin / 16 * applied_bytes(), share.end / 16 * applied_bytes()},
           stack.all_twiddles);
      send(exchange, stack.bias[t].weights, applied(bias_share(t)), stack.all_bias);
    }
  }
  if (!turns.vertices.empty()) assembly_.add_step(std::move(turns));
  assembly_.add_step(std::move(exchange));
}

void ButterflyLayer::add_turns(program::ComputeSet& set, Stack& stack, std::uint32_t tile) {
  const std::uint64_t pairs = pairs_of_share(tile);
  stack.turns.push_back(assembly_.buffer(tile, pairs * 8, "cosines and sines"));
  stack.applied_turns.push_back(
      halves() ? assembly_.buffer(tile, pairs * applied_bytes(), "cosines and sines")
               : stack.turns[tile]);
  set.vertices.push_back(
      assembly_.all(tile, assembly_.typed("training_rotations"),
                    {Place{stack.twiddles[tile].masters}, Place{stack.turns[tile]}, word(pairs)}));
  if (halves()) set.vertices.back().arguments.emplace_back(Place{stack.applied_turns[tile]});
}

void ButterflyLayer::send(program::Exchange& exchange, BufferId from, Interval bytes,
                          const Buffers& all) const {
  if (bytes.size() == 0) return;
  const std::uint32_t part = geometry_.feature_part(assembly_.tile_of(from));
  program::Copy copy{{from}, word(bytes.size()), {}};
  for (std::uint32_t p = 0; p < parts(); ++p)
    copy.destinations.push_back({all[p * geometry_.plan.split_features + part], word(bytes.begin)});
  exchange.copies.push_back(std::move(copy));
}

void ButterflyLayer::add_up() {
  program::ComputeSet own{"sums", {}};
  program::Exchange exchange{"shares", {}};
  program::ComputeSet set{"sums of shares", {}};
  for (Stack& stack : stacks_) {
    for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
      if (arrays(t) > 1)
        own.vertices.push_back(sum(t, layout_.bytes(), arrays(t) - 1, {stack.sums[t]},
                                   {stack.sums[t], word(layout_.bytes())}, {stack.sums[t]}));
      const Interval share = layout_.share(t);
      BufferId& gradient = stack.twiddles[t].gradient;
      const Place pairs = shared(exchange, set, t, share, stack.sums,
                                 rotates() ? std::nullopt : std::optional(gradient));
      if (!rotates()) gradient = pairs.buffer;
      if (rotates() && halves()) set.vertices.push_back(assembly_.clearing(gradient));
      if (rotates() && share.size() > 0)
        set.vertices.push_back(
            vertices_.angles(TileId(t), pairs_of_share(t), pairs, stack.turns[t], gradient));
      stack.bias[t].gradient =
          shared(exchange, set, t, bias_share(t), stack.bias_sums, stack.bias[t].gradient).buffer;
    }
  }
  if (!own.vertices.empty()) assembly_.add_step(std::move(own));
  if (!exchange.copies.empty()) assembly_.add_step(std::move(exchange));
  if (!set.vertices.empty()) assembly_.add_step(std::move(set));
}

program::Vertex ButterflyLayer::sum(std::uint32_t tile, std::uint64_t bytes, std::uint32_t count,
                                    Place first, Place further, Place result, program::Type type) {
  return assembly_.dense().adding(TileId(tile), type, bytes, count, first, further, result);
}

Place ButterflyLayer::shared(program::Exchange& exchange, program::ComputeSet& set,
                             std::uint32_t tile, Interval share, const Buffers& sums,
                             std::optional<BufferId> result) {
  const Place own{sums[tile], word(share.begin)};
  if (parts() == 1) return own;
  const Place to = result ? Place{*result} : own;
  if (share.size() == 0) return to;
  const BufferId received = assembly_.buffer(tile, share.size() * (parts() - 1), "received");
  std::uint64_t at = 0;
  for (std::uint32_t p = 0; p < parts(); ++p) {
    const std::uint32_t from = geometry_.feature_part(tile) + p * geometry_.plan.split_features;
    if (from == tile) continue;
    exchange.copies.push_back(
        {{sums[from], word(share.begin)}, word(share.size()), {{received, word(at)}}});
    at += share.size();
  }
  set.vertices.push_back(sum(tile, share.size(), parts() - 1, own, {received}, to));
  return to;
}

}  // namespace tessera::mlp
