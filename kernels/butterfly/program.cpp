#include "kernels/butterfly/program.h"

#include <utility>

#include "kernels/butterfly/factors.h"
#include "sim/plan/lower.h"

namespace tessera::butterfly {

namespace {

/// Forward or grad_input, round after round.
class Rounds {
 public:
  explicit Rounds(Statement& statement)
      : statement_(statement), factors_(make_factors(statement)) {}

  void state() {
    const auto [problem, plan, number] = statement_.geometry();
    const bool adjoint = problem.pass == Pass::grad_input;
    const std::vector<RowPass> passes = schedule(problem, plan.split_features, plan.fused, adjoint);
    std::vector<BufferId> twiddles;  // by pass
    statement_.add_results();
    for (std::uint32_t round = 0; round < plan.rounds; ++round) {
      statement_.begin_round(round);
      add_rows(passes);
      for (const RowPass& pass : passes)
        if (round == 0) twiddles.push_back(factors_->twiddles(pass, adjoint));
      statement_.add_inputs();
      for (std::size_t i = 0; i < passes.size(); ++i) {
        if (passes[i].before) statement_.add_swap(*passes[i].before, x_);
        factors_->apply(passes[i], twiddles[i], x_, factors_->in_place() ? x_ : y_);
        if (!factors_->in_place()) std::swap(x_, y_);
      }
      statement_.finish_rows(x_, passes.back().rows);
    }
  }

 private:
  /// In layout planned the array that the last factor writes is kept.
  void add_rows(const std::vector<RowPass>& passes) {
    const bool planned = statement_.geometry().problem.layout == Layout::planned;
    const bool turns = planned && !factors_->in_place() && passes.size() % 2 == 1;
    if (turns) y_ = statement_.empty_rows("x", true);
    x_ = statement_.given_rows(&Operands::x, "x", passes.front().rows, planned && !turns);
    if (!turns && !factors_->in_place()) y_ = statement_.empty_rows("x");
    factors_->begin_round();
  }

  Statement& statement_;
  std::unique_ptr<Factors> factors_;
  BufferId x_{}, y_{};  ///< where rows are, where a factor's go
};

}  // namespace

plan::Description describe_program(const Geometry& geometry, const MachineConfig& machine,
                                   const Codes& codes, const Operands* operands) {
  plan::Description description(machine.tiles);
  Statement statement(description, geometry, machine, codes, operands);
  if (geometry.problem.pass == Pass::grad_twiddles)
    state_gradient(statement);
  else
    Rounds(statement).state();
  statement.finish();
  return description;
}

std::vector<plan::Tile> representatives(const Geometry& geometry) {
  const bool odd = geometry.plan.split_features == 1 && geometry.plan.split_n % 2 == 1;
  if (odd && geometry.tiles() > 1 && geometry.problem.layout == Layout::blocked)
    return {0, geometry.tiles() - 1};
  return {0};
}

program::Program build_program(const Geometry& geometry, const MachineConfig& machine,
                               const Operands& operands) {
  const Codes codes;
  return plan::lower(describe_program(geometry, machine, codes, &operands));
}

}  // namespace tessera::butterfly
