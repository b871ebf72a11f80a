#include "kernels/training/assembly.h"

#include <numeric>

#include <fmt/format.h>

namespace tessera::training {

std::uint32_t padding(const MachineConfig& machine, program::Type type) {
  const kernels::BlockShape block =
      kernels::block_shape(machine.tile.matrix_unit, type, program::Type::f32);
  return std::lcm(block.depth, block.columns);
}

std::string Assembly::typed(const std::string& name) const {
  return type_ == program::Type::f16 ? name + "_f16" : name;
}

namespace {

/// Elements of what one buffer of a matrix holds, rounded; zeros where it is padding.
template <class Fill>
void fill_elements(const Matrix& matrix, std::uint64_t first_byte, std::span<std::byte> into,
                   const Fill& fill) {
  const std::uint64_t first = first_byte / matrix.element_bytes();
  for (std::size_t i = 0; i < into.size() / matrix.element_bytes(); ++i) {
    const std::uint64_t row = (first + i) / matrix.pitch;
    const std::uint64_t column = (first + i) % matrix.pitch;
    const bool inside = row < matrix.rows && column < matrix.columns;
    data::store_element(matrix.type, into, i, inside ? fill(row, column) : 0.0);
  }
}

}  // namespace

Matrix Assembly::matrix(std::uint32_t rows, std::uint32_t columns, std::string_view name,
                        const Fill& fill, bool keep) {
  const std::uint32_t grain = padding(machine(), type_);
  const std::uint32_t padded_rows = round_up(rows, grain);
  const std::uint32_t pitch = round_up(columns, grain);
  Matrix made{rows,
              columns,
              padded_rows,
              pitch,
              {{padded_rows, std::uint64_t{pitch} * element_bytes(), machine().tiles}, {}},
              type_};
  const Matrix shape = made;
  for (std::uint32_t t = 0; t < machine().tiles && shape.lies.stored.bytes_on(t) > 0; ++t) {
    Contents contents;
    if (fill)
      contents = [fill, shape, t](std::span<std::byte> into) {
        fill_elements(shape, shape.lies.stored.begin(t), into, fill);
      };
    made.lies.buffers.push_back(
        buffer(t, shape.lies.stored.bytes_on(t), name, std::move(contents), keep));
  }
  return made;
}

void Assembly::add_feed(program::HostTransfer& transfer, const Matrix& matrix,
                        const Feed& feed) const {
  for (std::uint32_t t = 0; t < matrix.tiles(); ++t) {
    const auto contents = [feed, matrix, t](std::span<std::byte> into, std::uint64_t number) {
      fill_elements(
          matrix, matrix.lies.stored.begin(t), into,
          [&](std::uint64_t row, std::uint64_t column) { return feed(number, row, column); });
    };
    transfer.pieces.push_back({{matrix.lies.buffers[t]}, matrix.lies.stored.bytes_on(t), contents});
  }
}

void Assembly::product(const gemm::Geometry& geometry, const Matrix& a, const Matrix& b,
                       const Matrix& c) {
  gemm::append_product(geometry, machine(), {a.lies, b.lies, c.lies},
                       {program(), sequence(), measured()});
}

void Assembly::add_elementwise(ComputeSet& set, const std::string& name, const Matrix& matrix,
                               const Leading& leading) {
  for (std::uint32_t t = 0; t < matrix.tiles(); ++t)
    set.vertices.push_back(
        all_of(t, name, leading(t), program().buffer(matrix.lies.buffers[t]).bytes));
}

void Assembly::clear(const std::vector<BufferId>& buffers) {
  if (buffers.empty()) return;
  ComputeSet set{"clear", {}};
  for (const BufferId each : buffers) set.vertices.push_back(clearing(each));
  add_step(std::move(set));
}

/// `value` in the last column of every row.
void Assembly::fill_ones(ComputeSet& set, const Matrix& matrix, double value) {
  std::vector<std::vector<std::uint32_t>> offsets(matrix.tiles());
  for (std::uint32_t row = 0; row < matrix.rows; ++row) {
    const std::uint64_t begin = (matrix.columns - 1) * matrix.element_bytes();
    for (const auto& piece : matrix.lies.stored.pieces(row, begin, begin + matrix.element_bytes()))
      offsets[piece.tile].push_back(piece.offset);
  }
  for (std::uint32_t t = 0; t < matrix.tiles(); ++t) {
    if (offsets[t].empty()) continue;
    const BufferId ones = list(t, offsets[t], "ones");
    set.vertices.push_back(
        one(t, typed("training_fill"),
            {Place{matrix.lies.buffers[t]}, Place{ones}, word(offsets[t].size()), bits_of(value)}));
  }
}

void Assembly::apply(Activation activation, const Matrix& z, const Matrix* gradient,
                     const Matrix& out, bool ones) {
  const bool slopes = gradient != nullptr;
  ComputeSet set{slopes ? "activation gradient" : "activation", {}};
  if (activation != Activation::none) {
    const std::string name = fmt::format(
        "training_{}{}", activation == Activation::relu ? "relu" : "gelu", slopes ? "_slope" : "");
    add_elementwise(set, typed(name), z, [&](std::uint32_t t) -> Arguments {
      Arguments arguments{Place{z.lies.buffers[t]}, 0U, Place{out.lies.buffers[t]}, 0U};
      if (slopes) arguments[1] = Place{gradient->lies.buffers[t]};
      return arguments;
    });
  }
  if (ones) fill_ones(set, out, slopes ? 0 : 1);
  if (!set.vertices.empty()) add_step(std::move(set));
}

}  // namespace tessera::training
