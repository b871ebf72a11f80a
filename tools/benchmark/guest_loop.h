#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/elf/elf.h"
#include "sim/engine/engine.h"

namespace tessera::benchmark {

/// One tile's memory with the loops' code at its beginning.
class GuestMemory {
 public:
  explicit GuestMemory(const elf::Program& loops);

  /// Places `values` behind everything placed before; their address.
  template <class T>
  std::uint32_t place(const std::vector<T>& values) {
    return append(std::as_bytes(std::span(values)));
  }
  template <class T>
  [[nodiscard]] std::vector<T> read(std::uint32_t address, std::size_t count) const {
    std::vector<T> values(count);
    std::memcpy(values.data(), bytes_.data() + address, count * sizeof(T));
    return values;
  }
  [[nodiscard]] std::span<const std::byte> code() const {
    return std::span(bytes_).first(code_end_);
  }
  [[nodiscard]] engine::TileMemory view() {
    return {bytes_.data(), static_cast<std::uint32_t>(bytes_.size()), code_end_, nullptr};
  }

 private:
  std::uint32_t append(std::span<const std::byte> values);

  std::vector<std::byte> bytes_;
  std::uint32_t code_end_ = 0;
  std::uint32_t used_ = 0;
};

/// A loop with its arguments in place.
struct GuestLoop {
  std::string name;
  std::string symbol;
  double bar;                            ///< guest instructions a second to reach; 0: none
  std::vector<std::uint32_t> arguments;  ///< a0, a1, ...
  std::vector<float> float_arguments;    ///< fa0, fa1, ...
  /// Compares what one call left (a0 is given) with what the host computes; a message if it
  /// differs.
  std::function<std::string(const GuestMemory&, std::uint32_t)> check;
};

/// The standard loops on seeded data, placed in `memory`.
std::vector<GuestLoop> standard_loops(GuestMemory& memory);

}  // namespace tessera::benchmark
