#include "kernels/matrix_unit/matrix_unit.h"
#include "sim/data/element.h"
#include "sim/data/random.h"
#include "sim/plan/lower.h"
#include "sim/plan/uniform.h"

namespace tessera::matrix_unit {

using plan::Tile;
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

plan::Description MatrixUnit::describe(std::uint32_t tiles, std::uint32_t positions) const {
  plan::Description description(tiles);
  const auto array = [&](Array which, std::string_view name, std::uint64_t bytes) {
    const bool is_y = which == Array::y;
    const auto fill = [this, which, type = is_y ? block_.partial : block_.input](
                          Tile tile, std::span<std::byte> into) {
      for (std::size_t i = 0; i < into.size() / data::element_bytes(type); ++i)
        data::store_element(type, into, i, initial(which, tile, i));
    };
    return description.array({name, [bytes](Tile /*tile*/) { return bytes; }, is_y, fill});
  };
  const BufferId y = array(Array::y, "y", std::uint64_t{positions} * block_.y_bytes());
  const BufferId x = array(Array::x, "x or w", std::uint64_t{positions} * block_.x_bytes());
  const BufferId w = array(Array::w, "x or w", block_.w_bytes());
  const kernels::Codelet codelet{description.code()->add_codelet(codelet_), machine_.tile.contexts};
  description.compute("product", tiles,
                      [this, codelet, positions, w, x, y](Tile /*tile*/, plan::Calls& calls) {
                        calls.add(product(codelet, positions, w, x, y));
                      });
  using program::Role;
  const std::uint64_t depth = block_.depth, columns = block_.columns;
  add_slices(description, {"Y", Role::result, block_.partial, {tiles, positions, columns}}, y);
  add_slices(description, {"X", Role::input, block_.input, {tiles, positions, depth}}, x);
  add_slices(description, {"W", Role::weights, block_.input, {tiles, depth, columns}}, w);
  add_slices(description, {"Y0", Role::input, block_.partial, {tiles, positions, columns}}, y);
  return description;
}

program::Vertex MatrixUnit::product(const kernels::Codelet& codelet, std::uint32_t positions,
                                    BufferId w, BufferId x, BufferId y) const {
  kernels::Arguments arguments{Place{w}, 0U, 0U, 0U};
  const gemm::EvenSplit split{positions, codelet.contexts};
  for (std::uint32_t i = 0; i < codelet.contexts; ++i) {
    const gemm::Interval part = split.part(i);
    const auto first = word(part.size() == 0 ? 0 : part.begin);
    const Place own{y, first * block_.y_bytes()};
    arguments.emplace_back(word(part.size()) - 3U);
    arguments.emplace_back(Place{x, first * block_.x_bytes()});
    arguments.emplace_back(own);
    arguments.emplace_back(own);
  }
  return codelet.supervised(std::move(arguments));
}

program::Program MatrixUnit::lowered() const {
  return plan::lower(describe(machine_.tiles, options_.n));
}

}  // namespace tessera::matrix_unit
