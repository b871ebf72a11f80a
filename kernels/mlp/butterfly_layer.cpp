#include <bit>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/butterfly/gradient.h"
#include "kernels/butterfly/vertices.h"
#include "kernels/mlp/layer.h"
#include "sim/base/errors.h"

namespace tessera::mlp {

using butterfly::GradientLayout;
using butterfly::RowPass;
using butterfly::Rows;
using kernels::EvenSplit;
using kernels::Interval;
using program::Place;
using training::kElementBytes;
using training::Lines;
using training::word;

namespace {

constexpr std::uint64_t kPair = gemm::Vertices::kPair;

/// What one tile applies to a row: the feature's place among the tiles' parts and rows.
struct FeaturePlace {
  std::uint32_t part, row;
};
FeaturePlace place_of(const Rows& rows, std::uint32_t feature) {
  FeaturePlace place{0, 0};
  for (std::uint32_t i = 0; i < rows.row_bits.size(); ++i)
    place.row |= (feature >> rows.row_bits[i] & 1U) << i;
  for (std::uint32_t i = 0; i < rows.tile_bits.size(); ++i)
    place.part |= (feature >> rows.tile_bits[i] & 1U) << i;
  return place;
}

/// A layer of butterfly factors: parameters lie in shares on the tiles that add up their gradients;
/// every turn begins by sending them to all tiles that apply them.
class ButterflyLayer : public Layer {
 public:
  ButterflyLayer(Assembly& assembly, const LayerContext& context, const ButterflyPlan& plan)
      : assembly_(assembly),
        context_(context),
        geometry_(plan.geometry),
        layout_(geometry_),
        code_("butterfly"),
        vertices_(code_, assembly.program(), geometry_.problem, assembly.machine().tile.contexts,
                  geometry_.plan.workers_n),
        stacks_(context.linear.stacks()) {
    const auto values = std::make_shared<const std::vector<double>>(
        initial_parameters(context.seed, context.number, context.linear));
    for (std::uint32_t s = 0; s < stacks_.size(); ++s) {
      for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
        add_share(stacks_[s].twiddles, t, twiddle_places(s, t), values);
        add_share(stacks_[s].bias, t, bias_places(s, t), values);
      }
    }
  }

  void forward(const Matrix& x, const Matrix& z) override {
    distribute();
    for (Stack& stack : stacks_) {
      stack.x.clear();
      for (std::uint32_t stage = 0; stage <= stages(); ++stage)
        stack.x.push_back(row_buffers("inputs of factors"));
    }
    const auto at = [](std::uint32_t stage) {
      return [stage](const Stack& stack) -> const Buffers& { return stack.x[stage]; };
    };
    bring(x, inputs(all(at(0))), all(at(0)), features());
    for (std::uint32_t stage = 0; stage < stages(); ++stage) {
      const RowPass& pass = layout_.passes()[stage];
      if (pass.before) swap(*pass.before, all(at(stage)));
      program::ComputeSet set{"factors", {}};
      for (const Stack& stack : stacks_) {
        for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
          set.vertices.push_back(vertices_.pass(TileId(t), pass, geometry_.units(t).size(),
                                                twiddles(stack, t, stage), stack.x[stage][t],
                                                stack.x[stage + 1][t]));
          if (stage + 1 == stages())
            set.vertices.push_back(
                row_numbers("training_add_bias", t, stack.x[stage + 1][t], stack.all_bias[t]));
        }
      }
      assembly_.add_step(std::move(set));
    }
    // Of samples only: those of padding have the bias too.
    const std::uint64_t samples = std::uint64_t{z.rows} * kElementBytes;
    take(outputs(all(at(stages())), context_.linear.outputs, samples), z);
  }

  std::optional<Matrix> backward(const Matrix& x, const Matrix& gradient, bool wanted) override {
    for (Stack& stack : stacks_) {
      stack.gradient = row_buffers("gradient of factors");
      stack.sums.clear();
      stack.bias_sums.clear();
      for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
        stack.sums.push_back(assembly_.buffer(t, layout_.bytes() * arrays(), "sums"));
        stack.bias_sums.push_back(assembly_.buffer(t, bias_bytes(), "sums of the bias"));
      }
    }
    const auto of = [](const Stack& stack) -> const Buffers& { return stack.gradient; };
    const std::uint64_t every = stacks_.size() * features();
    bring(gradient, outputs(all(of), every, ~std::uint64_t{0}), all(of), every);
    for (std::uint32_t stage = stages(); stage-- > 0;) {
      assembly_.add_step(backward_factors(stage, stage > 0 || wanted));
      const RowPass& pass = layout_.passes()[stage];
      if (pass.before) swap(*pass.before, all(of));
    }
    add_up();
    if (!wanted) return std::nullopt;
    add_stacks();
    const Matrix back = assembly_.matrix(x.rows, x.columns, "gradient of activations");
    take(inputs({stacks_.front().gradient}, context_.linear.inputs), back);
    return back;
  }

  void update(const Assembly::Rates& rates) override {
    std::vector<Assembly::Trained> all;
    for (const Stack& stack : stacks_)
      for (const Share* share : {&stack.twiddles, &stack.bias})
        for (std::size_t i = 0; i < share->weights.size(); ++i)
          all.push_back({share->weights[i], share->gradient[i], share->first[i],
                         share->second.empty() ? share->first[i] : share->second[i]});
    assembly_.update(*context_.learning, rates, all);
  }

  [[nodiscard]] std::uint32_t tiles() const override { return geometry_.tiles(); }
  [[nodiscard]] std::vector<Place> parameters() const override {
    std::vector<Place> places(context_.linear.parameters());
    for (std::uint32_t s = 0; s < stacks_.size(); ++s)
      for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
        enter(stacks_[s].twiddles.weights[t], twiddle_places(s, t), places);
        enter(stacks_[s].bias.weights[t], bias_places(s, t), places);
      }
    return places;
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};  // of no parameter: padding

  /// Some parameters by tile, with what training keeps of them.
  struct Share {
    std::vector<BufferId> weights, first, second, gradient;
  };
  struct Stack {
    Share twiddles, bias;
    std::vector<BufferId> turns;                   ///< cosines and sines of the share
    std::vector<BufferId> all_twiddles, all_bias;  ///< what a tile applies
    std::vector<std::vector<BufferId>> x;          ///< by factor whose input it is, and the result
    std::vector<BufferId> gradient;
    std::vector<BufferId> sums, bias_sums;
  };
  using Buffers = std::vector<BufferId>;

  [[nodiscard]] std::uint32_t stages() const { return geometry_.problem.stages(); }
  [[nodiscard]] bool rotates() const {
    return geometry_.problem.parameters == butterfly::Parameters::rotation;
  }
  [[nodiscard]] std::uint32_t parts() const { return geometry_.plan.split_n; }
  [[nodiscard]] std::uint32_t arrays() const { return geometry_.plan.workers_n; }
  [[nodiscard]] std::uint64_t pairs_of_share(std::uint32_t tile) const {
    return layout_.share(tile).size() / layout_.pair_bytes();
  }
  /// Bytes of a pair as tiles apply it.
  [[nodiscard]] std::uint32_t applied_bytes() const { return rotates() ? 8 : 16; }
  [[nodiscard]] std::uint64_t bias_bytes() const {
    return round_up(std::uint64_t{geometry_.rows()} * kElementBytes, kPair);
  }
  [[nodiscard]] Interval bias_share(std::uint32_t tile) const {
    const Interval pairs =
        EvenSplit{bias_bytes() / kPair, parts()}.part(tile / geometry_.plan.split_features);
    return {pairs.begin * kPair, pairs.end * kPair};
  }

  /// Which parameters a tile's share consists of.
  [[nodiscard]] std::vector<std::uint64_t> twiddle_places(std::uint32_t stack,
                                                          std::uint32_t tile) const {
    const butterfly::Problem& problem = geometry_.problem;
    const std::uint64_t each = problem.twiddle_parameters();
    std::vector<std::uint64_t> places;
    layout_.for_pairs(tile, [&](std::uint32_t stage, std::uint32_t pair) {
      for (std::uint64_t i = 0; i < each; ++i)
        places.push_back(
            ((std::uint64_t{stack} * stages() + stage) * problem.pairs() + pair) * each + i);
    });
    return places;
  }
  [[nodiscard]] std::vector<std::uint64_t> bias_places(std::uint32_t stack,
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
  static void enter(BufferId buffer, const std::vector<std::uint64_t>& from,
                    std::vector<Place>& places) {
    for (std::size_t i = 0; i < from.size(); ++i)
      if (from[i] != kNone) places[from[i]] = {buffer, word(i * kElementBytes)};
  }

  void add_share(Share& share, std::uint32_t tile, std::vector<std::uint64_t> places,
                 const std::shared_ptr<const std::vector<double>>& values) {
    const std::uint64_t bytes = round_up(places.size() * kElementBytes, std::uint64_t{8});
    const auto fill = [places = std::move(places), values](std::span<std::byte> into) {
      for (std::size_t i = 0; i < places.size(); ++i) {
        const auto value = static_cast<float>(places[i] == kNone ? 0.0 : (*values)[places[i]]);
        std::memcpy(into.data() + i * kElementBytes, &value, sizeof value);
      }
    };
    share.weights.push_back(assembly_.buffer(tile, bytes, "weights", fill, true));
    if (context_.learning == nullptr) return;
    const auto zeros = [](std::span<std::byte> into) { std::ranges::fill(into, std::byte{}); };
    share.first.push_back(assembly_.buffer(tile, bytes, "moments", zeros, true));
    if (context_.learning->optimiser == training::Optimiser::adam)
      share.second.push_back(assembly_.buffer(tile, bytes, "second moments", zeros, true));
    share.gradient.push_back(assembly_.buffer(tile, std::max(bytes, kPair), "weight gradients"));
  }

  /// Every tile's share to all that apply the same.
  void distribute() {
    program::ComputeSet turns{"rotations", {}};
    program::Exchange exchange{"twiddles", {}};
    for (Stack& stack : stacks_) {
      stack.all_twiddles.clear();
      stack.all_bias.clear();
      stack.turns.clear();
      for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
        stack.all_twiddles.push_back(
            assembly_.buffer(t, layout_.bytes() / 16 * applied_bytes(), "twiddles"));
        stack.all_bias.push_back(assembly_.buffer(t, bias_bytes(), "bias"));
        if (rotates()) add_turns(turns, stack, t);
      }
      const Buffers& shares = rotates() ? stack.turns : stack.twiddles.weights;
      for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
        const Interval share = layout_.share(t);
        send(exchange, shares[t],
             {share.begin / 16 * applied_bytes(), share.end / 16 * applied_bytes()},
             stack.all_twiddles);
        send(exchange, stack.bias.weights[t], bias_share(t), stack.all_bias);
      }
    }
    if (!turns.vertices.empty()) assembly_.add_step(std::move(turns));
    assembly_.add_step(std::move(exchange));
  }
  void add_turns(program::ComputeSet& set, Stack& stack, std::uint32_t tile) {
    const std::uint64_t pairs = pairs_of_share(tile);
    stack.turns.push_back(assembly_.buffer(tile, pairs * 8, "cosines and sines"));
    set.vertices.push_back(
        {TileId(tile),
         assembly_.codelet("training_rotations"),
         program::Executor::all_workers,
         0,
         {Place{stack.twiddles.weights[tile]}, Place{stack.turns[tile]}, word(pairs)}});
  }
  /// What `from` holds becomes `bytes` of `all` on every tile with its features.
  void send(program::Exchange& exchange, BufferId from, Interval bytes, const Buffers& all) const {
    if (bytes.size() == 0) return;
    const std::uint32_t part = geometry_.feature_part(index(assembly_.program().buffer(from).tile));
    program::Copy copy{{from}, word(bytes.size()), {}};
    for (std::uint32_t p = 0; p < parts(); ++p)
      copy.destinations.push_back(
          {all[p * geometry_.plan.split_features + part], word(bytes.begin)});
    exchange.copies.push_back(std::move(copy));
  }

  [[nodiscard]] Buffers row_buffers(std::string_view name) {
    Buffers buffers;
    for (std::uint32_t t = 0; t < geometry_.tiles(); ++t)
      buffers.push_back(assembly_.buffer(t, geometry_.bytes(t), name));
    return buffers;
  }
  template <class Of>
  [[nodiscard]] std::vector<Buffers> all(const Of& of) const {
    std::vector<Buffers> buffers;
    for (const Stack& stack : stacks_) buffers.push_back(of(stack));
    return buffers;
  }
  [[nodiscard]] std::uint32_t features() const { return geometry_.problem.features; }

  /// Rows of features on their tiles: `row` is a feature of each of `buffers`, or of one stack
  /// after the other.
  [[nodiscard]] Lines lines(std::vector<Buffers> buffers, const Rows& rows, bool stacked,
                            std::uint64_t limit, std::uint64_t bytes) const {
    return {[buffers = std::move(buffers), rows, stacked, limit, bytes, geometry = geometry_](
                std::uint64_t row, std::uint64_t begin, std::uint64_t end) {
      Lines::Pieces pieces;
      if (row >= limit) return pieces;
      const std::uint64_t n = geometry.problem.features;
      const FeaturePlace place = place_of(rows, word(row % n));
      for (std::size_t s = stacked ? row / n : 0; s < (stacked ? row / n + 1 : buffers.size()); ++s)
        for (std::uint32_t p = 0; p < geometry.plan.split_n; ++p) {
          const std::uint32_t tile = p * geometry.plan.split_features + place.part;
          const Interval units = geometry.units(tile);
          const std::uint64_t first = std::max(begin, units.begin * 8);
          const std::uint64_t last = std::min({end, units.end * 8, bytes});
          if (first >= last) continue;
          const std::uint64_t offset = place.row * units.size() * 8 + first - units.begin * 8;
          pieces.push_back(
              {{buffers[s][tile], word(offset)}, word(first - begin), word(last - first)});
        }
      return pieces;
    }};
  }
  [[nodiscard]] Lines inputs(std::vector<Buffers> buffers,
                             std::uint64_t limit = ~std::uint32_t{0}) const {
    return lines(std::move(buffers), layout_.passes().front().rows, false,
                 std::min<std::uint64_t>(limit, features()), ~std::uint64_t{0});
  }
  [[nodiscard]] Lines outputs(std::vector<Buffers> buffers, std::uint64_t limit,
                              std::uint64_t bytes) const {
    return lines(std::move(buffers), layout_.passes().back().rows, true, limit, bytes);
  }
  [[nodiscard]] std::uint32_t grain() const { return training::padding(assembly_.machine()); }
  /// A matrix by samples to rows of features, `rows` of them with zeros behind its columns.
  void bring(const Matrix& from, const Lines& to, const std::vector<Buffers>& into,
             std::uint64_t rows) {
    Buffers cleared;
    for (const Buffers& buffers : into)
      if (from.pitch < rows) cleared.insert(cleared.end(), buffers.begin(), buffers.end());
    assembly_.transpose(training::lines_of(from), to, {from.padded_rows, from.pitch, grain()},
                        cleared);
  }
  void take(const Lines& from, const Matrix& to) {
    assembly_.transpose(from, training::lines_of(to), {to.pitch, to.padded_rows, grain()});
  }

  program::Vertex row_numbers(const char* name, std::uint32_t tile, BufferId rows,
                              BufferId numbers) {
    return {TileId(tile),
            assembly_.codelet(name),
            program::Executor::all_workers,
            0,
            {Place{rows}, Place{numbers}, word(geometry_.units(tile).size()), geometry_.rows()}};
  }
  [[nodiscard]] Place twiddles(const Stack& stack, std::uint32_t tile, std::uint32_t stage) const {
    return {stack.all_twiddles[tile], word(layout_.stage_begin(stage) / 16 * applied_bytes())};
  }

  void swap(const butterfly::Swap& swap, const std::vector<Buffers>& stacks) {
    program::Exchange exchange{"swap", {}};
    const std::uint32_t ways = 1U << swap.bits;
    for (const Buffers& buffers : stacks) {
      for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
        const std::uint32_t block = word(geometry_.bytes(t) >> swap.bits);
        const std::uint32_t own = t >> swap.tile_place & (ways - 1);
        for (std::uint32_t way = 0; way < ways; ++way) {
          if (way == own) continue;
          const std::uint32_t to = t ^ (own ^ way) << swap.tile_place;
          exchange.copies.push_back(
              {{buffers[t], way * block}, block, {{buffers[to], own * block}}});
        }
      }
    }
    assembly_.add_step(std::move(exchange));
  }

  /// The outer products of what comes back to a factor and what went in, then what it gives back.
  program::ComputeSet backward_factors(std::uint32_t stage, bool further) {
    program::ComputeSet set{"factors back", {}};
    const RowPass& pass = layout_.passes()[stage];
    for (const Stack& stack : stacks_) {
      for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
        const std::uint64_t units = geometry_.units(t).size();
        const BufferId gradient = stack.gradient[t];
        if (stage + 1 == stages())
          set.vertices.push_back(row_numbers("training_row_sums", t, gradient, stack.bias_sums[t]));
        set.vertices.push_back(vertices_.products(TileId(t), pass, units,
                                                  {stack.sums[t], word(layout_.stage_begin(stage))},
                                                  layout_.bytes(), gradient, stack.x[stage][t]));
        if (further)
          set.vertices.push_back(vertices_.adjoint_pass(
              TileId(t), pass, units, twiddles(stack, t, stage), gradient, gradient));
      }
    }
    return set;
  }

  /// Over the parts of a tile's columns, then over tiles, each its share.
  void add_up() {
    program::ComputeSet own{"sums", {}};
    program::Exchange exchange{"shares", {}};
    program::ComputeSet set{"sums of shares", {}};
    for (Stack& stack : stacks_) {
      for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
        if (arrays() > 1)
          own.vertices.push_back(sum(t, layout_.bytes(), arrays() - 1, {stack.sums[t]},
                                     {stack.sums[t], word(layout_.bytes())}, {stack.sums[t]}));
        const Interval share = layout_.share(t);
        const Place pairs =
            shared(exchange, set, t, share, stack.sums,
                   rotates() ? std::nullopt : std::optional(stack.twiddles.gradient[t]));
        if (!rotates()) stack.twiddles.gradient[t] = pairs.buffer;
        if (rotates() && share.size() > 0)
          set.vertices.push_back(vertices_.angles(TileId(t), pairs_of_share(t), pairs,
                                                  stack.turns[t], stack.twiddles.gradient[t]));
        stack.bias.gradient[t] =
            shared(exchange, set, t, bias_share(t), stack.bias_sums, stack.bias.gradient[t]).buffer;
      }
    }
    if (!own.vertices.empty()) assembly_.add_step(std::move(own));
    if (!exchange.copies.empty()) assembly_.add_step(std::move(exchange));
    if (!set.vertices.empty()) assembly_.add_step(std::move(set));
  }
  program::Vertex sum(std::uint32_t tile, std::uint64_t bytes, std::uint32_t count, Place first,
                      Place further, Place result) {
    return assembly_.dense().adding(TileId(tile), program::Type::f32, bytes, count, first, further,
                                    result);
  }
  /// The sum over all parts of the columns of a tile's share, in `result` or in place: where it is.
  Place shared(program::Exchange& exchange, program::ComputeSet& set, std::uint32_t tile,
               Interval share, const Buffers& sums, std::optional<BufferId> result) {
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
  /// Gradients of the input by all stacks.
  void add_stacks() {
    program::ComputeSet set{"sums of stacks", {}};
    for (std::size_t s = 1; s < stacks_.size(); ++s)
      for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
        const Place all{stacks_.front().gradient[t]};
        set.vertices.push_back(sum(t, geometry_.bytes(t), 1, all, {stacks_[s].gradient[t]}, all));
      }
    if (!set.vertices.empty()) assembly_.add_step(std::move(set));
  }

  Assembly& assembly_;
  LayerContext context_;
  const butterfly::Geometry geometry_;
  GradientLayout layout_;
  elf::KernelCode code_;
  butterfly::Vertices vertices_;
  std::vector<Stack> stacks_;
};

}  // namespace

std::unique_ptr<Layer> make_butterfly(Assembly& assembly, const LayerContext& context,
                                      const ButterflyPlan& plan) {
  return std::make_unique<ButterflyLayer>(assembly, context, plan);
}

/// The cut of least predicted cycles for the gradient of one stack that leaves room for `kept`.
std::shared_ptr<const ButterflyPlan> plan_butterfly(const Linear& linear, std::uint32_t columns,
                                                    std::uint64_t kept, MachineCosts& costs) {
  const butterfly::Problem problem = linear.factors(columns);
  const MachineConfig& machine = costs.machine();
  const std::uint64_t room = std::uint64_t{machine.tile.sram_kib} * 1024;
  std::optional<butterfly::Candidate> best;
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint32_t split = 1; split <= std::min(problem.pairs(), machine.tiles); split *= 2) {
    butterfly::Plan plan;
    plan.split_features = split;
    const std::uint32_t parts = std::min(problem.units(), machine.tiles / split);
    plan.split_n = ceil_div(problem.units(), ceil_div(problem.units(), parts));
    for (plan.workers_n = 1; plan.workers_n <= machine.tile.contexts; ++plan.workers_n) {
      if (machine.tile.contexts % plan.workers_n != 0) continue;
      const butterfly::Candidate candidate = butterfly::pinned_plan(plan, problem, costs);
      const std::uint64_t bytes = candidate.tile_bytes * linear.stacks() + kept;
      least = std::min(least, bytes);
      if (bytes > room || (best && best->prediction.cycles <= candidate.prediction.cycles))
        continue;
      best = candidate;
    }
  }
  if (!best)
    throw UserError(fmt::format(
        "mlp: a butterfly layer of {} stacks of {} features for {} samples needs {} "
        "bytes a tile, of which {} are taken, allowed {} (machine.tile.sram_kib {})",
        linear.stacks(), problem.features, columns, least, kept, room, machine.tile.sram_kib));
  return std::make_shared<const ButterflyPlan>(
      ButterflyPlan{{problem, best->plan}, best->tile_bytes * linear.stacks()});
}

}  // namespace tessera::mlp
