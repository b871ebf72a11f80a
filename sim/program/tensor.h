#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// Tensors as users know them: a name, a shape, and which element lies where on the tiles. A kernel
/// declares each once, with the program; checks and files of results are made of that.
namespace tessera::program {

enum class BufferId : std::uint32_t {};

/// A place in a buffer.
struct Place {
  BufferId buffer;
  std::uint32_t offset = 0;
};

/// A buffer in memory outside the tiles.
enum class OuterId : std::uint32_t {};

struct OuterPlace {
  OuterId buffer;
  std::uint64_t offset = 0;
};

enum class Type : std::uint8_t { f16, bf16, f32, i8, i16, i32, u16, u32 };

/// A tensor's role in its program; weights are given and, where they are trained, changed.
enum class Role : std::uint8_t { input, weights, result, gradient };
std::string_view name_of(Role role);

/// Numbers side by side: number `at` of a part, and `count` in all. The first is element `index` of
/// the tensor in row-major order, each further one `step` on.
struct Run {
  std::uint64_t at, index, count, step;
};

/// Those of one part. What none names is padding.
class Runs {
 public:
  void add(const Run& run) { runs_.push_back(run); }
  /// A single number; neighbours become one run.
  void add(std::uint64_t at, std::uint64_t index);
  [[nodiscard]] std::span<const Run> all() const { return runs_; }
  void clear() { runs_.clear(); }

 private:
  std::vector<Run> runs_;
};

/// Bytes that the host reads at once: on a tile, or outside.
struct TensorPart {
  std::variant<Place, OuterPlace> place;
  std::uint32_t bytes;
};

/// Lies in one of three ways: in `parts` of buffers that are kept when the run ends, on tiles or
/// outside; with the host, which gave it; or among what a transfer brought to the host during the
/// run. What the functions refer to outlives the program; they are called from any host thread.
struct Tensor {
  std::string name;
  Role role;
  Type type;
  std::vector<std::uint64_t> shape;
  bool is_complex = false;  ///< the last extent, 2, is a real and an imaginary part
  std::vector<TensorPart> parts = {};
  std::string transfer = {};  ///< the whole of what it brought is the only part
  /// The runs of a part; each element is in one.
  std::function<void(std::size_t part, Runs& runs)> runs = {};
  /// With the host: writes elements from number `first` on.
  std::function<void(std::uint64_t first, std::span<std::byte> into)> given = {};
  std::uint32_t run = 0;  ///< after which it is there, of a program that runs several times

  [[nodiscard]] std::uint64_t elements() const;
};

/// Gives each part one slice, shape[0] slices in order.
std::function<void(std::size_t part, Runs& runs)> slices(const std::vector<std::uint64_t>& shape);

}  // namespace tessera::program
