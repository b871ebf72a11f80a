#include "kernels/mlp/butterfly_layer.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/errors.h"

namespace tessera::mlp {

using butterfly::RowPass;
using kernels::Interval;
using program::Place;
using training::kElementBytes;

std::uint64_t ButterflyLayer::Shares::bias_bytes() const {
  return round_up(std::uint64_t{geometry.rows()} * kElementBytes, gemm::Vertices::kPair);
}

Interval ButterflyLayer::Shares::of_sums(bool bias, Tile tile) const {
  if (tile >= geometry.tiles()) return {0, 0};
  if (!bias) return layout.share(tile);
  const Interval pairs = kernels::EvenSplit{bias_bytes() / gemm::Vertices::kPair, parts()}.part(
      tile / geometry.plan.split_features);
  return {pairs.begin * gemm::Vertices::kPair, pairs.end * gemm::Vertices::kPair};
}

Interval ButterflyLayer::Shares::applied(bool bias, Tile tile) const {
  const Interval sums = of_sums(bias, tile);
  const std::uint64_t from = bias ? kElementBytes : layout.pair_bytes();
  const std::uint64_t to = bias ? element_bytes : applied_bytes();
  return {sums.begin / from * to, sums.end / from * to};
}

std::uint64_t ButterflyLayer::Shares::count(bool bias, Tile tile) const {
  return bias ? of_sums(true, tile).size() / kElementBytes
              : pairs(tile) * geometry.problem.twiddle_parameters();
}

std::vector<std::uint64_t> ButterflyLayer::Shares::numbers(const Linear& linear,
                                                           std::uint32_t stack, bool bias,
                                                           Tile tile) const {
  const butterfly::Problem& problem = geometry.problem;
  std::vector<std::uint64_t> all;
  if (!bias) {
    const std::uint64_t each = problem.twiddle_parameters();
    layout.for_pairs(tile, [&](std::uint32_t stage, std::uint32_t pair) {
      const std::uint64_t factor = std::uint64_t{stack} * problem.stages() + stage;
      for (std::uint64_t i = 0; i < each; ++i)
        all.push_back((factor * problem.pairs() + pair) * each + i);
    });
    return all;
  }
  const Interval share = of_sums(true, tile);
  const butterfly::Rows& rows = layout.passes().back().rows;
  for (std::uint64_t row = share.begin / kElementBytes; row < share.end / kElementBytes; ++row) {
    const std::uint64_t feature = row < geometry.rows()
                                      ? std::uint64_t{stack} * problem.features +
                                            rows.feature(geometry.feature_part(tile), word(row))
                                      : linear.outputs;
    all.push_back(feature < linear.outputs ? linear.parameters() - linear.outputs + feature
                                           : training::kNoNumber);
  }
  return all;
}

ButterflyLayer::ButterflyLayer(training::Statement& statement, const LayerContext& context,
                               const ButterflyPlan& plan)
    : statement_(statement),
      context_(context),
      shares_{plan.geometry, butterfly::GradientLayout(plan.geometry), statement.element_bytes()},
      functions_(context.factors.butterfly, statement.description(), plan.geometry.problem,
                 statement.contexts(), plan.geometry.plan.workers_n),
      dense_(context.factors.gemm, statement.description(), statement.contexts()),
      stacks_(context.linear.stacks()) {
  const auto initial = std::make_shared<const std::vector<double>>(
      initial_parameters(context.seed, context.number, context.linear));
  training::ParameterMaker make(statement, context.learning, context.copies);
  for (std::uint32_t s = 0; s < stacks_.size(); ++s) {
    const auto values = [&](bool bias) {
      return [initial, shares = shares_, &linear = context.linear, s, bias](Tile tile) {
        std::vector<double> all;
        for (const std::uint64_t number : shares.numbers(linear, s, bias, tile))
          all.push_back(number == training::kNoNumber ? 0.0 : (*initial)[number]);
        return all;
      };
    };
    const auto count = [&](bool bias) {
      return [shares = shares_, bias](Tile tile) { return shares.count(bias, tile); };
    };
    // Gradients are sums in f32.
    stacks_[s].twiddles = shares_.rotates()
                              ? make.numbers(count(false), values(false))
                              : make.make(count(false), values(false), program::Type::f32);
    stacks_[s].bias = make.make(count(true), values(true), program::Type::f32);
  }
}

BufferId ButterflyLayer::array(std::string_view name, std::function<std::uint64_t(Tile)> bytes) {
  return statement_.array(name, [tiles = tiles(), bytes = std::move(bytes)](Tile tile) {
    return tile < tiles ? bytes(tile) : 0;
  });
}

BufferId ButterflyLayer::row_array(std::string_view name) {
  return array(name, [geometry = shares_.geometry](Tile tile) { return geometry.bytes(tile); });
}

void ButterflyLayer::compute(std::string name, std::vector<CallsOf> calls) {
  if (calls.empty()) return;
  statement_.description().compute(std::move(name), tiles(),
                                   [all = std::move(calls)](Tile tile, Calls& into) {
                                     for (const CallsOf& each : all) each(tile, into);
                                   });
}

void ButterflyLayer::distribute() {
  std::vector<CallsOf> turns;
  struct Sent {
    BufferId from, to;
  };
  std::vector<Sent> twiddles, biases;  // shares and what they come to
  for (Stack& stack : stacks_) {
    stack.all_twiddles = array("twiddles", [shares = shares_](Tile /*tile*/) {
      return shares.layout.bytes() / shares.layout.pair_bytes() * shares.applied_bytes();
    });
    stack.all_bias = array("bias", [shares = shares_](Tile /*tile*/) {
      return shares.bias_bytes() / kElementBytes * shares.element_bytes;
    });
    if (shares_.rotates()) {
      stack.turns = array("cosines and sines",
                          [shares = shares_](Tile tile) { return shares.pairs(tile) * 8; });
      stack.applied_turns = statement_.halves()
                                ? array("cosines and sines",
                                        [shares = shares_](Tile tile) {
                                          return shares.pairs(tile) * shares.applied_bytes();
                                        })
                                : stack.turns;
      turns.push_back(turning(stack));
    }
    twiddles.push_back(
        {shares_.rotates() ? stack.applied_turns : stack.twiddles.weights, stack.all_twiddles});
    biases.push_back({stack.bias.weights, stack.all_bias});
  }
  compute("rotations", std::move(turns));
  statement_.description().exchange(
      "twiddles", tiles(), [shares = shares_, twiddles, biases](Tile tile, Pulls& pulls) {
        for (std::size_t s = 0; s < twiddles.size(); ++s)
          for (const bool bias : {false, true}) {
            const Sent& its = (bias ? biases : twiddles)[s];
            shares.for_alike(tile, [&](Tile other) {
              const Interval bytes = shares.applied(bias, other);
              pulls.push_back({{its.to, word(bytes.begin)}, other, {its.from}, word(bytes.size())});
            });
          }
      });
}

CallsOf ButterflyLayer::turning(const Stack& stack) {
  return [code = statement_.typed("training_rotations"), shares = shares_,
          angles = stack.twiddles.weights, turns = stack.turns,
          applied = stack.applied_turns](Tile tile, Calls& calls) {
    if (shares.pairs(tile) == 0) return;
    training::Arguments arguments{Place{angles}, Place{turns}, word(shares.pairs(tile))};
    if (applied != turns) arguments.emplace_back(Place{applied});
    calls.add_by_size(code.all(std::move(arguments)));
  };
}

training::GivenLines ButterflyLayer::given(const Arrays& arrays, const butterfly::Rows& rows,
                                           std::uint64_t limit, std::uint64_t row_bytes) const {
  const butterfly::Geometry& geometry = shares_.geometry;
  const std::uint64_t end_of_row = std::min(row_bytes, geometry.round_units().end * 8);
  return {[arrays, rows, geometry, limit, end_of_row](std::uint64_t row, std::uint64_t begin,
                                                      std::uint64_t end) {
            std::vector<training::GivenLines::Piece> pieces;
            if (row >= limit) return pieces;
            const std::uint64_t n = geometry.problem.features;
            const butterfly::Rows::Holder place = rows.holder(word(row % n));
            for (std::uint32_t p = 0; p < geometry.plan.split_n; ++p) {
              const Tile tile = p * geometry.plan.split_features + place.tile;
              const Interval units = geometry.units(tile);
              const std::uint64_t first = std::max(begin, units.begin * 8);
              const std::uint64_t last = std::min({end, units.end * 8, end_of_row});
              if (first >= last) continue;
              const std::uint64_t at = place.row * units.size() * 8 + first - units.begin * 8;
              pieces.push_back(
                  {tile, {arrays[row / n], word(at)}, word(first - begin), word(last - first)});
            }
            return pieces;
          },
          [rows, geometry, stacks = arrays.size(), limit, end_of_row](Tile tile) -> std::uint64_t {
            if (tile >= geometry.tiles()) return 0;
            const Interval units = geometry.units(tile);
            const std::uint64_t end = std::min(units.end * 8, end_of_row);
            std::uint64_t lines = 0;
            for (std::size_t s = 0; s < stacks; ++s)
              for (std::uint32_t row = 0; row < geometry.rows(); ++row)
                lines +=
                    s * geometry.problem.features + rows.feature(geometry.feature_part(tile), row) <
                            limit
                        ? 1
                        : 0;
            return lines * (end - std::min(end, units.begin * 8));
          },
          limit, end_of_row};
}

training::WantedLines ButterflyLayer::wanted(const Arrays& arrays, const butterfly::Rows& rows,
                                             bool stacked) const {
  return {[arrays, rows, stacked, geometry = shares_.geometry](Tile tile) {
            std::vector<training::WantedLines::Piece> pieces;
            if (tile >= geometry.tiles()) return pieces;
            const Interval units = geometry.units(tile);
            for (std::size_t s = 0; s < arrays.size(); ++s)
              for (std::uint32_t row = 0; row < geometry.rows() && units.size() > 0; ++row) {
                const std::uint64_t feature = rows.feature(geometry.feature_part(tile), row);
                pieces.push_back({(stacked ? s * geometry.problem.features : 0) + feature,
                                  units.begin * 8,
                                  {arrays[s], word(row * units.size() * 8)},
                                  word(units.size() * 8)});
              }
            return pieces;
          },
          (stacked ? arrays.size() : 1) * features(), shares_.geometry.round_units().end * 8};
}

std::uint32_t ButterflyLayer::grain() const {
  return training::padding(statement_.machine(), statement_.type());
}

void ButterflyLayer::bring(const MatrixArray& from, const Arrays& to, bool outputs) {
  const RowPass& pass = outputs ? shares_.layout.passes().back() : shares_.layout.passes().front();
  const std::uint64_t rows = outputs ? to.size() * features() : features();
  statement_.transpose(training::given(from), wanted(to, pass.rows, outputs),
                       {from.padded_rows, from.pitch, grain()}, from.pitch < rows ? to : Arrays());
}

void ButterflyLayer::take(const training::GivenLines& from, const MatrixArray& to) {
  statement_.transpose(from, training::wanted(to), {to.pitch, to.padded_rows, grain()});
}

CallsOf ButterflyLayer::row_numbers(const std::string& name, BufferId rows, BufferId numbers) {
  return [code = statement_.typed(name), rows, numbers, geometry = shares_.geometry](Tile tile,
                                                                                     Calls& calls) {
    calls.add_by_size(code.all(
        {Place{rows}, Place{numbers}, word(geometry.units(tile).size()), geometry.rows()}));
  };
}

void ButterflyLayer::swap(const butterfly::Swap& swap, const Arrays& arrays) {
  statement_.description().exchange(
      "swap", tiles(), [swap, arrays, geometry = shares_.geometry](Tile tile, Pulls& pulls) {
        for (const BufferId array : arrays)
          butterfly::pull_swapped(geometry, swap, array, tile, pulls);
      });
}

Place ButterflyLayer::twiddles(const Stack& stack, std::uint32_t stage) const {
  const std::uint64_t pairs = shares_.layout.stage_begin(stage) / shares_.layout.pair_bytes();
  return {stack.all_twiddles, word(pairs * shares_.applied_bytes())};
}

void ButterflyLayer::forward(const MatrixArray& x, const MatrixArray& z) {
  statement_.stand_for_others({tiles() - 1});
  distribute();
  for (Stack& stack : stacks_) {
    stack.x.clear();
    for (std::uint32_t stage = 0; stage <= stages(); ++stage)
      stack.x.push_back(row_array("inputs of factors"));
  }
  const auto at = [&](std::uint32_t stage) {
    return of_stacks([stage](const Stack& stack) { return stack.x[stage]; });
  };
  bring(x, at(0), false);
  for (std::uint32_t stage = 0; stage < stages(); ++stage) {
    const RowPass& pass = shares_.layout.passes()[stage];
    if (pass.before) swap(*pass.before, at(stage));
    std::vector<CallsOf> calls;
    for (const Stack& stack : stacks_) {
      calls.push_back([&code = functions_.pass(pass), geometry = shares_.geometry,
                       twiddles = twiddles(stack, stage), in = stack.x[stage],
                       out = stack.x[stage + 1]](Tile tile, Calls& into) {
        into.add(code, {geometry.units(tile).size()}, {twiddles, {in}, {out}});
      });
      if (stage + 1 == stages())
        calls.push_back(row_numbers("training_add_bias", stack.x[stage + 1], stack.all_bias));
    }
    compute("factors", std::move(calls));
  }
  // Of samples only: those of padding have the bias too.
  take(given(at(stages()), shares_.layout.passes().back().rows, context_.linear.outputs,
             z.rows * z.element_bytes()),
       z);
}

std::optional<MatrixArray> ButterflyLayer::backward(const MatrixArray& x,
                                                    const MatrixArray& gradient, bool wanted) {
  for (Stack& stack : stacks_) {
    stack.gradient = row_array("gradient of factors");
    stack.sums = array("sums", [shares = shares_](Tile tile) {
      return shares.layout.bytes() * shares.geometry.arrays(tile);
    });
    stack.bias_sums = array("sums of the bias",
                            [shares = shares_](Tile /*tile*/) { return shares.bias_bytes(); });
  }
  const Arrays rows = of_stacks([](const Stack& stack) { return stack.gradient; });
  bring(gradient, rows, true);
  for (std::uint32_t stage = stages(); stage-- > 0;) {
    backward_factors(stage, stage > 0 || wanted);
    const RowPass& pass = shares_.layout.passes()[stage];
    if (pass.before) swap(*pass.before, rows);
  }
  add_up();
  if (!wanted) return std::nullopt;
  add_stacks();
  const MatrixArray back = statement_.matrix(x.rows, x.columns, "gradient of activations");
  take(given({rows.front()}, shares_.layout.passes().front().rows,
             std::min(context_.linear.inputs, features()), UINT64_MAX),
       back);
  return back;
}

void ButterflyLayer::backward_factors(std::uint32_t stage, bool further) {
  const RowPass& pass = shares_.layout.passes()[stage];
  std::vector<CallsOf> calls;
  for (const Stack& stack : stacks_) {
    const auto& geometry = shares_.geometry;
    if (stage + 1 == stages()) {
      // Of f16: what is no gradient must be none that overflowed.
      if (statement_.halves() &&
          shares_.bias_bytes() > std::uint64_t{geometry.rows()} * kElementBytes)
        calls.push_back(statement_.clearing(stack.bias_sums));
      calls.push_back(row_numbers("training_row_sums", stack.gradient, stack.bias_sums));
    }
    calls.push_back([&products = functions_.products(pass, shares_.layout.bytes()), geometry,
                     sums = Place{stack.sums, word(shares_.layout.stage_begin(stage))},
                     gradient = stack.gradient, x = stack.x[stage]](Tile tile, Calls& into) {
      into.add(products, {geometry.units(tile).size()}, {sums, {gradient}, {x}});
    });
    if (further)
      calls.push_back([&back = functions_.adjoint_pass(pass), geometry,
                       twiddles = twiddles(stack, stage),
                       gradient = stack.gradient](Tile tile, Calls& into) {
        into.add(back, {geometry.units(tile).size()}, {twiddles, {gradient}, {gradient}});
      });
  }
  compute("factors back", std::move(calls));
}

void ButterflyLayer::add_up() {
  struct Sum {
    bool bias;
    BufferId sums, received, result;
  };
  const plan::Function& adding = dense_.adding(program::Type::f32);
  std::vector<CallsOf> own, shared;
  std::vector<Sum> sums;
  const bool alone = shares_.parts() == 1;
  for (Stack& stack : stacks_) {
    if (shares_.geometry.arrays(0) > 1)
      own.push_back([&adding, shares = shares_, all = stack.sums](Tile tile, Calls& calls) {
        const std::uint32_t arrays = shares.geometry.arrays(tile);
        const std::uint64_t bytes = shares.layout.bytes();
        if (arrays > 1)
          calls.add(adding, {bytes / gemm::Vertices::kPair, arrays - 1},
                    {{all}, {all, word(bytes)}, {all}});
      });
    // A share's sums, where they are wanted or in place.
    const auto add = [&](bool bias, BufferId all, BufferId result) {
      if (alone) return;
      const BufferId received = array("received", [shares = shares_, bias](Tile tile) {
        return shares.of_sums(bias, tile).size() * (shares.parts() - 1);
      });
      sums.push_back({bias, all, received, result});
      shared.push_back([&adding, shares = shares_, its = sums.back()](Tile tile, Calls& calls) {
        const Interval share = shares.of_sums(its.bias, tile);
        if (share.size() == 0) return;
        const Place mine{its.sums, word(share.begin)};
        calls.add(adding, {share.size() / gemm::Vertices::kPair, shares.parts() - 1},
                  {mine, {its.received}, its.result == its.sums ? mine : Place{its.result}});
      });
    };
    BufferId& gradient = stack.twiddles.gradient;
    if (shares_.rotates()) {
      add(false, stack.sums, stack.sums);
      if (statement_.halves()) shared.push_back(statement_.clearing(gradient));
      shared.push_back([&angles = functions_.angles(), shares = shares_, all = stack.sums,
                        turns = stack.turns, gradient](Tile tile, Calls& calls) {
        if (const std::uint64_t pairs = shares.pairs(tile); pairs > 0)
          calls.add(angles, {pairs},
                    {{all, word(shares.of_sums(false, tile).begin)}, {turns}, {gradient}});
      });
    } else {
      add(false, stack.sums, gradient);
      if (alone) gradient = stack.sums;
    }
    add(true, stack.bias_sums, stack.bias.gradient);
    if (alone) stack.bias.gradient = stack.bias_sums;
  }
  compute("sums", std::move(own));
  if (!sums.empty())
    statement_.description().exchange("shares", tiles(),
                                      [shares = shares_, sums](Tile tile, Pulls& pulls) {
                                        for (const Sum& sum : sums) {
                                          const Interval share = shares.of_sums(sum.bias, tile);
                                          std::uint64_t at = 0;
                                          shares.for_alike(tile, [&](Tile from) {
                                            if (from == tile) return;
                                            pulls.push_back({{sum.received, word(at)},
                                                             from,
                                                             {sum.sums, word(share.begin)},
                                                             word(share.size())});
                                            at += share.size();
                                          });
                                        }
                                      });
  compute("sums of shares", std::move(shared));
}

void ButterflyLayer::add_stacks() {
  const plan::Function& adding = dense_.adding(statement_.type());
  std::vector<CallsOf> calls;
  for (std::size_t s = 1; s < stacks_.size(); ++s)
    calls.push_back([&adding, geometry = shares_.geometry, sum = stacks_.front().gradient,
                     further = stacks_[s].gradient](Tile tile, Calls& into) {
      into.add(adding, {geometry.bytes(tile) / gemm::Vertices::kPair, 1},
               {{sum}, {further}, {sum}});
    });
  compute("sums of stacks", std::move(calls));
}

std::vector<Parameters> ButterflyLayer::parameters() const {
  std::vector<Parameters> all;
  for (const Stack& stack : stacks_) {
    all.push_back(stack.twiddles);
    all.push_back(stack.bias);
  }
  return all;
}

void ButterflyLayer::add_tensors(const std::string& name) const {
  const Linear& linear = context_.linear;
  const std::uint64_t biases = linear.outputs;
  for (const bool bias : {false, true})
    for (std::uint32_t s = 0; s < stacks_.size(); ++s) {
      const Parameters& its = bias ? stacks_[s].bias : stacks_[s].twiddles;
      const std::uint64_t count = bias ? biases : linear.parameters() - biases;
      training::add_tensor(
          statement_.description(),
          {bias ? name + "_bias" : name, program::Role::weights, its.master_type(), {count}}, its,
          [shares = shares_, &linear, s, bias](Tile tile) {
            std::vector<std::uint64_t> numbers = shares.numbers(linear, s, bias, tile);
            for (std::uint64_t& number : numbers)
              if (bias && number != training::kNoNumber)
                number -= linear.parameters() - linear.outputs;
            return numbers;
          });
    }
}

std::unique_ptr<Layer> make_butterfly(training::Statement& statement, const LayerContext& context,
                                      const ButterflyPlan& plan) {
  return std::make_unique<ButterflyLayer>(statement, context, plan);
}

/// The cut of least predicted cycles for the gradient of one stack that leaves room for `kept`.
Planned<ButterflyPlan> plan_butterfly(const Linear& linear,
                                      const std::optional<butterfly::Plan>& pinned,
                                      const LayerRoom& room_of, MachineCosts& costs) {
  butterfly::Problem problem = linear.factors(room_of.samples);
  if (room_of.type == program::Type::f16) problem.dtype = butterfly::Number::f16;
  const MachineConfig& machine = costs.machine();
  const std::uint64_t room = std::uint64_t{machine.tile.sram_kib} * 1024;
  plan::Pricing pricing(costs);
  std::optional<butterfly::Candidate> best;
  std::uint64_t least = ~std::uint64_t{0};
  const auto consider = [&](const butterfly::Plan& plan) {
    const butterfly::Candidate candidate = butterfly::pinned_plan(plan, problem, pricing);
    const std::uint64_t bytes = candidate.tile_bytes * linear.stacks() + room_of.kept;
    least = std::min(least, bytes);
    const auto rank = [&](const butterfly::Candidate& of) {
      return room_of.least ? of.tile_bytes : of.prediction.cycles;
    };
    if (bytes <= room && (!best || rank(candidate) < rank(*best))) best = candidate;
  };
  if (pinned) consider(*pinned);
  for (std::uint32_t split = 1; !pinned && split <= std::min(problem.pairs(), machine.tiles);
       split *= 2) {
    butterfly::Plan plan;
    plan.split_features = split;
    const std::uint32_t parts = std::min(problem.units(), machine.tiles / split);
    plan.split_n = ceil_div(problem.units(), ceil_div(problem.units(), parts));
    for (plan.workers_n = 1; plan.workers_n <= machine.tile.contexts; ++plan.workers_n)
      if (machine.tile.contexts % plan.workers_n == 0) consider(plan);
  }
  if (!best)
    return {nullptr,
            fmt::format("mlp: a butterfly layer of {} stacks of {} features for {} samples needs "
                        "{} bytes a tile, of which {} are taken, allowed {} "
                        "(machine.tile.sram_kib {})",
                        linear.stacks(), problem.features, room_of.samples, least, room_of.kept,
                        room, machine.tile.sram_kib)};
  return {std::make_shared<const ButterflyPlan>(
              ButterflyPlan{{problem, best->plan}, best->tile_bytes * linear.stacks()}),
          {}};
}

}  // namespace tessera::mlp
