#include <cstring>
#include <numbers>

#include "kernels/mlp/row_layer.h"

namespace tessera::mlp {

namespace {

/// y = S T G Pi T B x + b: T is an orthonormal Hadamard transform, its own inverse.
class FastfoodLayer : public TransformLayer {
 public:
  FastfoodLayer(training::Statement& statement, const LayerContext& context,
                const ButterflyPlan& plan)
      : TransformLayer(statement, context, plan, twiddle, twiddle) {
    const std::uint64_t n = features();
    for (std::uint32_t s = 0; s < stacks(); ++s) {
      for (const std::uint32_t diagonal : {kB, kG, kS})
        numbers_.push_back(make_numbers(diagonal == kG ? rows_.last() : rows_.first(),
                                        (kDiagonals * s + diagonal) * n, n));
      places_.push_back(permutation_of(context.linear, context.number, s));
    }
  }

  void add_tensors(const std::string& name) const override {
    RowLayer::add_tensors(name);
    std::vector<std::uint32_t> all;
    for (const auto& places : places_) all.insert(all.end(), places.begin(), places.end());
    program::Tensor tensor{fmt::format("permutation_{}", context_.number),
                           program::Role::weights,
                           program::Type::u32,
                           {all.size()}};
    tensor.given = [all](std::uint64_t first, std::span<std::byte> into) {
      std::memcpy(into.data(), all.data() + first, into.size());
    };
    statement_.description().tensor(std::move(tensor));
  }

 protected:
  Arrays multiply(const Arrays& x) override {
    inputs_[kB] = Arrays(stacks(), x.front());
    const Arrays rows = make_rows("inputs of factors");
    scale(inputs_[kB], kB, rows);
    transform(rows, false);
    inputs_[kG] = make_rows("inputs of factors");
    permute(rows, inputs_[kG], false);
    inputs_[kS] = rows;
    scale(inputs_[kG], kG, rows);
    transform(rows, true);
    Arrays results = make_rows("inputs of factors");
    scale(rows, kS, results);
    return results;
  }

  Arrays multiply_back(const Arrays& gradients, bool wanted) override {
    learn(gradients, kS);
    scale(gradients, kS, gradients);
    transform(gradients, false);
    learn(gradients, kG);
    scale(gradients, kG, gradients);
    const Arrays placed = make_rows("gradient of factors");
    permute(gradients, placed, true);
    transform(placed, true);
    learn(placed, kB);
    if (!wanted) return {};
    scale(placed, kB, placed);
    add_stacks(placed, statement_.type());
    return {placed.front()};
  }

 private:
  enum : std::uint32_t { kB, kG, kS };

  static Twiddle twiddle(std::uint32_t /*feature*/, std::uint32_t /*stride*/) {
    constexpr double kRoot = std::numbers::sqrt2 / 2;
    return {kRoot, kRoot, kRoot, -kRoot};
  }

  [[nodiscard]] Arrays make_rows(std::string_view name) {
    return of_stacks([&](std::uint32_t /*stack*/) { return row_array(name); });
  }
  void scale(const Arrays& from, std::uint32_t diagonal, const Arrays& to) {
    for (std::uint32_t s = 0; s < stacks(); ++s)
      add(row_calls(
          "training_scale_rows",
          {Place{from[s]}, Place{weights(kDiagonals * s + diagonal).applied}, Place{to[s]}}));
  }
  /// Adds a diagonal's gradients: products of its output's gradients and its inputs.
  void learn(const Arrays& gradients, std::uint32_t diagonal) {
    for (std::uint32_t s = 0; s < stacks(); ++s)
      add_sums(weights(kDiagonals * s + diagonal), "training_row_products",
               {Place{gradients[s]}, Place{inputs_[diagonal][s]}});
  }

  /// Applies Pi: row i becomes row places[i] of `from`; `back`: its inverse.
  void permute(const Arrays& from, const Arrays& to, bool back) {
    std::vector<std::vector<std::uint32_t>> places = places_;
    for (std::uint32_t s = 0; back && s < stacks(); ++s)
      for (std::uint32_t i = 0; i < features(); ++i) places[s][places_[s][i]] = i;
    exchange("permutation", [from, to, places, geometry = rows_.geometry, rows = rows_.last()](
                                Tile tile, Pulls& pulls) {
      const std::uint32_t part = geometry.feature_part(tile);
      const std::uint32_t bytes = word(geometry.bytes(tile) / geometry.rows());
      for (std::size_t s = 0; s < from.size(); ++s)
        for (std::uint32_t row = 0; row < geometry.rows(); ++row) {
          const auto holder = rows.holder(places[s][rows.feature(part, row)]);
          pulls.push_back({{to[s], row * bytes},
                           tile - part + holder.tile,
                           {from[s], holder.row * bytes},
                           bytes});
        }
    });
  }

  std::vector<std::vector<std::uint32_t>> places_;  ///< by stack
  Arrays inputs_[kDiagonals];                       ///< inputs of each diagonal, by stack
};

}  // namespace

std::unique_ptr<Layer> make_fastfood(training::Statement& statement, const LayerContext& context,
                                     const ButterflyPlan& plan) {
  return std::make_unique<FastfoodLayer>(statement, context, plan);
}

}  // namespace tessera::mlp
