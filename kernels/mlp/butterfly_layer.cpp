#include "kernels/mlp/row_layer.h"

namespace tessera::mlp {

namespace {

class ButterflyLayer : public RowLayer {
 public:
  ButterflyLayer(training::Statement& statement, const LayerContext& context,
                 const ButterflyPlan& plan)
      : RowLayer(statement, context, plan), stacks_(stacks()) {
    for (std::uint32_t s = 0; s < stacks(); ++s) {
      const auto count = [rows = rows_](Tile tile) {
        return rows.pairs(tile) * rows.geometry.problem.twiddle_parameters();
      };
      const auto numbers = [rows = rows_, s](Tile tile) { return rows.twiddle_numbers(s, tile); };
      // Gradients are sums in f32.
      numbers_.push_back(
          {.kept = rows_.rotates() ? context_.maker.apart(count, numbers)
                                   : context_.maker.make(count, numbers, program::Type::f32),
           .share = rows_.twiddles(),
           .name = "twiddles",
           .applied_bytes =
               rows_.layout.bytes() / rows_.layout.pair_bytes() * rows_.applied_bytes(),
           .converted = rows_.rotates()});
      add_bias(s);
    }
  }

 protected:
  /// Rotations: the cosines and sines of the share's angles.
  BufferId sent_from(std::uint32_t i) override {
    if (!rows_.rotates()) return RowLayer::sent_from(i);
    Stack& stack = stacks_[i];
    const auto each = [rows = rows_](std::uint64_t bytes) {
      return [rows, bytes](Tile tile) { return rows.pairs(tile) * bytes; };
    };
    stack.turns = factors_.array("cosines and sines", each(8));
    const BufferId applied = statement_.halves()
                                 ? factors_.array("cosines and sines", each(rows_.applied_bytes()))
                                 : stack.turns;
    add([code = statement_.typed("training_rotations"), rows = rows_,
         angles = weights(i).kept.weights, turns = stack.turns, applied](Tile tile, Calls& calls) {
      if (rows.pairs(tile) == 0) return;
      training::Arguments arguments{Place{angles}, Place{turns}, word(rows.pairs(tile))};
      if (applied != turns) arguments.emplace_back(Place{applied});
      calls.add_by_size(code.all(std::move(arguments)));
    });
    return applied;
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
      for (std::uint32_t s = 0; s < stacks(); ++s)
        add(butterfly::unit_calls(rows_.geometry, factors_.functions().pass(passes()[stage]),
                                  twiddles(s, stage), stacks_[s].x[stage],
                                  stacks_[s].x[stage + 1]));
    }
    return inputs_of(stages());
  }

  Arrays gradient_rows() override {
    return of_stacks([this](std::uint32_t s) {
      stacks_[s].gradient = row_array("gradient of factors");
      weights(s).sums = factors_.array("sums", [rows = rows_](Tile tile) {
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
    for (std::uint32_t s = 0; s < stacks(); ++s)
      if (rows_.geometry.arrays(0) > 1)
        add(butterfly::part_calls(rows_.layout, rows_.geometry,
                                  factors_.dense().adding(program::Type::f32), weights(s).sums,
                                  weights(s).sums));
    return gradients;
  }

  void finish_sums() override {
    for (std::uint32_t s = 0; s < stacks() && rows_.rotates(); ++s) {
      const BufferId gradient = weights(s).kept.gradient;
      if (statement_.halves()) add(statement_.clearing(gradient));
      add(butterfly::angle_calls(rows_.layout, factors_.functions().angles(), weights(s).sums,
                                 stacks_[s].turns, gradient));
    }
  }

 private:
  struct Stack {
    BufferId turns{};     ///< f32 cosines and sines of the share
    Arrays x{};           ///< inputs by factor, then the result
    BufferId gradient{};  ///< of W x
  };

  [[nodiscard]] std::uint32_t stages() const { return rows_.geometry.problem.stages(); }
  [[nodiscard]] Arrays inputs_of(std::uint32_t stage) const {
    return of_stacks([&](std::uint32_t s) { return stacks_[s].x[stage]; });
  }

  Place twiddles(std::uint32_t s, std::uint32_t stage) {
    const std::uint64_t pairs = rows_.layout.stage_begin(stage) / rows_.layout.pair_bytes();
    return {weights(s).applied, word(pairs * rows_.applied_bytes())};
  }

  /// A factor's gradients: outer products of its output's gradient and its input; then, if
  /// `further`, its input's gradient.
  void backward_factors(std::uint32_t stage, bool further) {
    const RowPass& pass = passes()[stage];
    for (std::uint32_t s = 0; s < stacks(); ++s) {
      const Stack& stack = stacks_[s];
      add(butterfly::unit_calls(rows_.geometry,
                                factors_.functions().products(pass, rows_.layout.bytes()),
                                {weights(s).sums, word(rows_.layout.stage_begin(stage))},
                                stack.gradient, stack.x[stage]));
      if (further)
        add(butterfly::unit_calls(rows_.geometry, factors_.functions().pass(pass, true),
                                  twiddles(s, stage), stack.gradient, stack.gradient));
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
