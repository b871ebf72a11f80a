#include "kernels/training/assembly.h"

#include <numeric>

#include <fmt/format.h>

namespace tessera::training {

std::uint32_t padding(const MachineConfig& machine, program::Type type) {
  const kernels::BlockShape block =
      kernels::block_shape(machine.tile.matrix_unit, type, program::Type::f32);
  return std::lcm(block.depth, block.columns);
}

Assembly::Assembly(program::Program& program, const MachineConfig& machine, program::Type type)
    : program_(program),
      machine_(machine),
      type_(type),
      sequence_(&program.main()),
      training_("training"),
      gemm_("gemm"),
      sparse_("sparse/code"),
      dense_(gemm_, program, machine.tile.contexts) {}

void Assembly::add_to(program::Sequence& sequence, bool measured) {
  sequence_ = &sequence;
  measured_ = measured;
}

BufferId Assembly::buffer(std::uint32_t tile, std::uint64_t bytes, std::string_view name,
                          std::function<void(std::span<std::byte>)> contents, bool keep) {
  return program_.add_buffer({TileId(tile), std::max(bytes, kWordBytes), 8, keep,
                              program::Category::tensors, std::move(contents), name});
}

std::string Assembly::typed(const char* name) const {
  return type_ == program::Type::f16 ? fmt::format("{}_f16", name) : name;
}

std::uint32_t Assembly::codelet(const std::string& name) {
  const auto [entry, is_new] = codelets_.try_emplace(name);
  const elf::KernelCode& code = name.starts_with("transpose") ? sparse_ : training_;
  if (is_new) entry->second = program_.add_codelet(code[name]);
  return entry->second;
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
                        const Contents& contents) {
  const std::uint32_t grain = padding(machine_, type_);
  const std::uint32_t padded_rows = round_up(rows, grain);
  const std::uint32_t pitch = round_up(columns, grain);
  Matrix made{rows,
              columns,
              padded_rows,
              pitch,
              {{padded_rows, std::uint64_t{pitch} * element_bytes(), machine_.tiles}, {}},
              type_};
  const Matrix shape = made;
  for (std::uint32_t t = 0; t < machine_.tiles && shape.lies.stored.bytes_on(t) > 0; ++t) {
    std::function<void(std::span<std::byte>)> fill;
    if (contents.fill) {
      fill = [fill = contents.fill, shape, t](std::span<std::byte> into) {
        fill_elements(shape, shape.lies.stored.begin(t), into, fill);
      };
    }
    made.lies.buffers.push_back(
        buffer(t, shape.lies.stored.bytes_on(t), name, std::move(fill), contents.keep));
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
  gemm::append_product(geometry, machine_, {a.lies, b.lies, c.lies},
                       {program_, *sequence_, measured_});
}

void Assembly::add_elementwise(program::ComputeSet& set, const std::string& name,
                               const Matrix& matrix, const Leading& leading) {
  for (std::uint32_t t = 0; t < matrix.tiles(); ++t) {
    program::Vertex vertex{TileId(t), codelet(name), program::Executor::all_workers, 0, leading(t)};
    add_parts(vertex, matrix.lies.buffers[t]);
    set.vertices.push_back(std::move(vertex));
  }
}

void Assembly::add_parts(program::Vertex& vertex, BufferId buffer) const {
  add_parts(vertex, program_.buffer(buffer).bytes);
}

void Assembly::add_parts(program::Vertex& vertex, std::uint64_t bytes) const {
  const kernels::EvenSplit words{bytes / kWordBytes, machine_.tile.contexts};
  for (std::uint32_t w = 0; w < machine_.tile.contexts; ++w) {
    vertex.arguments.emplace_back(word(words.begin(w) * kWordBytes));
    vertex.arguments.emplace_back(word(words.part(w).size()));
  }
}

program::Vertex Assembly::clearing(BufferId buffer) {
  program::Vertex vertex{program_.buffer(buffer).tile,
                         codelet("training_clear"),
                         program::Executor::all_workers,
                         0,
                         {Place{buffer}, 0U}};
  add_parts(vertex, buffer);
  return vertex;
}

void Assembly::clear(const std::vector<BufferId>& buffers) {
  if (buffers.empty()) return;
  program::ComputeSet set{"clear", {}};
  for (const BufferId each : buffers) set.vertices.push_back(clearing(each));
  add_step(std::move(set));
}

/// `value` in the last column of every row.
void Assembly::fill_ones(program::ComputeSet& set, const Matrix& matrix, double value) {
  std::vector<std::vector<std::uint32_t>> offsets(matrix.tiles());
  for (std::uint32_t row = 0; row < matrix.rows; ++row) {
    const std::uint64_t begin = (matrix.columns - 1) * matrix.element_bytes();
    for (const auto& piece : matrix.lies.stored.pieces(row, begin, begin + matrix.element_bytes()))
      offsets[piece.tile].push_back(piece.offset);
  }
  for (std::uint32_t t = 0; t < matrix.tiles(); ++t) {
    if (offsets[t].empty()) continue;
    set.vertices.push_back({TileId(t),
                            typed_codelet("training_fill"),
                            program::Executor::one_worker,
                            0,
                            {Place{matrix.lies.buffers[t]}, Place{list(t, offsets[t], "ones")},
                             word(offsets[t].size()), bits_of(value)}});
  }
}

void Assembly::activate(Activation activation, const Matrix& z, const Matrix& out, bool ones) {
  program::ComputeSet set{"activation", {}};
  if (activation != Activation::none) {
    const char* name = activation == Activation::relu ? "training_relu" : "training_gelu";
    add_elementwise(set, typed(name), z, [&](std::uint32_t t) -> std::vector<program::Argument> {
      return {Place{z.lies.buffers[t]}, 0U, Place{out.lies.buffers[t]}, 0U};
    });
  }
  if (ones) fill_ones(set, out, 1);
  if (!set.vertices.empty()) add_step(std::move(set));
}

void Assembly::slope(Activation activation, const Matrix& z, const Matrix& gradient,
                     const Matrix& out, bool ones) {
  program::ComputeSet set{"activation gradient", {}};
  if (activation != Activation::none) {
    const char* name =
        activation == Activation::relu ? "training_relu_slope" : "training_gelu_slope";
    add_elementwise(set, typed(name), z, [&](std::uint32_t t) -> std::vector<program::Argument> {
      return {Place{z.lies.buffers[t]}, Place{gradient.lies.buffers[t]}, Place{out.lies.buffers[t]},
              0U};
    });
  }
  if (ones) fill_ones(set, out, 0);
  if (!set.vertices.empty()) add_step(std::move(set));
}

}  // namespace tessera::training
