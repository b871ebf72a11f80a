#include "kernels/training/statement.h"

#include <fmt/format.h>

namespace tessera::training {

Codelet Statement::code(const std::string& name) const {
  const elf::KernelCode& its = name.starts_with("training_") ? code_.training : code_.sparse.sparse;
  return Codelet::of(its, description_, name, contexts());
}

namespace {

/// Elements of what a tile holds of a matrix, rounded; zeros where it is padding.
template <class Fill>
void fill_elements(const MatrixArray& matrix, Tile tile, std::span<std::byte> into,
                   const Fill& fill) {
  const std::uint64_t first = matrix.stored.begin(tile) / matrix.element_bytes();
  for (std::size_t i = 0; i < into.size() / matrix.element_bytes(); ++i) {
    const std::uint64_t row = (first + i) / matrix.pitch;
    const std::uint64_t column = (first + i) % matrix.pitch;
    const bool inside = row < matrix.rows && column < matrix.columns;
    data::store_element(matrix.type, into, i, inside ? fill(row, column) : 0.0);
  }
}

}  // namespace

MatrixArray Statement::shape(std::uint32_t rows, std::uint32_t columns) const {
  const std::uint32_t padded_rows = round_up(rows, padding_);
  const std::uint32_t pitch = round_up(columns, padding_);
  const std::uint64_t row_bytes = std::uint64_t{pitch} * element_bytes();
  return {rows, columns, padded_rows, pitch, {padded_rows, row_bytes, machine_.tiles}, {}, type_};
}

MatrixArray Statement::matrix(std::uint32_t rows, std::uint32_t columns, std::string_view name,
                              const Fill& fill, bool keep) {
  MatrixArray made = shape(rows, columns);
  Contents contents;
  if (fill)
    contents = [fill, made](Tile tile, std::span<std::byte> into) {
      fill_elements(made, tile, into, fill);
    };
  made.array = array(
      name, [stored = made.stored](Tile tile) -> std::uint64_t { return stored.bytes_on(tile); },
      std::move(contents), keep);
  return made;
}

std::function<void(Tile, plan::HostPieces&)> Statement::fed(const MatrixArray& matrix,
                                                            const Feed& feed) {
  return [matrix, feed](Tile tile, plan::HostPieces& pieces) {
    if (matrix.stored.bytes_on(tile) == 0) return;
    pieces.push_back({{matrix.array},
                      matrix.stored.bytes_on(tile),
                      [feed, matrix, tile](std::span<std::byte> into, std::uint64_t number) {
                        fill_elements(matrix, tile, into, [&](auto row, auto column) {
                          return feed(number, row, column);
                        });
                      }});
  };
}

CallsOf Statement::elementwise(const std::string& name, const MatrixArray& matrix,
                               Arguments leading) {
  return [code = code(name), stored = matrix.stored, leading = std::move(leading)](Tile tile,
                                                                                   Calls& calls) {
    if (stored.bytes_on(tile) > 0) calls.add_by_size(code.all_over(leading, stored.bytes_on(tile)));
  };
}

CallsOf Statement::clearing(BufferId array) {
  return [code = code("training_clear"), array, bytes = description_.array(array).bytes](
             Tile tile, Calls& calls) {
    if (bytes(tile) > 0) calls.add_by_size(code.all_over({Place{array}, 0U}, bytes(tile)));
  };
}

void Statement::add_calls(std::string name, Tile tiles, std::vector<CallsOf> calls) {
  description_.compute(std::move(name), tiles, [all = std::move(calls)](Tile tile, Calls& into) {
    for (const CallsOf& each : all) each(tile, into);
  });
}

/// Those of gemm, and the tiles of an operand's panels that have most of them.
void Statement::product(const gemm::Geometry& geometry, const MatrixArray& a, const MatrixArray& b,
                        const MatrixArray& c) {
  gemm::describe_product(description_, geometry, machine_, code_.sparse.gemm,
                         {a.lies(), b.lies(), c.lies()});
  std::vector<Tile> tiles = gemm::representatives(geometry);
  for (const auto role : {gemm::Storage::Role::x, gemm::Storage::Role::w}) {
    const gemm::Panels panels(geometry, role, machine_.tiles);
    std::size_t most = 0;
    Tile fullest = 0;
    for (Tile tile = 0; tile < panels.holders(); ++tile)
      if (const std::size_t held = panels.on_tile(tile).size(); held > most) {
        most = held;
        fullest = tile;
      }
    tiles.push_back(fullest);
  }
  stand_for_others(tiles);
}

CallsOf Statement::filling(const MatrixArray& matrix, double value) {
  const auto offsets = [matrix](Tile tile) {
    const std::uint64_t begin = matrix.stored.begin(tile);
    const std::uint64_t end = begin + matrix.stored.bytes_on(tile);
    const std::uint64_t column = (matrix.columns - 1) * matrix.element_bytes();
    std::vector<std::uint32_t> all;
    for (std::uint64_t row = begin / matrix.row_bytes();
         row < matrix.rows && row * matrix.row_bytes() + column < end; ++row)
      if (const std::uint64_t at = row * matrix.row_bytes() + column; at >= begin)
        all.push_back(word(at - begin));
    return all;
  };
  const sparse::Statement lists{description_, code_.sparse, contexts()};
  const auto count = [offsets](Tile tile) { return offsets(tile).size(); };
  return [code = typed("training_fill"), count, value, array = matrix.array,
          ones = lists.list("ones", count, offsets)](Tile tile, Calls& calls) {
    if (count(tile) > 0)
      calls.add_by_size(code.one({Place{array}, Place{ones}, word(count(tile)), bits_of(value)}));
  };
}

void Statement::apply(Activation activation, const MatrixArray& z, const MatrixArray* gradient,
                      const MatrixArray& out, bool ones) {
  const bool slopes = gradient != nullptr;
  std::vector<CallsOf> calls;
  if (activation != Activation::none) {
    const std::string name =
        fmt::format("training_{}{}{}", activation == Activation::relu ? "relu" : "gelu",
                    slopes ? "_slope" : "", halves() ? "_f16" : "");
    const program::Argument before = slopes ? program::Argument(Place{gradient->array}) : 0U;
    calls.push_back(elementwise(name, z, {Place{z.array}, before, Place{out.array}, 0U}));
  }
  if (ones) calls.push_back(filling(out, slopes ? 0 : 1));
  if (!calls.empty()) compute(slopes ? "activation gradient" : "activation", std::move(calls));
}

}  // namespace tessera::training
