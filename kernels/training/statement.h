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

/// Parts of a training step, as steps of a description. Matrices are of one type, f32 or f16; sums,
/// weights that are updated and what an optimiser keeps are f32. Functions of steps keep values: a
/// Statement may end before the description.
namespace tessera::training {

using kernels::Arguments;
using kernels::Codelet;
using plan::Tile;

constexpr std::uint32_t kElementBytes = 4;  ///< f32
constexpr std::uint64_t kWordBytes = 8;     ///< bytes that elementwise code takes at once

/// The value as f32, as an argument of a vertex.
constexpr std::uint32_t bits_of(double value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

inline void fill_zeros(std::span<std::byte> into) { std::memset(into.data(), 0, into.size()); }

using CallsOf = std::function<void(Tile, Calls&)>;

/// The tile code that a training calls. Outlives descriptions.
struct TileCode {
  elf::KernelCode training{"training"};
  sparse::TileCode sparse;
};

/// Tiles in groups of about as many as there are groups, each on its first tile: what all have
/// comes to one in two steps.
struct Groups {
  std::vector<Tile> tiles;  ///< ascending
  std::size_t size;         ///< tiles of a group, but of the last

  explicit Groups(std::vector<Tile> all);
  static Groups of_first(Tile count);  ///< tiles 0 to `count` - 1
  /// Tiles of the group that begins with `tile`; none if none does.
  [[nodiscard]] std::span<const Tile> members(Tile tile) const;
  [[nodiscard]] std::vector<Tile> leads() const;  ///< the first of each group
};
/// `bytes` of each of these tiles, one behind the other.
void pull_each(Pulls& pulls, BufferId into, std::span<const Tile> tiles, BufferId from,
               std::uint32_t bytes);

/// A matrix of f32 or f16: row-major, padded with zeros in both directions, dealt in equal
/// stretches to all tiles, in an array.
struct MatrixArray {
  std::uint32_t rows, columns, padded_rows;
  std::uint32_t pitch;  ///< elements from row to row: columns with padding
  gemm::RowMajor stored;
  BufferId array;
  program::Type type;

  [[nodiscard]] std::uint64_t element_bytes() const { return data::element_bytes(type); }
  [[nodiscard]] std::uint64_t row_bytes() const { return pitch * element_bytes(); }
  [[nodiscard]] std::uint64_t padded_bytes() const { return padded_rows * row_bytes(); }
  [[nodiscard]] gemm::RowArray lies() const { return {stored, array}; }
};

/// Rows of a matrix that are given, wherever they lie.
struct GivenLines {
  struct Piece {
    Tile tile;
    Place place;
    std::uint32_t at;  ///< from `begin`
    std::uint32_t bytes;
  };
  /// Where bytes [begin, end) of a row lie. What lies in several places is named as often.
  std::function<std::vector<Piece>(std::uint64_t row, std::uint64_t begin, std::uint64_t end)>
      pieces;
  std::function<std::uint64_t(Tile)> bytes_on;  ///< bytes of all rows
  std::uint64_t rows, row_bytes;                ///< that lie somewhere
};
/// Rows of a matrix that tiles want.
struct WantedLines {
  struct Piece {
    std::uint64_t row, begin;  ///< begin: the first byte of the row
    Place into;
    std::uint32_t bytes;
  };
  std::function<std::vector<Piece>(Tile)> pieces;
  std::uint64_t rows, row_bytes;  ///< that some tile wants
};
GivenLines given(const MatrixArray& matrix);
WantedLines wanted(const MatrixArray& matrix);

enum class Activation : std::uint8_t { none, relu, gelu };

class Statement {
 public:
  /// `machine` has the tiles of one copy of what is trained; rows and columns of matrices are
  /// padded to multiples of `padding`. All arguments outlive the description.
  Statement(plan::Description& description, const MachineConfig& machine, const TileCode& code,
            std::uint32_t padding, program::Type type = program::Type::f32)
      : description_(description), machine_(machine), code_(code), padding_(padding), type_(type) {}

  [[nodiscard]] plan::Description& description() const { return description_; }
  [[nodiscard]] const MachineConfig& machine() const { return machine_; }
  [[nodiscard]] const TileCode& tile_code() const { return code_; }
  [[nodiscard]] std::uint32_t contexts() const { return machine_.tile.contexts; }
  [[nodiscard]] std::uint32_t padding() const { return padding_; }
  [[nodiscard]] program::Type type() const { return type_; }
  [[nodiscard]] std::uint32_t element_bytes() const { return data::element_bytes(type_); }
  [[nodiscard]] bool halves() const { return type_ == program::Type::f16; }

  /// Codelet of this folder ("training_clear") or of transpositions ("transpose_f32").
  [[nodiscard]] Codelet code(const std::string& name) const;
  /// Codelet for matrices' type: "training_relu", "training_relu_f16".
  [[nodiscard]] Codelet typed(const std::string& name) const {
    return code(halves() ? name + "_f16" : name);
  }

  using Bytes = std::function<std::uint64_t(Tile)>;
  using Contents = std::function<void(Tile, std::span<std::byte>)>;
  BufferId array(std::string_view name, Bytes bytes, Contents contents = {}, bool keep = false) {
    return description_.array({name, std::move(bytes), keep, std::move(contents)});
  }
  BufferId array_on(Tile tile, std::string_view name, std::uint64_t bytes) {
    return array(name, [tile, bytes](Tile t) { return t == tile ? bytes : 0; });
  }

  /// A matrix that lies in no array yet.
  [[nodiscard]] MatrixArray shape(std::uint32_t rows, std::uint32_t columns) const;
  /// `fill` gives elements before the run; none: undefined.
  using Fill = std::function<double(std::uint64_t row, std::uint64_t column)>;
  MatrixArray matrix(std::uint32_t rows, std::uint32_t columns, std::string_view name,
                     const Fill& fill = {}, bool keep = false);
  /// All of a matrix from the host: `feed` is asked for elements of the n-th transfer.
  using Feed = std::function<double(std::uint64_t number, std::uint64_t row, std::uint64_t column)>;
  static std::function<void(Tile, plan::HostPieces&)> fed(const MatrixArray& matrix,
                                                          const Feed& feed);

  /// Calls on the words that tiles hold of a matrix, behind `leading` arguments.
  CallsOf elementwise(const std::string& name, const MatrixArray& matrix, Arguments leading);
  /// Zeros in all that tiles hold of an array.
  CallsOf clearing(BufferId array);
  /// A step of these calls, on each tile in this order; on a copy's tiles, or on all of the
  /// machine.
  void compute(std::string name, std::vector<CallsOf> calls) {
    add_calls(std::move(name), machine_.tiles, std::move(calls));
  }
  void compute_on_all(std::string name, std::vector<CallsOf> calls) {
    on_all([&] { add_calls(std::move(name), description_.tiles(), std::move(calls)); });
  }
  /// Runs `body`, which states steps of all tiles of the machine.
  template <class Body>
  void on_all(const Body& body) {
    description_.in_copies({description_.tiles()}, body);
  }

  /// c = a b, by a plan of layout natural for the padded sizes.
  void product(const gemm::Geometry& geometry, const MatrixArray& a, const MatrixArray& b,
               const MatrixArray& c);

  /// Tiles of a copy that stand for all others in what was stated, ascending.
  [[nodiscard]] std::vector<Tile> representatives() const {
    return {representatives_.begin(), representatives_.end()};
  }
  void stand_for_others(const std::vector<Tile>& tiles) {
    representatives_.insert(tiles.begin(), tiles.end());
  }

  /// Size of a transposition: whole multiples of `grain` rows and columns, an even number.
  struct Extent {
    std::uint32_t rows, columns, grain;
  };
  /// `to` takes the columns of `from` as rows: zeros where `from` has none. `cleared` are zeroed
  /// before.
  void transpose(const GivenLines& from, const WantedLines& to, const Extent& extent,
                 const std::vector<BufferId>& cleared = {});
  void transpose(const MatrixArray& from, const MatrixArray& to);

  /// out = activation of z, and 1 in the last column of `out` if it has `ones`.
  void activate(Activation activation, const MatrixArray& z, const MatrixArray& out, bool ones) {
    apply(activation, z, nullptr, out, ones);
  }
  /// The gradient of z out of that of its activation, 0 in a column of `ones`. In place if there is
  /// no activation.
  void slope(Activation activation, const MatrixArray& z, const MatrixArray& gradient,
             const MatrixArray& out, bool ones) {
    apply(activation, z, &gradient, out, ones);
  }

 private:
  void apply(Activation activation, const MatrixArray& z, const MatrixArray* gradient,
             const MatrixArray& out, bool ones);
  void add_calls(std::string name, Tile tiles, std::vector<CallsOf> calls);
  /// `value` in the last column of every row that is none of padding.
  CallsOf filling(const MatrixArray& matrix, double value);

  plan::Description& description_;
  const MachineConfig& machine_;
  const TileCode& code_;
  std::uint32_t padding_;
  program::Type type_;
  std::set<Tile> representatives_{0};
};

}  // namespace tessera::training
