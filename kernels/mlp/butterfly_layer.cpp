#include "kernels/mlp/row_layer.h"

namespace tessera::mlp {

using program::Place;

namespace {

/// A layer of butterfly factors: parameters lie in shares on the tiles that add up their gradients;
/// every turn begins by sending them to all tiles that apply them.
class ButterflyLayer : public RowLayer {
 public:
  ButterflyLayer(training::Statement& statement, const LayerContext& context,
                 const ButterflyPlan& plan)
      : RowLayer(statement, context, plan) {
    for (std::uint32_t s = 0; s < context.linear.stacks(); ++s) {
      const auto count = [rows = rows_](Tile tile) {
        return rows.pairs(tile) * rows.geometry.problem.twiddle_parameters();
      };
      // Gradients are sums in f32.
      stacks_.push_back({rows_.rotates()
                             ? maker().numbers(count, values(numbering(s)))
                             : maker().make(count, values(numbering(s)), program::Type::f32),
                         make_bias(rows_.last(), s)});
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
    bring(x, at(0), rows_.first(), false);
    for (std::uint32_t stage = 0; stage < stages(); ++stage) {
      factors_.add_swap(passes()[stage], at(stage));
      for (const Stack& stack : stacks_)
        add(butterfly::unit_calls(rows_.geometry, factors_.functions().pass(passes()[stage]),
                                  twiddles(stack, stage), stack.x[stage], stack.x[stage + 1]));
    }
    for (const Stack& stack : stacks_)
      add(row_calls("training_add_bias", {Place{stack.x[stages()]}, Place{stack.bias.applied}}));
    factors_.finish();
    // Samples of padding have the bias too.
    take(at(stages()), rows_.last(), context_.linear.outputs, z, true);
  }

  std::optional<MatrixArray> backward(const MatrixArray& x, const MatrixArray& gradient,
                                      bool wanted) override {
    for (Stack& stack : stacks_) {
      stack.gradient = row_array("gradient of factors");
      stack.sums = factors_.array("sums", [rows = rows_](Tile tile) {
        return rows.layout.bytes() * rows.geometry.arrays(tile);
      });
    }
    const Arrays rows = of_stacks([](const Stack& stack) { return stack.gradient; });
    bring(gradient, rows, rows_.last(), true);
    for (Stack& stack : stacks_) add_sums(stack.bias, "training_row_sums", {Place{stack.gradient}});
    for (std::uint32_t stage = stages(); stage-- > 0;) {
      backward_factors(stage, stage > 0 || wanted);
      factors_.add_swap(passes()[stage], rows);
    }
    add_up();
    if (!wanted) return std::nullopt;
    add_stacks(rows, statement_.type());
    factors_.finish("sums of stacks");
    const MatrixArray back = statement_.matrix(x.rows, x.columns, "gradient of activations");
    take({rows.front()}, rows_.first(), std::min(context_.linear.inputs, features()), back, false);
    return back;
  }

  std::vector<Parameters> parameters() const override {
    std::vector<Parameters> all;
    for (const Stack& stack : stacks_) {
      all.push_back(stack.twiddles);
      all.push_back(stack.bias.kept);
    }
    return all;
  }

  void add_tensors(const std::string& name) const override {
    for (std::uint32_t s = 0; s < stacks_.size(); ++s)
      add_tensor(name, weights(), stacks_[s].twiddles, numbering(s));
    for (const Stack& stack : stacks_) add_tensor(name + "_bias", bias(), stack.bias);
  }

 private:
  struct Stack {
    Parameters twiddles;
    Numbers bias;
    BufferId turns{};          ///< f32 cosines and sines of the share
    BufferId applied_turns{};  ///< the same as tiles apply them
    BufferId all_twiddles{};   ///< what a tile applies
    Arrays x{};                ///< by factor whose input it is, and the result
    BufferId gradient{}, sums{};
  };

  [[nodiscard]] std::uint32_t stages() const { return rows_.geometry.problem.stages(); }
  [[nodiscard]] Numbering numbering(std::uint32_t stack) const {
    return [rows = rows_, stack](Tile tile) { return rows.twiddle_numbers(stack, tile); };
  }
  template <class Of>
  [[nodiscard]] Arrays of_stacks(const Of& of) const {
    Arrays arrays;
    for (const Stack& stack : stacks_) arrays.push_back(of(stack));
    return arrays;
  }

  /// Every tile's share to all that apply the same.
  void distribute() {
    std::vector<Sent> all;
    for (Stack& stack : stacks_) {
      stack.all_twiddles = factors_.array("twiddles", [rows = rows_](Tile /*tile*/) {
        return rows.layout.bytes() / rows.layout.pair_bytes() * rows.applied_bytes();
      });
      BufferId from = stack.twiddles.weights;
      if (rows_.rotates()) {
        stack.turns = factors_.array("cosines and sines",
                                     [rows = rows_](Tile tile) { return rows.pairs(tile) * 8; });
        stack.applied_turns = statement_.halves()
                                  ? factors_.array("cosines and sines",
                                                   [rows = rows_](Tile tile) {
                                                     return rows.pairs(tile) * rows.applied_bytes();
                                                   })
                                  : stack.turns;
        add(turning(stack));
        from = stack.applied_turns;
      }
      all.push_back({rows_.twiddles(), from, stack.all_twiddles});
      all.push_back(sent(stack.bias));
    }
    factors_.finish("rotations");
    RowLayer::distribute(all);
  }

  CallsOf turning(const Stack& stack) {
    return [code = statement_.typed("training_rotations"), rows = rows_,
            angles = stack.twiddles.weights, turns = stack.turns,
            applied = stack.applied_turns](Tile tile, Calls& calls) {
      if (rows.pairs(tile) == 0) return;
      training::Arguments arguments{Place{angles}, Place{turns}, word(rows.pairs(tile))};
      if (applied != turns) arguments.emplace_back(Place{applied});
      calls.add_by_size(code.all(std::move(arguments)));
    };
  }

  Place twiddles(const Stack& stack, std::uint32_t stage) const {
    const std::uint64_t pairs = rows_.layout.stage_begin(stage) / rows_.layout.pair_bytes();
    return {stack.all_twiddles, word(pairs * rows_.applied_bytes())};
  }

  /// The outer products of what comes back to a factor and what went in, then what it gives back.
  void backward_factors(std::uint32_t stage, bool further) {
    const RowPass& pass = passes()[stage];
    for (const Stack& stack : stacks_) {
      add(butterfly::unit_calls(
          rows_.geometry, factors_.functions().products(pass, rows_.layout.bytes()),
          {stack.sums, word(rows_.layout.stage_begin(stage))}, stack.gradient, stack.x[stage]));
      if (further)
        add(butterfly::unit_calls(rows_.geometry, factors_.functions().pass(pass, true),
                                  twiddles(stack, stage), stack.gradient, stack.gradient));
    }
  }

  /// Over the parts of a tile's columns, then over tiles, each its share.
  void add_up() {
    std::vector<Sum> sums;
    for (Stack& stack : stacks_) {
      if (rows_.geometry.arrays(0) > 1)
        add(butterfly::part_calls(rows_.layout, rows_.geometry,
                                  factors_.dense().adding(program::Type::f32), stack.sums,
                                  stack.sums));
      BufferId& gradient = stack.twiddles.gradient;
      if (!rows_.rotates() && alone()) gradient = stack.sums;
      sums.push_back({rows_.twiddles().sums, stack.sums, rows_.rotates() ? stack.sums : gradient});
      sums.push_back(sum_of(stack.bias));
    }
    factors_.add_shares(sums);
    for (const Stack& stack : stacks_)
      if (rows_.rotates()) add_angles(stack);
    factors_.finish("sums of shares");
  }

  void add_angles(const Stack& stack) {
    const BufferId gradient = stack.twiddles.gradient;
    if (statement_.halves()) add(statement_.clearing(gradient));
    add(butterfly::angle_calls(rows_.layout, factors_.functions().angles(), stack.sums, stack.turns,
                               gradient));
  }

  std::vector<Stack> stacks_;
};

}  // namespace

std::unique_ptr<Layer> make_butterfly(training::Statement& statement, const LayerContext& context,
                                      const ButterflyPlan& plan) {
  return std::make_unique<ButterflyLayer>(statement, context, plan);
}

}  // namespace tessera::mlp
