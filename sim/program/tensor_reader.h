#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/base/parallel.h"
#include "sim/program/program.h"

/// From what lies on tiles and with the host to tensors.
namespace tessera {

/// Reads finished results from the machine's memories, and what the program gave to the host.
class MemoryReader {
 public:
  virtual ~MemoryReader() = default;
  virtual void read(program::Place place, std::span<std::byte> into) const = 0;
  /// Reads memory outside the tiles; a reader without such memory has no such place.
  virtual void read(program::OuterPlace place, std::span<std::byte> into) const;
  /// All bytes that transfers of that name brought to the host, in the order in which they came.
  [[nodiscard]] virtual std::span<const std::byte> written(std::string_view /*transfer*/) const {
    return {};
  }
};

/// The tensors of a program after one of its runs. Memory is read by the caller's thread, and all
/// threads put the numbers in order; what comes out does not depend on them. Throws Defect for a
/// name that the program does not declare, or elements that lie nowhere.
class TensorReader {
 public:
  /// Both outlive it.
  TensorReader(const program::Program& program, const MemoryReader& memory)
      : program_(program), memory_(memory) {}

  /// As stored, in row-major order.
  [[nodiscard]] std::vector<std::byte> bytes(std::string_view name, HostThreads& threads) const;
  /// Order of floats(), which reads f16 and f32, both exact; `transposed`: a matrix, column after
  /// column.
  enum class Order : std::uint8_t { rows, transposed };
  [[nodiscard]] std::vector<float> floats(std::string_view name, HostThreads& threads,
                                          Order order = Order::rows) const;
  /// As stored, of a tensor whose parts hold whole slices along its first extent: one of them,
  /// without all others in memory.
  [[nodiscard]] std::vector<std::byte> slice(std::string_view name, std::size_t number) const;
  [[nodiscard]] const program::Tensor& tensor(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }

 private:
  [[nodiscard]] const program::Tensor* find(std::string_view name) const;

  const program::Program& program_;
  const MemoryReader& memory_;
};

}  // namespace tessera
