#include "kernels/gemm/program.h"

#include <algorithm>
#include <optional>

#include "kernels/gemm/relayout.h"
#include "kernels/gemm/storage.h"
#include "kernels/gemm/tensors.h"

namespace tessera::gemm {

using program::BufferId;
using program::Place;

namespace {

constexpr std::uint64_t kLeastBytes = 16;  // of a buffer that code is given

class Builder {
 public:
  Builder(const Geometry& geometry, const MachineConfig& machine, const Destination& destination)
      : geometry_(geometry),
        block_(geometry.block()),
        machine_(machine),
        to_(destination),
        program_(destination.program),
        vertices_(destination.vertices) {}

  /// Layout blocked: A and B lie as the plan wants them.
  void build(const Operand& a, const Operand& b) {
    x_storage_ = std::make_shared<Storage>(geometry_, Storage::Role::x, machine_.tiles);
    w_storage_ = std::make_shared<Storage>(geometry_, Storage::Role::w, machine_.tiles);
    add_buffers();
    for (std::uint32_t t = 0; t < machine_.tiles; ++t) {
      stored_x_.push_back(add_stored(x_storage_, a, b, t, "x stored"));
      stored_w_.push_back(add_stored(w_storage_, a, b, t, "w stored"));
    }
    add_steps();
    program_.add_tensor(tensor_of_blocks(geometry_, results_));
  }

  /// Layout natural.
  void build(const Relayout::Matrices& matrices) {
    relayout_.emplace(geometry_, machine_, program_, vertices_, matrices);
    add_buffers();
    add_step(relayout_->inputs());
    add_step(relayout_->regrouping());
    add_steps();
  }

 private:
  void add_steps() {
    const std::uint32_t cuts = geometry_.plan().cuts;
    for (std::uint32_t cut = 0; cut < cuts; ++cut) {
      add_step(inputs(cut));
      program::ComputeSet set = product(cut);
      if (cut + 1 == cuts && !splits_depth() && !relayout_) add_packing(set);
      add_step(std::move(set));
    }
    if (relayout_) add_step(y_to_rows());
    if (splits_depth()) {
      add_step(partials());
      add_step(adding());
    }
    if (relayout_) add_step(relayout_->result(results_));
  }

  [[nodiscard]] bool splits_depth() const { return geometry_.plan().split_k > 1; }
  [[nodiscard]] bool y_is_result() const { return !splits_depth() && !geometry_.converts(); }
  [[nodiscard]] Cell cell(std::uint32_t tile) const { return geometry_.cell(tile); }
  /// What a tile's buffers are sized for: in layout natural the fullest, tile 0, so that all tiles
  /// are packed as the plan expects.
  [[nodiscard]] Cell size_cell(std::uint32_t tile) const { return cell(relayout_ ? 0 : tile); }

  template <class Action>
  void add_step(Action action) {
    to_.steps.steps.push_back({std::move(action), to_.measured});
  }

  BufferId add_buffer(std::uint32_t tile, std::uint64_t bytes, std::string_view name,
                      bool keep = false) {
    return program_.add_buffer({TileId(tile),
                                std::max<std::uint64_t>(bytes, kLeastBytes),
                                8,
                                keep,
                                program::Category::tensors,
                                {},
                                name});
  }

  void add_buffers() {
    const std::uint32_t tiles = geometry_.tiles();
    for (std::uint32_t t = 0; t < tiles; ++t) {
      const BufferId result = add_buffer(t, geometry_.result_bytes(size_cell(t)),
                                         y_is_result() ? "y" : "result", !relayout_);
      results_.push_back(result);
    }
    for (std::uint32_t t = 0; t < tiles; ++t) {
      x_.push_back(add_buffer(t, geometry_.x_bytes(size_cell(t), 0), "x"));
      w_.push_back(add_buffer(t, geometry_.w_bytes(size_cell(t), 0), "w"));
      y_.push_back(y_is_result() && !relayout_
                       ? results_[t]
                       : add_buffer(t, geometry_.y_bytes(size_cell(t)), "y"));
      if (splits_depth()) received_.push_back(add_buffer(t, received_bytes(t), "partials"));
    }
  }

  /// A tile's part of an operand; none if the operand ends before it.
  BufferId add_stored(const std::shared_ptr<const Storage>& storage, const Operand& a,
                      const Operand& b, std::uint32_t tile, std::string_view name) {
    const std::uint32_t bytes = storage->bytes_on(tile);
    if (bytes == 0) return {};
    auto fill = [&a, &b, storage, tile](std::span<std::byte> into) {
      storage->fill(tile, a, b, into);
    };
    return program_.add_buffer(
        {TileId(tile), bytes, 8, false, program::Category::tensors, std::move(fill), name});
  }

  [[nodiscard]] std::uint64_t received_bytes(std::uint32_t tile) const {
    return geometry_.y_share(size_cell(tile)).size() * (geometry_.plan().split_k - 1);
  }

  /// Each portion of X goes to all tiles of its row part, each of W to all of its column part.
  program::Exchange inputs(std::uint32_t cut) {
    program::Exchange exchange{"inputs", {}};
    for (std::uint32_t depth = 0; depth < geometry_.plan().split_k; ++depth) {
      for (std::uint32_t row = 0; row < geometry_.row_parts(); ++row) {
        std::vector<BufferId> takers;
        for (std::uint32_t column = 0; column < geometry_.column_parts(); ++column) {
          takers.push_back(x_[geometry_.tile({row, column, depth})]);
        }
        add_copies(exchange, Storage::Role::x, {row, 0, depth}, cut, takers);
      }
      for (std::uint32_t column = 0; column < geometry_.column_parts(); ++column) {
        std::vector<BufferId> takers;
        for (std::uint32_t row = 0; row < geometry_.row_parts(); ++row) {
          takers.push_back(w_[geometry_.tile({row, column, depth})]);
        }
        add_copies(exchange, Storage::Role::w, {0, column, depth}, cut, takers);
      }
    }
    return exchange;
  }

  void add_copies(program::Exchange& exchange, Storage::Role role, const Cell& cell,
                  std::uint32_t cut, const std::vector<BufferId>& takers) const {
    const bool x = role == Storage::Role::x;
    const auto& stored = relayout_ ? relayout_->panels(role) : (x ? stored_x_ : stored_w_);
    const auto pieces = relayout_ ? relayout_->pieces(role, cell, cut)
                                  : (x ? x_storage_ : w_storage_)->pieces(cell, cut);
    for (const Storage::Piece& piece : pieces) {
      program::Copy copy{{stored[piece.tile], piece.offset}, piece.bytes, {}};
      for (const BufferId taker : takers) copy.destinations.push_back({taker, piece.at});
      exchange.copies.push_back(std::move(copy));
    }
  }

  program::ComputeSet product(std::uint32_t cut) {
    program::ComputeSet set{"product", {}};
    for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
      const Cell at = cell(t);
      const Vertices::Part part{geometry_.rows(at.row).size(),
                                geometry_.column_blocks(at.column).size(),
                                geometry_.depth_blocks(at.depth, cut).size(), cut > 0};
      set.vertices.push_back(vertices_.product(TileId(t), block_, part, w_[t], x_[t], y_[t]));
    }
    return set;
  }

  /// From here on the parts of Y are rows.
  program::ComputeSet y_to_rows() {
    std::vector<BufferId> rows = results_;
    for (std::uint32_t t = 0; t < geometry_.tiles() && !y_is_result(); ++t) {
      rows[t] = add_buffer(t, geometry_.y_bytes(size_cell(t)), "y in rows");
    }
    program::ComputeSet set = relayout_->y_to_rows(y_, rows);
    y_ = std::move(rows);
    if (!splits_depth()) add_packing(set);
    return set;
  }

  /// All to all within the tiles that share a part of Y: each takes its share of every other's.
  program::Exchange partials() {
    program::Exchange exchange{"partials", {}};
    for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
      const Cell to = cell(t);
      const Interval share = geometry_.y_share(to);
      if (share.size() == 0) continue;
      std::uint64_t at = 0;
      for (std::uint32_t depth = 0; depth < geometry_.plan().split_k; ++depth) {
        if (depth == to.depth) continue;
        const std::uint32_t from = geometry_.tile({to.row, to.column, depth});
        exchange.copies.push_back(
            {{y_[from], word(share.begin)}, word(share.size()), {{received_[t], word(at)}}});
        at += share.size();
      }
    }
    return exchange;
  }

  program::ComputeSet adding() {
    program::ComputeSet set{"adding", {}};
    for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
      const Interval share = geometry_.y_share(cell(t));
      if (share.size() == 0) continue;
      const Place own{y_[t], word(share.begin)};
      const Place sum = geometry_.converts() ? own : Place{results_[t]};
      set.vertices.push_back(vertices_.adding(TileId(t), block_.partial, share.size(),
                                              geometry_.plan().split_k - 1, own,
                                              Place{received_[t]}, sum));
    }
    add_packing(set);
    return set;
  }

  /// f32 partials become f16 results, after all else in `set`.
  void add_packing(program::ComputeSet& set) {
    if (!geometry_.converts()) return;
    for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
      const Interval share = geometry_.y_share(cell(t));
      if (share.size() == 0) continue;
      set.vertices.push_back(vertices_.packing(
          TileId(t), share.size(), Place{y_[t], word(share.begin)}, Place{results_[t]}));
    }
  }

  const Geometry& geometry_;
  const BlockShape& block_;
  const MachineConfig& machine_;
  std::shared_ptr<const Storage> x_storage_;
  std::shared_ptr<const Storage> w_storage_;
  const Destination& to_;
  program::Program& program_;
  Vertices& vertices_;
  std::optional<Relayout> relayout_;                      // layout natural
  std::vector<BufferId> results_, x_, w_, y_, received_;  // by tile of the geometry
  std::vector<BufferId> stored_x_, stored_w_;             // by tile of the machine
};

/// Buffers of matrices as a run begins and ends with them. Each is as large on every tile as on the
/// fullest: all tiles are then packed as the plan expects.
Relayout::Matrices given_by_rows(const Geometry& geometry, const MachineConfig& machine,
                                 program::Program& program, const Operand& a, const Operand& b) {
  Relayout::Matrices matrices{{RowMajor::of_x(geometry, machine.tiles), {}},
                              {RowMajor::of_w(geometry, machine.tiles), {}},
                              {RowMajor::of_result(geometry, machine.tiles), {}}};
  const auto add = [&](Rows& rows, const Operand* operand, std::string_view name) {
    for (std::uint32_t t = 0; t < machine.tiles && rows.stored.bytes_on(t) > 0; ++t) {
      program::Buffer buffer{
          TileId(t), rows.stored.bytes_on(0), 8, operand == nullptr, program::Category::tensors, {},
          name};
      if (operand != nullptr)
        buffer.contents = [stored = rows.stored, operand, type = geometry.block().input,
                           t](std::span<std::byte> into) { stored.fill(t, *operand, type, into); };
      rows.buffers.push_back(program.add_buffer(std::move(buffer)));
    }
  };
  add(matrices.c, nullptr, "c");
  add(matrices.a, &a, "a");
  add(matrices.b, &b, "b");
  return matrices;
}

}  // namespace

void append_product(const Geometry& geometry, const MachineConfig& machine,
                    const Relayout::Matrices& matrices, const Destination& destination) {
  Builder(geometry, machine, destination).build(matrices);
}

program::Program build_program(const Geometry& geometry, const MachineConfig& machine,
                               const Operand& a, const Operand& b) {
  const elf::KernelCode code("gemm");
  program::Program program(machine.tiles);
  Vertices vertices(code, program, machine.tile.contexts);
  const Destination destination{program, program.main(), vertices};
  Builder builder(geometry, machine, destination);
  const Type type = geometry.block().input;
  if (geometry.natural()) {
    const Relayout::Matrices matrices = given_by_rows(geometry, machine, program, a, b);
    builder.build(matrices);
    program.add_tensor(
        tensor_of({"C", program::Role::result, type, a.rows(), b.columns()}, matrices.c));
  } else {
    builder.build(a, b);
  }
  program.add_tensor(data::tensor_of("A", a, type));
  program.add_tensor(data::tensor_of("B", b, type));
  return program;
}

}  // namespace tessera::gemm
