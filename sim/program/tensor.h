#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// Tensors as users know them: name, shape, and the location of each element on the tiles. A kernel
/// declares each once, with the program; checks and result files use these declarations.
namespace tessera::program {

enum class BufferId : std::uint32_t {};

/// A place in a buffer.
struct Place {
  BufferId buffer;
  std::uint32_t offset = 0;
};

/// A buffer in external memory.
enum class OuterId : std::uint32_t {};

struct OuterPlace {
  OuterId buffer;
  std::uint64_t offset = 0;
};

enum class Type : std::uint8_t { f16, bf16, f32, i8, i16, i32, u16, u32 };

/// A tensor's role in its program; weights are inputs that training also changes.
enum class Role : std::uint8_t { input, weights, result, gradient };
std::string_view name_of(Role role);

/// `count` contiguous numbers of a part, from number `at`. The first is element `index` of the
/// tensor in row-major order, each next one is `step` further.
struct Run {
  std::uint64_t at, index, count, step;
};

/// The runs of one part. Numbers in no run are padding.
class Runs {
 public:
  void add(const Run& run) { runs_.push_back(run); }
  /// Adds a single number; contiguous ones merge into one run.
  void add(std::uint64_t at, std::uint64_t index);
  [[nodiscard]] std::span<const Run> all() const { return runs_; }
  void clear() { runs_.clear(); }

 private:
  std::vector<Run> runs_;
};

/// Bytes that the host reads at once: on a tile or in external memory.
struct TensorPart {
  std::variant<Place, OuterPlace> place;
  std::uint32_t bytes;
};

/// A tensor is stored in one of three places: in `parts` of kept buffers, on tiles or in external
/// memory; at the host, which provides it (`given`); or in the bytes that a transfer brought to the
/// host during the run. The functions' captures outlive the program; they are called from any host
/// thread.
struct Tensor {
  std::string name;
  Role role;
  Type type;
  std::vector<std::uint64_t> shape;
  bool is_complex = false;  ///< the last extent is 2: real and imaginary part
  std::vector<TensorPart> parts = {};
  std::string transfer = {};  ///< all bytes that it brought are the only part
  /// Lists the runs of a part; each element is in exactly one run.
  std::function<void(std::size_t part, Runs& runs)> runs = {};
  /// If the host provides it: writes elements from number `first` on.
  std::function<void(std::uint64_t first, std::span<std::byte> into)> given = {};
  std::uint32_t run = 0;  ///< run after which it is complete, if there are several

  [[nodiscard]] std::uint64_t elements() const;
};

/// Runs for parts that each hold one slice along shape[0], in order.
std::function<void(std::size_t part, Runs& runs)> slices(const std::vector<std::uint64_t>& shape);

}  // namespace tessera::program
