#include "kernels/mlp/row_layer.h"

namespace tessera::mlp {

namespace {

class ButterflyLayer : public RowLayer {
 public:
  ButterflyLayer(training::Statement& statement, const LayerContext& context,
                 const ButterflyPlan& plan)
      : RowLayer(statement, context, plan) {
    for (std::uint32_t s = 0; s < stacks(); ++s) {
      const auto count = [rows = rows_](Tile tile) {
        return rows.pairs(tile) * rows.geometry.problem.twiddle_parameters();
      };
      const auto numbers = [rows = rows_, s](Tile tile) { return rows.twiddle_numbers(s, tile); };
      // Gradients are sums in f32.
      stacks_.push_back({rows_.rotates()
                             ? context_.maker.apart(count, numbers)
                             : context_.maker.make(count, numbers, program::Type::f32)});
      add_bias(s);
    }
  }

  std::vector<Parameters> parameters() const override {
    std::vector<Parameters> all;
    for (std::uint32_t s = 0; s < stacks(); ++s) {
      all.push_back(stacks_[s].twiddles);
      all.push_back(biases_[s].kept);
    }
    return all;
  }

 protected:
  std::vector<Sent> shares() override {
    std::vector<Sent> all;
    for (std::uint32_t s = 0; s < stacks(); ++s) {
      Stack& stack = stacks_[s];
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
      all.push_back(sent(biases_[s]));
    }
    factors_.finish("rotations");
    return all;
  }

  Arrays inputs() override {
    for (Stack& stack : stacks_) {
      stack.x.clear();
      for (std::uint32_t stage = 0; stage <= stages(); ++stage)
        stack.x.push_back(row_array("inputs of factors"));
    }
    return inputs_of(0);
  }

  Arrays multiply(const Arrays& /*x*/) override {
    for (std::uint32_t stage = 0; stage < stages(); ++stage) {
      factors_.add_swap(passes()[stage], inputs_of(stage));
      for (const Stack& stack : stacks_)
        add(butterfly::unit_calls(rows_.geometry, factors_.functions().pass(passes()[stage]),
                                  twiddles(stack, stage), stack.x[stage], stack.x[stage + 1]));
    }
    return inputs_of(stages());
  }

  Arrays gradient_rows() override {
    return of_stacks([this](std::uint32_t s) {
      stacks_[s].gradient = row_array("gradient of factors");
      stacks_[s].sums = factors_.array("sums", [rows = rows_](Tile tile) {
        return rows.layout.bytes() * rows.geometry.arrays(tile);
      });
      return stacks_[s].gradient;
    });
  }

  Arrays multiply_back(const Arrays& gradients, bool wanted) override {
    for (std::uint32_t stage = stages(); stage-- > 0;) {
      backward_factors(stage, stage > 0 || wanted);
      factors_.add_swap(passes()[stage], gradients);
    }
    // Sums over the column parts of a tile; sums over tiles follow, each tile its share.
    for (const Stack& stack : stacks_)
      if (rows_.geometry.arrays(0) > 1)
        add(butterfly::part_calls(rows_.layout, rows_.geometry,
                                  factors_.dense().adding(program::Type::f32), stack.sums,
                                  stack.sums));
    return gradients;
  }

  std::vector<Sum> sums() override {
    std::vector<Sum> sums;
    for (std::uint32_t s = 0; s < stacks(); ++s) {
      Stack& stack = stacks_[s];
      BufferId& gradient = stack.twiddles.gradient;
      if (!rows_.rotates() && alone()) gradient = stack.sums;
      sums.push_back({rows_.twiddles().sums, stack.sums, rows_.rotates() ? stack.sums : gradient});
      sums.push_back(sum_of(biases_[s]));
    }
    return sums;
  }

  void finish_sums() override {
    for (const Stack& stack : stacks_) {
      if (!rows_.rotates()) continue;
      const BufferId gradient = stack.twiddles.gradient;
      if (statement_.halves()) add(statement_.clearing(gradient));
      add(butterfly::angle_calls(rows_.layout, factors_.functions().angles(), stack.sums,
                                 stack.turns, gradient));
    }
  }

 private:
  struct Stack {
    Parameters twiddles;
    BufferId turns{};          ///< f32 cosines and sines of the share
    BufferId applied_turns{};  ///< their copies in the type of products
    BufferId all_twiddles{};   ///< twiddles that a tile applies
    Arrays x{};                ///< inputs by factor, then the result
    BufferId gradient{}, sums{};
  };

  [[nodiscard]] std::uint32_t stages() const { return rows_.geometry.problem.stages(); }
  [[nodiscard]] Arrays inputs_of(std::uint32_t stage) const {
    return of_stacks([&](std::uint32_t s) { return stacks_[s].x[stage]; });
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

  /// A factor's gradients: outer products of its output's gradient and its input; then, if
  /// `further`, its input's gradient.
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

  std::vector<Stack> stacks_;
};

}  // namespace

std::unique_ptr<Layer> make_butterfly(training::Statement& statement, const LayerContext& context,
                                      const ButterflyPlan& plan) {
  return std::make_unique<ButterflyLayer>(statement, context, plan);
}

}  // namespace tessera::mlp
