#include "kernels/butterfly/gradient.h"

#include <algorithm>

#include "kernels/butterfly/gradient_steps.h"
#include "kernels/gemm/vertices.h"
#include "sim/data/element.h"

namespace tessera::butterfly {

namespace {

/// X goes forward and every factor's input stays; then Yg goes back, and each factor's twiddles get
/// the outer products of what comes back and what went in, added up over columns.
class TwiddleGradient {
 public:
  TwiddleGradient(Assembly& assembly, std::uint32_t contexts)
      : assembly_(assembly),
        geometry_(assembly.geometry),
        layout_(geometry_),
        gemm_code_("gemm"),
        gemm_(gemm_code_, assembly.program, contexts),
        contexts_(contexts) {}

  void build() {
    add_buffers();
    steps_ =
        geometry_.problem.blocked() ? block_steps(assembly_, contexts_) : word_steps(assembly_);
    std::vector<std::vector<BufferId>> forward, back;  // twiddles by factor
    for (std::uint32_t stage = 0; stage < stages(); ++stage) {
      const RowPass& pass = layout_.passes()[stage];
      if (stage + 1 < stages()) forward.push_back(steps_->twiddles(pass, false));
    }
    assembly_.add_inputs();
    for (std::uint32_t stage = 0; stage < stages(); ++stage) {
      const RowPass& pass = layout_.passes()[stage];
      if (pass.before) assembly_.add_swap(*pass.before, x_[stage]);
      if (stage + 1 < stages()) steps_->apply(pass, forward[stage], x_[stage], x_[stage + 1]);
    }
    gradient_ =
        assembly_.given_rows(&Operands::gradient, "gradient", layout_.passes().back().rows, false);
    for (std::uint32_t stage = 0; stage < stages(); ++stage)
      back.push_back(stage == 0 ? std::vector<BufferId>()
                                : steps_->twiddles(layout_.passes()[stage], true));
    assembly_.add_inputs();
    for (std::uint32_t stage = stages(); stage-- > 0;) {
      const RowPass& pass = layout_.passes()[stage];
      steps_->add_products({pass, stage, layout_, sums_, gradient_, x_[stage]});
      if (stage == 0) break;
      apply_back(pass, back[stage]);
      if (pass.before) assembly_.add_swap(*pass.before, gradient_);
    }
    add_up();
  }

 private:
  [[nodiscard]] std::uint32_t stages() const { return geometry_.problem.stages(); }
  [[nodiscard]] bool rotates() const {
    return geometry_.problem.parameters == Parameters::rotation;
  }
  /// Of sums, one for each part of a tile's columns.
  [[nodiscard]] std::uint32_t arrays(std::uint32_t tile) const {
    return assembly_.vertices.arrays(geometry_.units(tile).size());
  }

  void add_buffers() {
    for (std::uint32_t t = 0; t < assembly_.tiles; ++t) {
      const std::uint64_t bytes = layout_.share(t).size();
      results_.push_back(assembly_.add_buffer(
          t, std::max<std::uint64_t>(rotates() ? bytes / 4 : bytes, 16), "result", true));
    }
    x_.push_back(assembly_.given_rows(&Operands::x, "x", layout_.passes().front().rows, false));
    while (x_.size() < stages()) x_.push_back(assembly_.empty_rows("x"));
    for (std::uint32_t t = 0; t < assembly_.tiles; ++t) {
      // What nothing is added to is the result.
      sums_.push_back(arrays(t) == 1 && geometry_.plan.split_n == 1 && !rotates()
                          ? results_[t]
                          : assembly_.add_buffer(t, layout_.bytes() * arrays(t), "sums"));
    }
  }

  void apply_back(const RowPass& pass, const std::vector<BufferId>& twiddles) {
    if (!steps_->in_place() && other_.empty()) other_ = assembly_.empty_rows("gradient");
    std::vector<BufferId>& to = steps_->in_place() ? gradient_ : other_;
    steps_->apply(pass, twiddles, gradient_, to);
    if (!steps_->in_place()) std::swap(gradient_, other_);
  }

  /// Over the parts of a tile's columns, then over tiles.
  void add_up() {
    const std::uint32_t parts = geometry_.plan.split_n;
    const auto add = [&](std::uint32_t tile, std::uint64_t bytes, std::uint32_t count, Place first,
                         Place further, Place sum) {
      assembly_.add(
          gemm_.adding(TileId(tile), program::Type::f32, bytes, count, first, further, sum));
    };
    for (std::uint32_t t = 0; t < assembly_.tiles; ++t) {
      if (arrays(t) == 1) continue;
      add(t, layout_.bytes(), arrays(t) - 1, {sums_[t]}, {sums_[t], word(layout_.bytes())},
          {parts == 1 && !rotates() ? results_[t] : sums_[t]});
    }
    std::vector<BufferId> received;
    if (parts > 1) received = exchange_shares();
    for (std::uint32_t t = 0; t < assembly_.tiles; ++t) {
      const Interval share = layout_.share(t);
      if (share.size() == 0) continue;
      const Place own{sums_[t], word(share.begin)};
      if (parts > 1)
        add(t, share.size(), parts - 1, own, {received[t]}, rotates() ? own : Place{results_[t]});
      if (rotates())
        assembly_.add(assembly_.vertices.angles(TileId(t), share.size() / layout_.pair_bytes(), own,
                                                add_angles(t), results_[t]));
    }
  }

  std::vector<BufferId> exchange_shares() {
    const std::uint32_t parts = geometry_.plan.split_n;
    const std::uint32_t step = geometry_.plan.split_features;
    std::vector<BufferId> received;
    program::Exchange exchange{"shares", {}};
    for (std::uint32_t t = 0; t < assembly_.tiles; ++t) {
      const Interval share = layout_.share(t);
      received.push_back(assembly_.add_buffer(
          t, std::max<std::uint64_t>(share.size() * (parts - 1), 16), "received"));
      std::uint64_t at = 0;
      for (std::uint32_t part = 0; part < parts && share.size() > 0; ++part) {
        const std::uint32_t from = t % step + part * step;
        if (from == t) continue;
        exchange.copies.push_back(
            {{sums_[assembly_.operands == nullptr ? t : from], word(share.begin)},
             word(share.size()),
             {{received[t], word(at)}}});
        at += share.size();
      }
    }
    assembly_.add(std::move(exchange));
    return received;
  }

  /// Cosine and sine of every pair of the share, in f32.
  BufferId add_angles(std::uint32_t tile) {
    const auto fill = [layout = layout_, tile,
                       operands = assembly_.operands](std::span<std::byte> into) {
      std::size_t at = 0;
      layout.for_pairs(tile, [&](std::uint32_t stage, std::uint32_t pair) {
        for (const std::uint32_t part : {0U, 1U})
          data::store_element(program::Type::f32, into, at++,
                              operands->twiddles.number(stage, pair, part));
      });
    };
    return assembly_.add_buffer(tile, layout_.share(tile).size() / 2, "angles", false, fill);
  }

  Assembly& assembly_;
  const Geometry& geometry_;
  GradientLayout layout_;
  std::unique_ptr<GradientSteps> steps_;
  elf::KernelCode gemm_code_;
  gemm::Vertices gemm_;  ///< adding up is the same for all
  std::uint32_t contexts_;
  std::vector<BufferId> results_, gradient_, other_, sums_;  // by tile
  std::vector<std::vector<BufferId>> x_;                     // by factor whose input it is, by tile
};

}  // namespace

namespace {

/// Numbers of a twiddle's gradient with padding, f32.
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

void add_gradient(Assembly& assembly, std::uint32_t contexts) {
  TwiddleGradient(assembly, contexts).build();
}

}  // namespace tessera::butterfly
