#pragma once

#include "kernels/butterfly/gradient.h"
#include "kernels/butterfly/vertices.h"
#include "kernels/mlp/layer.h"

namespace tessera::mlp {

/// A layer of butterfly factors: parameters lie in shares on the tiles that add up their gradients;
/// every turn begins by sending them to all tiles that apply them.
class ButterflyLayer : public Layer {
 public:
  ButterflyLayer(training::Statement& statement, const LayerContext& context,
                 const ButterflyPlan& plan);

  void forward(const MatrixArray& x, const MatrixArray& z) override;
  std::optional<MatrixArray> backward(const MatrixArray& x, const MatrixArray& gradient,
                                      bool wanted) override;
  [[nodiscard]] std::vector<Parameters> parameters() const override;
  [[nodiscard]] Tile tiles() const override { return shares_.geometry.tiles(); }
  void add_tensors(const std::string& name) const override;

 private:
  using Arrays = std::vector<BufferId>;
  /// Which numbers a tile applies and which of them it adds up the gradients of.
  struct Shares {
    butterfly::Geometry geometry;
    butterfly::GradientLayout layout;
    std::uint32_t element_bytes;

    [[nodiscard]] std::uint32_t parts() const { return geometry.plan.split_n; }
    [[nodiscard]] bool rotates() const {
      return geometry.problem.parameters == butterfly::Parameters::rotation;
    }
    /// Bytes of a pair as tiles apply it.
    [[nodiscard]] std::uint32_t applied_bytes() const {
      return (rotates() ? 2 : 4) * element_bytes;
    }
    /// Sums of the bias are one f32 a row of a tile, in whole pairs of words.
    [[nodiscard]] std::uint64_t bias_bytes() const;
    /// The bytes of such sums that a tile adds up: of twiddles, or of the bias; none on other
    /// tiles.
    [[nodiscard]] kernels::Interval of_sums(bool bias, Tile tile) const;
    /// Where the share of a tile is in what tiles apply.
    [[nodiscard]] kernels::Interval applied(bool bias, Tile tile) const;
    [[nodiscard]] std::uint64_t pairs(Tile tile) const {
      return of_sums(false, tile).size() / layout.pair_bytes();
    }
    /// The parameters of the share, numbered in their layer's order.
    [[nodiscard]] std::vector<std::uint64_t> numbers(const Linear& linear, std::uint32_t stack,
                                                     bool bias, Tile tile) const;
    [[nodiscard]] std::uint64_t count(bool bias, Tile tile) const;
    /// Calls take(tile) for the tiles with the features of `tile`.
    template <class Take>
    void for_alike(Tile tile, const Take& take) const {
      for (std::uint32_t p = 0; p < parts(); ++p)
        take(geometry.feature_part(tile) + p * geometry.plan.split_features);
    }
  };
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
  /// On the tiles of the plan.
  BufferId array(std::string_view name, std::function<std::uint64_t(Tile)> bytes);
  BufferId row_array(std::string_view name);
  template <class Of>
  [[nodiscard]] Arrays of_stacks(const Of& of) const {
    Arrays arrays;
    for (const Stack& stack : stacks_) arrays.push_back(of(stack));
    return arrays;
  }
  void compute(std::string name, std::vector<CallsOf> calls);

  /// Every tile's share to all that apply the same.
  void distribute();
  CallsOf turning(const Stack& stack);

  /// Rows of features on their tiles: of each array, or of one stack after the other.
  [[nodiscard]] training::GivenLines given(const Arrays& arrays, const butterfly::Rows& rows,
                                           std::uint64_t limit, std::uint64_t row_bytes) const;
  [[nodiscard]] training::WantedLines wanted(const Arrays& arrays, const butterfly::Rows& rows,
                                             bool stacked) const;
  [[nodiscard]] std::uint32_t grain() const;
  /// A matrix by samples to rows of features, with zeros behind its columns.
  void bring(const MatrixArray& from, const Arrays& to, bool outputs);
  void take(const training::GivenLines& from, const MatrixArray& to);
  void swap(const butterfly::Swap& swap, const Arrays& arrays);
  [[nodiscard]] program::Place twiddles(const Stack& stack, std::uint32_t stage) const;
  /// Calls of code that takes rows of features and a number each.
  CallsOf row_numbers(const std::string& name, BufferId rows, BufferId numbers);

  /// The outer products of what comes back to a factor and what went in, then what it gives back.
  void backward_factors(std::uint32_t stage, bool further);
  /// Over the parts of a tile's columns, then over tiles, each its share.
  void add_up();
  /// Gradients of the input by all stacks.
  void add_stacks();

  training::Statement& statement_;
  LayerContext context_;
  const Shares shares_;
  butterfly::Functions functions_;
  gemm::Functions dense_;
  std::vector<Stack> stacks_;
};

}  // namespace tessera::mlp
