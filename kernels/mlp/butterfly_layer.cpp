#include "kernels/butterfly/vertices.h"
#include "kernels/mlp/butterfly_shares.h"

namespace tessera::mlp {

using butterfly::RowPass;
using kernels::Interval;
using program::Place;
using training::kElementBytes;

namespace {

/// A layer of butterfly factors: parameters lie in shares on the tiles that add up their gradients;
/// every turn begins by sending them to all tiles that apply them.
class ButterflyLayer : public Layer {
 public:
  ButterflyLayer(training::Statement& statement, const LayerContext& context,
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

  void forward(const MatrixArray& x, const MatrixArray& z) override {
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
    take(shares_.given(at(stages()), shares_.layout.passes().back().rows, context_.linear.outputs,
                       z.rows * z.element_bytes()),
         z);
  }

  std::optional<MatrixArray> backward(const MatrixArray& x, const MatrixArray& gradient,
                                      bool wanted) override {
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
    take(shares_.given({rows.front()}, shares_.layout.passes().front().rows,
                       std::min(context_.linear.inputs, features()), UINT64_MAX),
         back);
    return back;
  }

  std::vector<Parameters> parameters() const override {
    std::vector<Parameters> all;
    for (const Stack& stack : stacks_) {
      all.push_back(stack.twiddles);
      all.push_back(stack.bias);
    }
    return all;
  }

  void add_tensors(const std::string& name) const override {
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

  [[nodiscard]] Tile tiles() const override { return shares_.geometry.tiles(); }

 private:
  using Arrays = ButterflyShares::Arrays;
  struct Stack {
    Parameters twiddles, bias;
    BufferId turns{};                     ///< f32 cosines and sines of the share
    BufferId applied_turns{};             ///< the same as tiles apply them
    BufferId all_twiddles{}, all_bias{};  ///< what a tile applies
    Arrays x{};                           ///< by factor whose input it is, and the result
    BufferId gradient{}, sums{}, bias_sums{};
  };

  [[nodiscard]] std::uint32_t stages() const { return shares_.geometry.problem.stages(); }
  [[nodiscard]] std::uint32_t features() const { return shares_.geometry.problem.features; }
  template <class Of>
  [[nodiscard]] Arrays of_stacks(const Of& of) const {
    Arrays arrays;
    for (const Stack& stack : stacks_) arrays.push_back(of(stack));
    return arrays;
  }

  /// On the tiles of the plan.
  BufferId array(std::string_view name, std::function<std::uint64_t(Tile)> bytes) {
    return statement_.array(name, [tiles = tiles(), bytes = std::move(bytes)](Tile tile) {
      return tile < tiles ? bytes(tile) : 0;
    });
  }

  BufferId row_array(std::string_view name) {
    return array(name, [geometry = shares_.geometry](Tile tile) { return geometry.bytes(tile); });
  }

  void compute(std::string name, std::vector<CallsOf> calls) {
    if (calls.empty()) return;
    statement_.description().compute(std::move(name), tiles(),
                                     [all = std::move(calls)](Tile tile, Calls& into) {
                                       for (const CallsOf& each : all) each(tile, into);
                                     });
  }

  /// Every tile's share to all that apply the same.
  void distribute() {
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
                pulls.push_back(
                    {{its.to, word(bytes.begin)}, other, {its.from}, word(bytes.size())});
              });
            }
        });
  }

  CallsOf turning(const Stack& stack) {
    return [code = statement_.typed("training_rotations"), shares = shares_,
            angles = stack.twiddles.weights, turns = stack.turns,
            applied = stack.applied_turns](Tile tile, Calls& calls) {
      if (shares.pairs(tile) == 0) return;
      training::Arguments arguments{Place{angles}, Place{turns}, word(shares.pairs(tile))};
      if (applied != turns) arguments.emplace_back(Place{applied});
      calls.add_by_size(code.all(std::move(arguments)));
    };
  }

  std::uint32_t grain() const { return training::padding(statement_.machine(), statement_.type()); }

  /// A matrix by samples to rows of features, with zeros behind its columns.
  void bring(const MatrixArray& from, const Arrays& to, bool outputs) {
    const RowPass& pass =
        outputs ? shares_.layout.passes().back() : shares_.layout.passes().front();
    const std::uint64_t rows = outputs ? to.size() * features() : features();
    statement_.transpose(training::given(from), shares_.wanted(to, pass.rows, outputs),
                         {from.padded_rows, from.pitch, grain()},
                         from.pitch < rows ? to : Arrays());
  }

  void take(const training::GivenLines& from, const MatrixArray& to) {
    statement_.transpose(from, training::wanted(to), {to.pitch, to.padded_rows, grain()});
  }

  /// Calls of code that takes rows of features and a number each.
  CallsOf row_numbers(const std::string& name, BufferId rows, BufferId numbers) {
    return [code = statement_.typed(name), rows, numbers, geometry = shares_.geometry](
               Tile tile, Calls& calls) {
      calls.add_by_size(code.all(
          {Place{rows}, Place{numbers}, word(geometry.units(tile).size()), geometry.rows()}));
    };
  }

  void swap(const butterfly::Swap& swap, const Arrays& arrays) {
    statement_.description().exchange(
        "swap", tiles(), [swap, arrays, geometry = shares_.geometry](Tile tile, Pulls& pulls) {
          for (const BufferId array : arrays)
            butterfly::pull_swapped(geometry, swap, array, tile, pulls);
        });
  }

  Place twiddles(const Stack& stack, std::uint32_t stage) const {
    const std::uint64_t pairs = shares_.layout.stage_begin(stage) / shares_.layout.pair_bytes();
    return {stack.all_twiddles, word(pairs * shares_.applied_bytes())};
  }

  /// The outer products of what comes back to a factor and what went in, then what it gives back.
  void backward_factors(std::uint32_t stage, bool further) {
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

  /// Over the parts of a tile's columns, then over tiles, each its share.
  void add_up() {
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

  /// Gradients of the input by all stacks.
  void add_stacks() {
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

  training::Statement& statement_;
  LayerContext context_;
  const ButterflyShares shares_;
  butterfly::Functions functions_;
  gemm::Functions dense_;
  std::vector<Stack> stacks_;
};

}  // namespace

std::unique_ptr<Layer> make_butterfly(training::Statement& statement, const LayerContext& context,
                                      const ButterflyPlan& plan) {
  return std::make_unique<ButterflyLayer>(statement, context, plan);
}

}  // namespace tessera::mlp
