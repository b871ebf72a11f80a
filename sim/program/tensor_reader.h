#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/base/parallel.h"
#include "sim/program/program.h"

/// Assembles tensors from tiles' memories and the host's data.
namespace tessera {

/// Reads results from the machine's memories, and bytes that the program sent to the host.
class MemoryReader {
 public:
  virtual ~MemoryReader() = default;
  virtual void read(program::Place place, std::span<std::byte> into) const = 0;
  /// Reads external memory; throws Defect unless overridden.
  virtual void read(program::OuterPlace place, std::span<std::byte> into) const;
  /// All bytes that transfers named `transfer` brought to the host, in order.
  [[nodiscard]] virtual std::span<const std::byte> written(std::string_view /*transfer*/) const {
    return {};
  }
};

/// The tensors of a program after one of its runs. The caller's thread reads memory, and all
/// threads reorder the numbers; results do not depend on the threads. Throws Defect for an
/// undeclared name, or for elements without a location.
class TensorReader {
 public:
  /// Both outlive it.
  TensorReader(const program::Program& program, const MemoryReader& memory)
      : program_(program), memory_(memory) {}

  /// The stored bytes, in row-major order.
  [[nodiscard]] std::vector<std::byte> bytes(std::string_view name, HostThreads& threads) const;
  /// Element order of floats(), which reads f16 and f32 exactly; `transposed`: a matrix, column by
  /// column.
  enum class Order : std::uint8_t { rows, transposed };
  [[nodiscard]] std::vector<float> floats(std::string_view name, HostThreads& threads,
                                          Order order = Order::rows) const;
  /// The stored bytes of one slice along the first extent, of a tensor whose parts hold whole
  /// slices; the other slices are not read.
  [[nodiscard]] std::vector<std::byte> slice(std::string_view name, std::size_t number) const;
  [[nodiscard]] const program::Tensor& tensor(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }

 private:
  [[nodiscard]] const program::Tensor* find(std::string_view name) const;

  const program::Program& program_;
  const MemoryReader& memory_;
};

}  // namespace tessera
