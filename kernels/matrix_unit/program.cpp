#include "kernels/matrix_unit/matrix_unit.h"
#include "sim/data/element.h"
#include "sim/data/random.h"

namespace tessera::matrix_unit {

using program::BufferId;
using program::Place;

namespace {

constexpr unsigned kRandomBits = 10;

}  // namespace

double MatrixUnit::initial(Array array, std::uint32_t tile, std::uint64_t at) const {
  const std::uint64_t element = (std::uint64_t{tile} << 32) + at;
  return static_cast<double>(
      data::random_signed(options_.seed, static_cast<std::uint64_t>(array), element, kRandomBits));
}

BufferId MatrixUnit::add_array(program::Program& program, Array array, std::uint32_t tile,
                               std::uint64_t bytes) const {
  const bool is_y = array == Array::y;
  const program::Type type = is_y ? block_.partial : block_.input;
  auto fill = [this, array, tile, type](std::span<std::byte> into) {
    for (std::size_t i = 0; i < into.size() / data::element_bytes(type); ++i) {
      data::store_element(type, into, i, initial(array, tile, i));
    }
  };
  return program.add_buffer(
      {TileId(tile), bytes, 8, is_y, program::Category::tensors, fill, is_y ? "y" : "x or w"});
}

program::Vertex MatrixUnit::product(program::Program& program, TileId tile, std::uint32_t positions,
                                    BufferId w, BufferId x, BufferId y) const {
  program::Vertex vertex{tile,
                         program.add_codelet(codelet_),
                         program::Executor::supervisor,
                         0,
                         {Place{w}, 0U, 0U, 0U}};
  const gemm::EvenSplit split{positions, machine_.tile.contexts};
  for (std::uint32_t i = 0; i < machine_.tile.contexts; ++i) {
    const gemm::Interval part = split.part(i);
    const auto first = word(part.size() == 0 ? 0 : part.begin);
    const Place own{y, first * block_.y_bytes()};
    vertex.arguments.emplace_back(word(part.size()) - 3U);
    vertex.arguments.emplace_back(Place{x, first * block_.x_bytes()});
    vertex.arguments.emplace_back(own);
    vertex.arguments.emplace_back(own);
  }
  return vertex;
}

void MatrixUnit::add_tensors(program::Program& program, const std::vector<BufferId>& y) const {
  program::Tensor result{
      "Y", program::Role::result, block_.partial, {machine_.tiles, options_.n, block_.columns}};
  for (const BufferId buffer : y) result.parts.push_back({{buffer}, options_.n * block_.y_bytes()});
  result.runs = program::slices(result.shape);
  program.add_tensor(std::move(result));
  const auto given = [&](const char* name, Array array, program::Role role, program::Type type,
                         std::uint64_t rows, std::uint64_t columns) {
    program::Tensor tensor{name, role, type, {machine_.tiles, rows, columns}};
    tensor.given = [this, array, type, each = rows * columns](std::uint64_t first,
                                                              std::span<std::byte> into) {
      for (std::size_t i = 0; i < into.size() / data::element_bytes(type); ++i) {
        const auto tile = word((first + i) / each);
        data::store_element(type, into, i, initial(array, tile, (first + i) % each));
      }
    };
    program.add_tensor(std::move(tensor));
  };
  given("X", Array::x, program::Role::input, block_.input, options_.n, block_.depth);
  given("W", Array::w, program::Role::weights, block_.input, block_.depth, block_.columns);
  given("Y0", Array::y, program::Role::input, block_.partial, options_.n, block_.columns);
}

program::Program MatrixUnit::build() const {
  program::Program program(machine_.tiles);
  std::vector<BufferId> y;
  for (std::uint32_t t = 0; t < machine_.tiles; ++t) {
    y.push_back(add_array(program, Array::y, t, std::uint64_t{options_.n} * block_.y_bytes()));
  }
  program::ComputeSet set{"product", {}};
  for (std::uint32_t t = 0; t < machine_.tiles; ++t) {
    const BufferId x =
        add_array(program, Array::x, t, std::uint64_t{options_.n} * block_.x_bytes());
    const BufferId w = add_array(program, Array::w, t, block_.w_bytes());
    set.vertices.push_back(product(program, TileId{t}, options_.n, w, x, y[t]));
  }
  program.main().steps.push_back({std::move(set)});
  add_tensors(program, y);
  return program;
}

}  // namespace tessera::matrix_unit
