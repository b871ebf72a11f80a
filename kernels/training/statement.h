#pragma once

#include <bit>
#include <cstring>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/gemm/program.h"
#include "kernels/sparse/code/statement.h"
#include "sim/data/element.h"
#include "sim/machine/machine_config.h"

/// Parts of a training step as steps of a description. Matrices have one type, f32 or f16; sums,
/// masters and optimiser state are f32. Functions of steps capture values, so the description may
/// outlive a Statement.
namespace tessera::training {

using kernels::Arguments;
using kernels::Codelet;
using plan::Tile;

constexpr std::uint32_t kElementBytes = 4;  ///< f32
constexpr std::uint64_t kWordBytes = 8;     ///< unit of elementwise code

/// The bits of the value as f32, for an argument of a vertex.
constexpr std::uint32_t bits_of(double value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

inline void fill_zeros(std::span<std::byte> into) { std::memset(into.data(), 0, into.size()); }

using CallsOf = std::function<void(Tile, Calls&)>;
using Bytes = std::function<std::uint64_t(Tile)>;  ///< on a tile
using Contents = std::function<void(Tile, std::span<std::byte>)>;

/// What batches bring to an array on the tiles of a copy of the network. Copy c of `count` takes
/// number n * count + c as its n-th.
struct Batch {
  Bytes bytes;
  std::function<void(Tile, std::span<std::byte>, std::uint64_t number)> fill;

  /// Transfers of all batches from the host to `array`.
  [[nodiscard]] std::function<void(Tile, plan::HostPieces&)> pieces(BufferId array) const;
};

/// The tile code of trainings. Must outlive descriptions.
struct TileCode {
  elf::KernelCode training{"training"};
  sparse::TileCode sparse;
};

/// About sqrt(n) groups of n tiles, each led by its first tile: a reduction of all tiles takes two
/// steps.
struct Groups {
  std::vector<Tile> tiles;  ///< ascending
  std::size_t size;         ///< tiles per group; the last may have fewer

  explicit Groups(std::vector<Tile> all);
  static Groups of_first(Tile count);  ///< tiles 0 to `count` - 1
  /// Tiles of the group that begins with `tile`; empty if none does.
  [[nodiscard]] std::span<const Tile> members(Tile tile) const;
  [[nodiscard]] std::vector<Tile> leads() const;  ///< first tile of each group
};
/// Pulls `bytes` from each of these tiles, concatenated.
void pull_each(Pulls& pulls, BufferId into, std::span<const Tile> tiles, BufferId from,
               std::uint32_t bytes);

/// A matrix of f32 or f16: row-major, zero-padded in both dimensions, distributed in equal shares
/// over all tiles.
struct MatrixArray {
  std::uint32_t rows, columns, padded_rows;
  std::uint32_t pitch;  ///< row stride in elements: columns and padding
  gemm::RowMajor stored;
  BufferId array;
  program::Type type;

  [[nodiscard]] std::uint64_t element_bytes() const { return data::element_bytes(type); }
  [[nodiscard]] std::uint64_t row_bytes() const { return pitch * element_bytes(); }
  [[nodiscard]] std::uint64_t padded_bytes() const { return padded_rows * row_bytes(); }
  [[nodiscard]] gemm::RowArray lies() const { return {stored, array}; }
  [[nodiscard]] Bytes bytes() const {
    return [stored = stored](Tile tile) { return stored.bytes_on(tile); };
  }
};

/// Source rows of a transposition, in any layout.
struct GivenLines {
  struct Piece {
    Tile tile;
    Place place;
    std::uint32_t at;  ///< from `begin`
    std::uint32_t bytes;
  };
  /// The places of bytes [begin, end) of a row. Bytes in several places are listed once for each.
  std::function<std::vector<Piece>(std::uint64_t row, std::uint64_t begin, std::uint64_t end)>
      pieces;
  Bytes bytes_on;                 ///< bytes of all rows
  std::uint64_t rows, row_bytes;  ///< rows that exist, and bytes of each
};
/// Destination rows of a transposition.
struct WantedLines {
  struct Piece {
    std::uint64_t row, begin;  ///< begin: the first byte of the row
    Place into;
    std::uint32_t bytes;
  };
  std::function<std::vector<Piece>(Tile)> pieces;
  std::uint64_t rows, row_bytes;  ///< rows that some tile needs, and bytes of each
};
GivenLines given(const MatrixArray& matrix);
WantedLines wanted(const MatrixArray& matrix);

enum class Activation : std::uint8_t { none, relu, gelu };

class Statement {
 public:
  /// `machine` has the tiles of one copy of the network. Rows and columns of matrices are padded to
  /// multiples of `padding`. All arguments must outlive the description.
  Statement(plan::Description& description, const MachineConfig& machine, const TileCode& code,
            std::uint32_t padding, program::Type type = program::Type::f32)
      : description_(description), machine_(machine), code_(code), padding_(padding), type_(type) {}

  [[nodiscard]] plan::Description& description() const { return description_; }
  [[nodiscard]] const MachineConfig& machine() const { return machine_; }
  [[nodiscard]] std::uint32_t contexts() const { return machine_.tile.contexts; }
  [[nodiscard]] std::uint32_t padding() const { return padding_; }
  [[nodiscard]] program::Type type() const { return type_; }
  [[nodiscard]] std::uint32_t element_bytes() const { return data::element_bytes(type_); }
  [[nodiscard]] bool halves() const { return type_ == program::Type::f16; }

  /// States the steps of sparse operands, such as transpositions.
  [[nodiscard]] sparse::Statement sparse() const {
    return {description_, code_.sparse, contexts()};
  }

  /// A codelet of this folder ("training_clear") or of transpositions ("transpose_f32").
  [[nodiscard]] Codelet code(const std::string& name) const;
  /// The codelet for the type of matrices: "training_relu" or "training_relu_f16".
  [[nodiscard]] Codelet typed(const std::string& name) const {
    return code(halves() ? name + "_f16" : name);
  }

  BufferId array(std::string_view name, Bytes bytes, Contents contents = {}, bool keep = false) {
    return description_.array({name, std::move(bytes), keep, std::move(contents)});
  }
  /// An array of `bytes` on each of the tiles 0 to `tiles` - 1.
  BufferId array_on_first(Tile tiles, std::string_view name, std::uint64_t bytes,
                          Contents contents = {}, bool keep = false) {
    return array(
        name, [tiles, bytes](Tile tile) { return tile < tiles ? bytes : 0; }, std::move(contents),
        keep);
  }
  /// An array on the tiles of all copies for a part of the batches. If they are not `fed`, it holds
  /// each copy's first one from the beginning.
  BufferId batch_array(std::string_view name, const Batch& batch, plan::Copies copies, bool fed,
                       bool keep);

  /// A matrix without an array.
  [[nodiscard]] MatrixArray shape(std::uint32_t rows, std::uint32_t columns) const;
  /// Initial elements; without `fill` they are undefined.
  using Fill = std::function<double(std::uint64_t row, std::uint64_t column)>;
  MatrixArray matrix(std::uint32_t rows, std::uint32_t columns, std::string_view name,
                     const Fill& fill = {}, bool keep = false);
  /// Batches of a whole matrix: `element` returns elements of batch `number`.
  using Element =
      std::function<double(std::uint64_t number, std::uint64_t row, std::uint64_t column)>;
  static Batch batch(const MatrixArray& matrix, const Element& element);

  /// Calls on each tile's `bytes`, which all workers divide, passed after `leading` arguments.
  static CallsOf over(const Codelet& code, Bytes bytes, Arguments leading);
  /// Calls on each tile's words of a matrix, passed after `leading` arguments.
  CallsOf elementwise(const std::string& name, const MatrixArray& matrix, Arguments leading) {
    return over(code(name), matrix.bytes(), std::move(leading));
  }
  /// Calls that zero an array on all its tiles.
  CallsOf clearing(BufferId array) {
    return over(code("training_clear"), description_.array(array).bytes, {Place{array}, 0U});
  }
  /// Adds a step of these calls, in this order on each tile: on one copy's tiles, or on all tiles.
  void compute(std::string name, std::vector<CallsOf> calls) {
    add_calls(std::move(name), machine_.tiles, std::move(calls));
  }
  void compute_on_all(std::string name, std::vector<CallsOf> calls) {
    on_all([&] { add_calls(std::move(name), description_.tiles(), std::move(calls)); });
  }
  /// Runs `body`, which adds steps of all tiles of the machine.
  template <class Body>
  void on_all(const Body& body) {
    description_.in_copies({description_.tiles()}, body);
  }

  /// Adds c = a b; the plan has layout natural and the padded sizes.
  void product(const gemm::Geometry& geometry, const MatrixArray& a, const MatrixArray& b,
               const MatrixArray& c);

  /// Representative tiles of a copy for the steps added so far, ascending.
  [[nodiscard]] std::vector<Tile> representatives() const {
    return {representatives_.begin(), representatives_.end()};
  }
  void stand_for_others(const std::vector<Tile>& tiles) {
    representatives_.insert(tiles.begin(), tiles.end());
  }

  /// Size of a transposition. Rows and columns are multiples of `grain`, which is even.
  struct Extent {
    std::uint32_t rows, columns, grain;
  };
  /// Rows of `to` are the columns of `from`, with zeros beyond them. `cleared` arrays are zeroed
  /// first.
  void transpose(const GivenLines& from, const WantedLines& to, const Extent& extent,
                 const std::vector<BufferId>& cleared = {});
  void transpose(const MatrixArray& from, const MatrixArray& to);

  /// out = activation of z, and 1 in the last column of `out` if it has `ones`.
  void activate(Activation activation, const MatrixArray& z, const MatrixArray& out, bool ones) {
    apply(activation, z, nullptr, out, ones);
  }
  /// Backward pass of activate(): out = gradient times the derivative at z, and 0 in a column of
  /// `ones`. In place if there is no activation.
  void slope(Activation activation, const MatrixArray& z, const MatrixArray& gradient,
             const MatrixArray& out, bool ones) {
    apply(activation, z, &gradient, out, ones);
  }

 private:
  void apply(Activation activation, const MatrixArray& z, const MatrixArray* gradient,
             const MatrixArray& out, bool ones);
  void add_calls(std::string name, Tile tiles, std::vector<CallsOf> calls);
  /// Calls that write `value` to the last column of every row except padding rows.
  CallsOf filling(const MatrixArray& matrix, double value);

  plan::Description& description_;
  const MachineConfig& machine_;
  const TileCode& code_;
  std::uint32_t padding_;
  program::Type type_;
  std::set<Tile> representatives_{0};
};

}  // namespace tessera::training
