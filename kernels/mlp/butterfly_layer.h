#pragma once

#include "kernels/butterfly/gradient.h"
#include "kernels/butterfly/vertices.h"
#include "kernels/mlp/layer.h"

namespace tessera::mlp {

/// A layer of butterfly factors: parameters lie in shares on the tiles that add up their gradients;
/// every turn begins by sending them to all tiles that apply them.
class ButterflyLayer : public Layer {
 public:
  ButterflyLayer(Assembly& assembly, const LayerContext& context, const ButterflyPlan& plan);

  void forward(const Matrix& x, const Matrix& z) override;

  std::optional<Matrix> backward(const Matrix& x, const Matrix& gradient, bool wanted) override;

  [[nodiscard]] std::vector<training::Stretch> stretches() const override;

  [[nodiscard]] std::uint32_t tiles() const override { return geometry_.tiles(); }
  void add_tensors(program::Program& program, const std::string& name,
                   const training::Replicas& copies) const override;

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};  // of no parameter: padding

  using Share = std::vector<training::Stretch>;  ///< by tile
  struct Stack {
    Share twiddles, bias;
    std::vector<BufferId> turns;                   ///< f32 cosines and sines of the share
    std::vector<BufferId> applied_turns;           ///< the same as tiles apply them
    std::vector<BufferId> all_twiddles, all_bias;  ///< what a tile applies
    std::vector<std::vector<BufferId>> x;          ///< by factor whose input it is, and the result
    std::vector<BufferId> gradient;
    std::vector<BufferId> sums, bias_sums;
  };
  using Buffers = std::vector<BufferId>;

  [[nodiscard]] std::uint32_t stages() const { return geometry_.problem.stages(); }
  [[nodiscard]] bool rotates() const {
    return geometry_.problem.parameters == butterfly::Parameters::rotation;
  }
  [[nodiscard]] std::uint32_t parts() const { return geometry_.plan.split_n; }
  /// Of sums on a tile, one for each part of its columns.
  [[nodiscard]] std::uint32_t arrays(std::uint32_t tile) const { return geometry_.arrays(tile); }
  [[nodiscard]] std::uint64_t pairs_of_share(std::uint32_t tile) const {
    return layout_.share(tile).size() / layout_.pair_bytes();
  }
  /// Of f16: what is no gradient must be none that overflowed.
  [[nodiscard]] bool halves() const { return assembly_.type() == program::Type::f16; }
  /// Bytes of a pair as tiles apply it.
  [[nodiscard]] std::uint32_t applied_bytes() const {
    return (rotates() ? 2 : 4) * assembly_.element_bytes();
  }
  /// Of what is f32 in one place, as tiles apply it.
  [[nodiscard]] kernels::Interval applied(kernels::Interval bytes) const {
    return {bytes.begin / training::kElementBytes * assembly_.element_bytes(),
            bytes.end / training::kElementBytes * assembly_.element_bytes()};
  }
  [[nodiscard]] std::uint64_t bias_bytes() const {
    return round_up(std::uint64_t{geometry_.rows()} * training::kElementBytes,
                    gemm::Vertices::kPair);
  }
  [[nodiscard]] kernels::Interval bias_share(std::uint32_t tile) const {
    const kernels::Interval pairs =
        kernels::EvenSplit{bias_bytes() / gemm::Vertices::kPair, parts()}.part(
            tile / geometry_.plan.split_features);
    return {pairs.begin * gemm::Vertices::kPair, pairs.end * gemm::Vertices::kPair};
  }

  /// Which parameters a tile's share consists of.
  [[nodiscard]] std::vector<std::uint64_t> twiddle_places(std::uint32_t stack,
                                                          std::uint32_t tile) const;
  [[nodiscard]] std::vector<std::uint64_t> bias_places(std::uint32_t stack,
                                                       std::uint32_t tile) const;
  static void enter(const std::vector<program::Place>& masters,
                    const std::vector<std::uint64_t>& from, std::vector<program::Place>& places);

  /// Every tile's share to all that apply the same.
  void distribute();
  void add_turns(program::ComputeSet& set, Stack& stack, std::uint32_t tile);
  /// What `from` holds becomes `bytes` of `all` on every tile with its features.
  void send(program::Exchange& exchange, BufferId from, kernels::Interval bytes,
            const Buffers& all) const;

  [[nodiscard]] Buffers row_buffers(std::string_view name);
  template <class Of>
  [[nodiscard]] std::vector<Buffers> all(const Of& of) const {
    std::vector<Buffers> buffers;
    for (const Stack& stack : stacks_) buffers.push_back(of(stack));
    return buffers;
  }
  [[nodiscard]] std::uint32_t features() const { return geometry_.problem.features; }

  /// Rows of features on their tiles: `row` is a feature of each of `buffers`, or of one stack
  /// after the other.
  [[nodiscard]] training::Lines lines(std::vector<Buffers> buffers, const butterfly::Rows& rows,
                                      bool stacked, std::uint64_t limit, std::uint64_t bytes) const;
  [[nodiscard]] training::Lines inputs(std::vector<Buffers> buffers,
                                       std::uint64_t limit = ~std::uint32_t{0}) const;
  [[nodiscard]] training::Lines outputs(std::vector<Buffers> buffers, std::uint64_t limit,
                                        std::uint64_t bytes) const;
  [[nodiscard]] std::uint32_t grain() const {
    return training::padding(assembly_.machine(), assembly_.type());
  }
  /// A matrix by samples to rows of features, `rows` of them with zeros behind its columns.
  void bring(const Matrix& from, const training::Lines& to, const std::vector<Buffers>& into,
             std::uint64_t rows);
  void take(const training::Lines& from, const Matrix& to);

  program::Vertex row_numbers(const std::string& name, std::uint32_t tile, BufferId rows,
                              BufferId numbers);
  [[nodiscard]] program::Place twiddles(const Stack& stack, std::uint32_t tile,
                                        std::uint32_t stage) const {
    return {stack.all_twiddles[tile], word(layout_.stage_begin(stage) / 16 * applied_bytes())};
  }

  void swap(const butterfly::Swap& swap, const std::vector<Buffers>& stacks);

  /// The outer products of what comes back to a factor and what went in, then what it gives back.
  program::ComputeSet backward_factors(std::uint32_t stage, bool further);

  /// Over the parts of a tile's columns, then over tiles, each its share.
  void add_up();
  program::Vertex sum(std::uint32_t tile, std::uint64_t bytes, std::uint32_t count,
                      program::Place first, program::Place further, program::Place result,
                      program::Type type = program::Type::f32);
  /// The sum over all parts of the columns of a tile's share, in `result` or in place: where it is.
  program::Place shared(program::Exchange& exchange, program::ComputeSet& set, std::uint32_t tile,
                        kernels::Interval share, const Buffers& sums,
                        std::optional<BufferId> result);
  /// Gradients of the input by all stacks.
  void add_stacks();

  Assembly& assembly_;
  LayerContext context_;
  const butterfly::Geometry geometry_;
  butterfly::GradientLayout layout_;
  elf::KernelCode code_;
  butterfly::Vertices vertices_;
  std::vector<Stack> stacks_;
};

}  // namespace tessera::mlp
