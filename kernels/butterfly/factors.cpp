#include "kernels/butterfly/factors.h"

namespace tessera::butterfly {

namespace {

/// Twiddles of numbers: a scalar times packed words.
class WordFactors : public Factors {
 public:
  explicit WordFactors(Statement& statement) : statement_(statement) {}

  BufferId twiddles(const RowPass& pass, bool adjoint) override {
    return statement_.twiddles(pass, twiddle_bytes(statement_.geometry().problem, pass),
                               [pass, adjoint, its = statement_.operands()](
                                   std::uint32_t part, Interval groups, std::span<std::byte> into) {
                                 its->twiddles.fill(pass, part, adjoint, groups, into);
                               });
  }
  [[nodiscard]] bool in_place() const override { return true; }
  void begin_round() override {}
  void apply(const RowPass& pass, BufferId twiddles, BufferId in, BufferId out) override {
    statement_.add(
        unit_calls(statement_.geometry(), statement_.functions().pass(pass), {twiddles}, in, out));
  }
  void add_products(const Products& of) override {
    statement_.add(unit_calls(statement_.geometry(),
                              statement_.functions().products(of.pass, of.layout.bytes()),
                              {of.sums, word(of.layout.stage_begin(of.stage))}, of.gradient, of.x));
  }

 private:
  Statement& statement_;
};

}  // namespace

std::unique_ptr<Factors> make_factors(Statement& statement) {
  if (statement.geometry().problem.blocked()) return make_block_factors(statement);
  return std::make_unique<WordFactors>(statement);
}

}  // namespace tessera::butterfly
