#pragma once

#include "kernels/gemm/program.h"
#include "kernels/training/loss.h"
#include "kernels/training/matrix.h"
#include "kernels/training/statement.h"

/// Programs that train networks, while they are put together: what a step of training consists of,
/// as steps of a program. Matrices are of one type, f32 or f16; sums, weights that are updated and
/// what an optimiser keeps are f32.
namespace tessera::training {

class Assembly : public Builder {
 public:
  using Fill = std::function<double(std::uint64_t row, std::uint64_t column)>;

  Assembly(program::Program& program, const MachineConfig& machine,
           program::Type type = program::Type::f32, std::string code = "training")
      : Builder(program, machine, std::move(code)),
        type_(type),
        gemm_("gemm"),
        dense_(gemm_, program, machine.tile.contexts) {}

  /// `fill` gives its elements before the run and is called after the assembly is gone; none:
  /// undefined.
  Matrix matrix(std::uint32_t rows, std::uint32_t columns, std::string_view name,
                const Fill& fill = {}, bool keep = false);
  /// All of it from the host: `fill` is asked for elements of the n-th transfer.
  using Feed = std::function<double(std::uint64_t number, std::uint64_t row, std::uint64_t column)>;
  void add_feed(program::HostTransfer& transfer, const Matrix& matrix, const Feed& feed) const;

  /// c = a b, by a plan of layout natural for the padded sizes.
  void product(const gemm::Geometry& geometry, const Matrix& a, const Matrix& b, const Matrix& c);
  /// to = from transposed.
  void transpose(const Matrix& from, const Matrix& to);
  /// What is turned: whole multiples of `grain` rows and columns, an even number.
  struct Extent {
    std::uint32_t rows, columns, grain;
  };
  /// The same wherever rows lie: zeros where `from` has none, dropped where `to` has none.
  /// `cleared` are zeroed before.
  void transpose(const Lines& from, const Lines& to, const Extent& extent,
                 const std::vector<BufferId>& cleared = {});
  /// Zeros, in a step of its own; nothing for no buffers.
  void clear(const std::vector<BufferId>& buffers);
  /// out = activation of z, and 1 in column `ones` of every row that is none of padding.
  void activate(Activation activation, const Matrix& z, const Matrix& out, bool ones) {
    apply(activation, z, nullptr, out, ones);
  }
  /// gradient of z out of that of its activation, 0 in column `ones`. In place, if there is no
  /// activation.
  void slope(Activation activation, const Matrix& z, const Matrix& gradient, const Matrix& out,
             bool ones) {
    apply(activation, z, &gradient, out, ones);
  }
  /// Calls by each tile that holds some of `matrix`: `leading` arguments, then its words divided
  /// among the workers.
  using Leading = std::function<Arguments(std::uint32_t tile)>;
  void add_elementwise(ComputeSet& set, const std::string& name, const Matrix& matrix,
                       const Leading& leading);

  /// Buffers for the labels of `samples` samples, those of a tile in order.
  std::vector<BufferId> labels(std::uint32_t samples,
                               const std::function<std::uint32_t(std::uint32_t)>& fill = {});
  using LabelFeed = std::function<std::uint32_t(std::uint64_t number, std::uint32_t sample)>;
  void add_feed(program::HostTransfer& transfer, const std::vector<BufferId>& labels,
                std::uint32_t samples, const LabelFeed& feed) const;
  /// Softmax and cross-entropy of the rows of `logits`: the mean loss of `samples` and the number
  /// of rows whose largest logit is their label's, as two f32. `gradient` of the mean loss if there
  /// is one, of f16 times `scales` by tile.
  BufferId cross_entropy(const Matrix& logits, const LossOf& loss,
                         const std::vector<BufferId>& labels, const Matrix* gradient,
                         const std::vector<BufferId>& scales = {});

  /// What steps of other folders are made of.
  [[nodiscard]] gemm::Vertices& dense() { return dense_; }
  /// The tile code for matrices' type: "training_relu", "training_relu_f16".
  [[nodiscard]] std::string typed(const std::string& name) const;
  [[nodiscard]] program::Type type() const { return type_; }
  [[nodiscard]] std::uint32_t element_bytes() const { return data::element_bytes(type_); }

 private:
  void apply(Activation activation, const Matrix& z, const Matrix* gradient, const Matrix& out,
             bool ones);
  void fill_ones(ComputeSet& set, const Matrix& matrix, double value);
  program::Vertex turning(std::uint32_t tile, std::uint64_t rows, std::uint64_t columns,
                          BufferId from, BufferId to);
  [[nodiscard]] kernels::EvenSplit samples_by_tile(std::uint32_t rows) const;

  program::Type type_;
  elf::KernelCode gemm_;
  gemm::Vertices dense_;
};

}  // namespace tessera::training
