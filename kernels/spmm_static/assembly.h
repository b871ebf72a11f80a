#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "kernels/spmm_static/partition.h"
#include "sim/elf/codelet.h"
#include "sim/program/program.h"

/// The program of a partition while it is put together.
namespace tessera::spmm_static {

using program::BufferId;
using program::Place;

constexpr std::uint32_t word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

class Assembly {
 public:
  using Contents = std::function<void(std::span<std::byte>)>;
  /// Writes elements [first, ...) of something; called after the assembly is gone.
  using Fill = std::function<void(std::uint64_t first, std::span<std::byte>)>;

  Assembly(const Partition& partition, std::uint32_t contexts)
      : partition_(partition), contexts_(contexts), program_(partition.tiles) {}

  [[nodiscard]] const Partition& partition() const { return partition_; }
  [[nodiscard]] const Shape& shape() const { return partition_.shape; }
  [[nodiscard]] std::uint32_t contexts() const { return contexts_; }
  program::Program& program() { return program_; }

  BufferId buffer(std::uint64_t tile, std::uint64_t bytes, std::string_view name,
                  Contents contents = {}, bool keep = false) {
    return program_.add_buffer({TileId(word(tile)), word(bytes), 8, keep,
                                program::Category::tensors, std::move(contents), name});
  }
  /// A buffer of these bytes.
  template <class T>
  BufferId list(std::uint64_t tile, std::vector<T> list, std::string_view name) {
    const std::size_t bytes = std::max<std::size_t>(list.size() * sizeof(T), 8);
    return buffer(tile, bytes, name, [list = std::move(list)](std::span<std::byte> into) {
      std::memcpy(into.data(), list.data(), list.size() * sizeof(T));
    });
  }
  /// Elements in equal parts of `stored` on tiles 0, 1, ...
  std::vector<BufferId> parts(std::uint64_t elements, std::uint64_t stored, std::string_view name,
                              const Fill& fill = {}) {
    std::vector<BufferId> buffers;
    for (std::uint64_t first = 0; first < elements; first += stored) {
      Contents contents;
      if (fill) contents = [fill, first](std::span<std::byte> into) { fill(first, into); };
      const std::uint64_t count = std::min(stored, elements - first);
      buffers.push_back(buffer(first / stored, count * shape().bytes(), name, std::move(contents)));
    }
    return buffers;
  }
  std::uint32_t codelet(std::string_view name) {
    return program_.add_codelet(elf::embedded_codelet("spmm_static", name));
  }
  template <class Action>
  void add_step(Action action, bool measured) {
    program_.main().steps.push_back({std::move(action), measured});
  }

  /// Copies elements [first, first + count) of something in equal parts; `destinations` tells where
  /// those from a byte offset on go.
  template <class Destinations>
  void add_copies(program::Exchange& exchange, const std::vector<BufferId>& parts,
                  std::uint64_t stored, std::uint64_t first, std::uint64_t count,
                  const Destinations& destinations) const {
    const std::uint32_t size = shape().bytes();
    for (std::uint64_t done = 0; done < count;) {
      const std::uint64_t at = first + done;
      const std::uint64_t piece = std::min(count - done, stored - at % stored);
      exchange.copies.push_back({{parts[at / stored], word(at % stored * size)},
                                 word(piece * size),
                                 destinations(done * size)});
      done += piece;
    }
  }

 private:
  const Partition& partition_;
  std::uint32_t contexts_;
  program::Program program_;
};

}  // namespace tessera::spmm_static
