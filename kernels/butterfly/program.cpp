#include "kernels/butterfly/program.h"

#include <utility>

#include "kernels/butterfly/vertices.h"
#include "sim/data/element.h"

namespace tessera::butterfly {

namespace {

std::uint32_t word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

class Builder {
 public:
  /// `operands`: null for a sample of tile 0.
  Builder(const Geometry& geometry, const MachineConfig& machine, const Operands* operands)
      : geometry_(geometry),
        problem_(geometry.problem),
        operands_(operands),
        tiles_(operands == nullptr ? 1 : geometry.tiles()),
        passes_(schedule(problem_, geometry.plan.split_features, geometry.plan.fused,
                         problem_.pass == Pass::grad_input)),
        program_(operands == nullptr ? 1 : machine.tiles),
        code_("butterfly"),
        vertices_(code_, program_, problem_, machine.tile.contexts, geometry.plan.workers_n) {}

  program::Program build() {
    for (std::uint32_t t = 0; t < tiles_; ++t) x_.push_back(add_rows(t));
    program::ComputeSet set{"factors", {}};
    for (const RowPass& pass : passes_) {
      if (pass.before) {
        if (!set.vertices.empty()) add_step(std::exchange(set, {"factors", {}}));
        add_step(swap(*pass.before));
      }
      for (std::uint32_t t = 0; t < tiles_; ++t) {
        set.vertices.push_back(vertices_.pass(TileId(t), pass, geometry_.units(t).size(),
                                              {add_twiddles(t, pass)}, x_[t], x_[t]));
      }
    }
    add_step(std::move(set));
    return std::move(program_);
  }

 private:
  template <class Action>
  void add_step(Action action) {
    program_.main().steps.push_back({std::move(action)});
  }

  BufferId add_rows(std::uint32_t tile) {
    program::Buffer buffer{
        TileId(tile), word(geometry_.bytes(tile)), 8, true, program::Category::tensors, {}, "x"};
    if (operands_ != nullptr) {
      buffer.contents = [this_ = geometry_, rows = passes_.front().rows, &x = operands_->x,
                         tile](std::span<std::byte> into) {
        const std::uint32_t parts = this_.problem.is_complex() ? 2 : 1;
        this_.for_numbers(
            tile, [&](std::uint32_t row, std::uint64_t column, std::uint32_t part, std::size_t at) {
              const std::uint32_t feature = rows.feature(this_.feature_part(tile), row);
              data::store_element(this_.problem.type(), into, at,
                                  x.element(feature, column * parts + part));
            });
      };
    }
    return program_.add_buffer(std::move(buffer));
  }

  BufferId add_twiddles(std::uint32_t tile, const RowPass& pass) {
    program::Buffer buffer{TileId(tile), twiddle_bytes(problem_, pass), 8,
                           false,        program::Category::tensors,    {},
                           "twiddles"};
    if (operands_ != nullptr) {
      const bool adjoint = problem_.pass == Pass::grad_input;
      buffer.contents = [pass, adjoint, part = geometry_.feature_part(tile),
                         &twiddles = operands_->twiddles](std::span<std::byte> into) {
        twiddles.fill(pass, part, adjoint, into);
      };
    }
    return program_.add_buffer(std::move(buffer));
  }

  /// Blocks of rows go to the tiles whose number they will have in common.
  program::Exchange swap(const Swap& its) {
    program::Exchange exchange{"swap", {}};
    const std::uint32_t ways = 1U << its.bits;
    for (std::uint32_t t = 0; t < tiles_; ++t) {
      const std::uint32_t block = word(geometry_.bytes(t) >> its.bits);
      const std::uint32_t own = t >> its.tile_place & (ways - 1);
      for (std::uint32_t way = 0; way < ways; ++way) {
        if (way == own) continue;
        const std::uint32_t to = t ^ (own ^ way) << its.tile_place;
        const std::uint32_t taker = operands_ == nullptr ? t : to;
        const std::uint32_t at = operands_ == nullptr ? way : own;
        exchange.copies.push_back({{x_[t], way * block}, block, {{x_[taker], at * block}}});
      }
    }
    return exchange;
  }

  const Geometry& geometry_;
  const Problem& problem_;
  const Operands* operands_;
  std::uint32_t tiles_;
  std::vector<RowPass> passes_;
  program::Program program_;
  elf::KernelCode code_;
  Vertices vertices_;
  std::vector<BufferId> x_;  // by tile
};

}  // namespace

program::Program build_program(const Geometry& geometry, const MachineConfig& machine,
                               const Operands& operands) {
  return Builder(geometry, machine, &operands).build();
}

program::Program build_sample(const Geometry& geometry, const MachineConfig& machine) {
  return Builder(geometry, machine, nullptr).build();
}

}  // namespace tessera::butterfly
