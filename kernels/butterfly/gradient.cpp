#include <algorithm>

#include "kernels/butterfly/statement.h"
#include "kernels/butterfly/storage.h"
#include "sim/data/element.h"

namespace tessera::butterfly {

namespace {

constexpr std::uint64_t kLeastShare = 16;  // least bytes of an array for the adding code

/// Runs X forward and keeps every factor's input; then runs Yg backward: each factor's twiddle
/// gradients are the outer products of its output gradient and its input, summed over columns.
class TwiddleGradient {
 public:
  explicit TwiddleGradient(Statement& statement)
      : statement_(statement),
        geometry_(statement.geometry()),
        layout_(geometry_),
        factors_(make_factors(statement)) {}

  void state() {
    add_arrays();
    factors_->begin_round();
    forward();
    backward();
    add_up();
    statement_.description().tensor(gradient_in_shares(geometry_, result_));
  }

 private:
  [[nodiscard]] std::uint32_t stages() const { return geometry_.problem.stages(); }
  [[nodiscard]] bool rotates() const {
    return geometry_.problem.parameters == Parameters::rotation;
  }
  void add_arrays() {
    result_ = statement_.array(
        "result",
        [layout = layout_, over = rotates() ? 4U : 1U](Tile tile) {
          return std::max<std::uint64_t>(layout.share(tile).size() / over, kLeastShare);
        },
        true);
    x_.push_back(statement_.given_rows(&Operands::x, "x", layout_.passes().front().rows, false));
    while (x_.size() < stages()) x_.push_back(statement_.empty_rows("x"));
    // Sums that need no further addition are written to the result directly.
    sums_ = geometry_.arrays(0) == 1 && geometry_.plan.split_n == 1 && !rotates()
                ? result_
                : statement_.array("sums", [layout = layout_, g = geometry_](Tile tile) {
                    return layout.bytes() * g.arrays(tile);
                  });
  }

  void forward() {
    std::vector<BufferId> twiddles;  // by factor; the last factor's output is not needed
    for (std::uint32_t stage = 0; stage + 1 < stages(); ++stage)
      twiddles.push_back(factors_->twiddles(layout_.passes()[stage], false));
    statement_.add_inputs();
    for (std::uint32_t stage = 0; stage < stages(); ++stage) {
      const RowPass& pass = layout_.passes()[stage];
      statement_.add_swap(pass, {x_[stage]});
      if (stage + 1 < stages()) factors_->apply(pass, twiddles[stage], x_[stage], x_[stage + 1]);
    }
  }

  void backward() {
    BufferId gradient =
        statement_.given_rows(&Operands::gradient, "gradient", layout_.passes().back().rows, false);
    std::vector<BufferId> twiddles{{}};  // by factor; the gradient of X is not needed
    for (std::uint32_t stage = 1; stage < stages(); ++stage)
      twiddles.push_back(factors_->twiddles(layout_.passes()[stage], true));
    statement_.add_inputs();
    BufferId other = gradient;
    if (!factors_->in_place() && stages() > 1) other = statement_.empty_rows("gradient");
    for (std::uint32_t stage = stages(); stage-- > 0;) {
      const RowPass& pass = layout_.passes()[stage];
      factors_->add_products({pass, stage, layout_, sums_, gradient, x_[stage]});
      if (stage == 0) break;
      factors_->apply(pass, twiddles[stage], gradient, other);
      std::swap(gradient, other);
      statement_.add_swap(pass, {gradient});
    }
  }

  /// Reduces over the parts of a tile's columns, then over tiles.
  void add_up() {
    const bool alone = geometry_.plan.split_n == 1;
    const plan::Function& adding = statement_.dense().adding(program::Type::f32);
    if (geometry_.arrays(0) > 1)
      statement_.add(
          part_calls(layout_, geometry_, adding, sums_, alone && !rotates() ? result_ : sums_));
    statement_.add_shares({{[layout = layout_](Tile tile) { return layout.share(tile); }, sums_,
                            rotates() ? sums_ : result_}},
                          kLeastShare);
    if (rotates()) add_angles();
  }

  /// Computes gradients of angles from f32 cosines and sines of the share's pairs.
  void add_angles() {
    const BufferId angles = statement_.array(
        "angles", [layout = layout_](Tile tile) { return layout.share(tile).size() / 2; }, false,
        [layout = layout_, its = statement_.operands()](Tile tile, std::span<std::byte> into) {
          if (its == nullptr) return;
          std::size_t at = 0;
          layout.for_pairs(tile, [&](std::uint32_t stage, std::uint32_t pair) {
            for (const std::uint32_t part : {0U, 1U})
              data::store_element(program::Type::f32, into, at++,
                                  its->twiddles.number(stage, pair, part));
          });
        });
    statement_.add(angle_calls(layout_, statement_.functions().angles(), sums_, angles, result_));
  }

  Statement& statement_;
  const Geometry& geometry_;
  GradientLayout layout_;
  std::unique_ptr<Factors> factors_;
  BufferId result_{}, sums_{};
  std::vector<BufferId> x_;  ///< inputs, by factor
};

/// f32 numbers of a twiddle's gradient, padding included.
std::uint32_t numbers_of(const Problem& problem) {
  const std::uint32_t side = 2 * problem.padded();
  return problem.complex_code() ? 2 * side * side : side * side;
}

}  // namespace

GradientLayout::GradientLayout(const Geometry& geometry)
    : geometry_(geometry),
      pair_bytes_(4 * numbers_of(geometry.problem)),
      piece_bytes_(geometry.problem.blocked() ? 4 * geometry.problem.outer.columns : pair_bytes_),
      passes_(schedule(geometry.problem, geometry.plan.split_features, 1, false)) {}

std::uint64_t GradientLayout::bytes() const {
  return geometry_.problem.stages() * groups() * pair_bytes_;
}

std::uint64_t GradientLayout::stage_begin(std::uint32_t stage) const {
  return stage * groups() * pair_bytes_;
}

Interval GradientLayout::share(std::uint32_t tile) const {
  const Interval pieces = EvenSplit{bytes() / piece_bytes_, geometry_.plan.split_n}.part(
      tile / geometry_.plan.split_features);
  return {pieces.begin * piece_bytes_, pieces.end * piece_bytes_};
}

void state_gradient(Statement& statement) { TwiddleGradient(statement).state(); }

}  // namespace tessera::butterfly
