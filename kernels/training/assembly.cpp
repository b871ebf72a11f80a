#include "kernels/training/assembly.h"

#include <cstring>
#include <numeric>

#include "sim/data/element.h"

namespace tessera::training {

namespace {

void store(std::span<std::byte> into, std::size_t at, float value) {
  std::memcpy(into.data() + at * kElementBytes, &value, sizeof value);
}

}  // namespace

std::uint32_t padding(const MachineConfig& machine) {
  const kernels::BlockShape block =
      kernels::block_shape(machine.tile.matrix_unit, program::Type::f32, program::Type::f32);
  return std::lcm(block.depth, block.columns);
}

Assembly::Assembly(program::Program& program, const MachineConfig& machine)
    : program_(program),
      machine_(machine),
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
  return program_.add_buffer({TileId(tile), word(std::max(bytes, kWordBytes)), 8, keep,
                              program::Category::tensors, std::move(contents), name});
}

std::uint32_t Assembly::codelet(const std::string& name) {
  const auto [entry, is_new] = codelets_.try_emplace(name);
  const elf::KernelCode& code = name.starts_with("transpose") ? sparse_ : training_;
  if (is_new) entry->second = program_.add_codelet(code[name]);
  return entry->second;
}

Matrix Assembly::matrix(std::uint32_t rows, std::uint32_t columns, std::string_view name,
                        const Contents& contents) {
  const std::uint32_t grain = padding(machine_);
  Matrix made{rows,
              columns,
              round_up(rows, grain),
              round_up(columns, grain),
              {{round_up(rows, grain), round_up(columns, grain) * std::uint64_t{kElementBytes},
                machine_.tiles},
               {}}};
  const gemm::RowMajor& lies = made.lies.stored;
  for (std::uint32_t t = 0; t < machine_.tiles && lies.bytes_on(t) > 0; ++t) {
    std::function<void(std::span<std::byte>)> fill;
    if (contents.fill) {
      fill = [fill = contents.fill, made_rows = rows, made_columns = columns, pitch = made.pitch,
              first = lies.begin(t) / kElementBytes](std::span<std::byte> into) {
        for (std::size_t i = 0; i < into.size() / kElementBytes; ++i) {
          const std::uint64_t row = (first + i) / pitch;
          const std::uint64_t column = (first + i) % pitch;
          const bool inside = row < made_rows && column < made_columns;
          store(into, i, inside ? static_cast<float>(fill(row, column)) : 0.0F);
        }
      };
    }
    made.lies.buffers.push_back(buffer(t, lies.bytes_on(t), name, std::move(fill), contents.keep));
  }
  return made;
}

void Assembly::add_feed(program::HostTransfer& transfer, const Matrix& matrix,
                        const Feed& feed) const {
  const gemm::RowMajor& lies = matrix.lies.stored;
  for (std::uint32_t t = 0; t < matrix.tiles(); ++t) {
    const auto contents = [feed, rows = matrix.rows, columns = matrix.columns, pitch = matrix.pitch,
                           first = lies.begin(t) / kElementBytes](std::span<std::byte> into,
                                                                  std::uint64_t number) {
      for (std::size_t i = 0; i < into.size() / kElementBytes; ++i) {
        const std::uint64_t row = (first + i) / pitch;
        const std::uint64_t column = (first + i) % pitch;
        const bool inside = row < rows && column < columns;
        store(into, i, inside ? static_cast<float>(feed(number, row, column)) : 0.0F);
      }
    };
    transfer.pieces.push_back({{matrix.lies.buffers[t]}, lies.bytes_on(t), contents});
  }
}

void Assembly::product(const gemm::Geometry& geometry, const Matrix& a, const Matrix& b,
                       const Matrix& c) {
  gemm::append_product(geometry, machine_, {a.lies, b.lies, c.lies},
                       {program_, *sequence_, dense_, measured_});
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
  const kernels::EvenSplit words{program_.buffer(buffer).bytes / kWordBytes,
                                 machine_.tile.contexts};
  for (std::uint32_t w = 0; w < machine_.tile.contexts; ++w) {
    vertex.arguments.emplace_back(word(words.begin(w) * kWordBytes));
    vertex.arguments.emplace_back(word(words.part(w).size()));
  }
}

void Assembly::clear(const std::vector<BufferId>& buffers) {
  if (buffers.empty()) return;
  program::ComputeSet set{"clear", {}};
  for (const BufferId each : buffers) {
    program::Vertex vertex{program_.buffer(each).tile,
                           codelet("training_clear"),
                           program::Executor::all_workers,
                           0,
                           {Place{each}, 0U}};
    add_parts(vertex, each);
    set.vertices.push_back(std::move(vertex));
  }
  add_step(std::move(set));
}

/// `value` in the last column of every row.
void Assembly::fill_ones(program::ComputeSet& set, const Matrix& matrix, double value) {
  std::vector<std::vector<std::uint32_t>> offsets(matrix.tiles());
  for (std::uint32_t row = 0; row < matrix.rows; ++row) {
    const std::uint64_t begin = std::uint64_t{matrix.columns - 1} * kElementBytes;
    for (const auto& piece : matrix.lies.stored.pieces(row, begin, begin + kElementBytes))
      offsets[piece.tile].push_back(piece.offset);
  }
  for (std::uint32_t t = 0; t < matrix.tiles(); ++t) {
    if (offsets[t].empty()) continue;
    set.vertices.push_back({TileId(t),
                            codelet("training_fill"),
                            program::Executor::one_worker,
                            0,
                            {Place{matrix.lies.buffers[t]}, Place{list(t, offsets[t], "ones")},
                             word(offsets[t].size()), bits_of(value)}});
  }
}

void Assembly::activate(Activation activation, const Matrix& z, const Matrix& out, bool ones) {
  program::ComputeSet set{"activation", {}};
  if (activation != Activation::none) {
    add_elementwise(set, activation == Activation::relu ? "training_relu" : "training_gelu", z,
                    [&](std::uint32_t t) -> std::vector<program::Argument> {
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
    add_elementwise(set,
                    activation == Activation::relu ? "training_relu_slope" : "training_gelu_slope",
                    z, [&](std::uint32_t t) -> std::vector<program::Argument> {
                      return {Place{z.lies.buffers[t]}, Place{gradient.lies.buffers[t]},
                              Place{out.lies.buffers[t]}, 0U};
                    });
  }
  if (ones) fill_ones(set, out, 0);
  if (!set.vertices.empty()) add_step(std::move(set));
}

}  // namespace tessera::training
