#pragma once

#include <array>
#include <complex>

#include "kernels/mlp/row_layer.h"

namespace tessera::mlp {

/// y = x W + b where a transform T of stacks of N features, with twiddles that never change, makes
/// W out of diagonals: first T, then a diagonal, then T back.
class TransformLayer : public RowLayer {
 public:
  void forward(const MatrixArray& x, const MatrixArray& z) override;
  std::optional<MatrixArray> backward(const MatrixArray& x, const MatrixArray& gradient,
                                      bool wanted) override;
  [[nodiscard]] std::vector<Parameters> parameters() const override;
  void add_tensors(const std::string& name) const override;

 protected:
  /// A pair's twiddle, by rows: a, b, c, d make a x + b y and c x + d y of features x and y.
  using Twiddle = std::array<std::complex<double>, 4>;
  /// That of the pair of `feature` and the one `stride` behind it.
  using TwiddleOf = Twiddle (*)(std::uint32_t feature, std::uint32_t stride);

  TransformLayer(training::Statement& statement, const LayerContext& context,
                 const ButterflyPlan& plan, TwiddleOf forward, TwiddleOf back);

  /// States W x of each stack in rows of matrices' type, out of x in such rows.
  virtual Arrays multiply(BufferId x) = 0;
  /// The way back: gradients of parameters out of those of W x, and, if `wanted`, rows of the
  /// gradient of x, of matrices' type, of all stacks.
  virtual BufferId multiply_back(const Arrays& gradients, bool wanted) = 0;

  /// T of rows in place, or back.
  void transform(const Arrays& arrays, bool back);
  [[nodiscard]] std::uint32_t stacks() const { return context_.linear.stacks(); }

  std::vector<Numbers> diagonals_;   ///< stack by stack, of matrices' type
  std::vector<Parameters> columns_;  ///< by stack: what is no diagonal
  std::vector<Numbering> column_numbers_;

 private:
  BufferId twiddles(TwiddleOf twiddle);
  [[nodiscard]] std::uint32_t pass_bytes() const {
    return butterfly::twiddle_bytes(rows_.geometry.problem, passes().front());
  }

  std::vector<Numbers> biases_;  ///< by stack
  BufferId forward_, back_;      ///< twiddles
};

std::unique_ptr<Layer> make_circulant(training::Statement& statement, const LayerContext& context,
                                      const ButterflyPlan& plan);
std::unique_ptr<Layer> make_fastfood(training::Statement& statement, const LayerContext& context,
                                     const ButterflyPlan& plan);

}  // namespace tessera::mlp
