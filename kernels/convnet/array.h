#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/arrays/array.h"
#include "kernels/arrays/array_program.h"
#include "sim/base/types.h"

/// The array of cores that a network runs on.
namespace tessera::convnet {

using arrays::Array;
using arrays::ArrayProgram;
using arrays::buffer_of;
using arrays::kActivations;
using arrays::kAlign;
using arrays::kHalo;
using arrays::kLoad;
using arrays::kLoadWeights;
using arrays::kResults;
using arrays::kStore;
using arrays::kWeights;
using arrays::TransferId;
using program::ExchangeId;
using program::Program;
using program::Stream;
using program::Vertex;

/// Columns [begin, end) of a tensor, or blocks of channels.
struct Range {
  std::uint32_t begin = 0, end = 0;
  [[nodiscard]] std::uint32_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};
/// Part `number` of `all`, split into `parts` of which the first are as large as any.
inline Range part_of(std::uint32_t all, std::uint32_t parts, std::uint32_t number) {
  const std::uint32_t each = ceil_div(all, parts);
  return {std::min(all, number * each), std::min(all, (number + 1) * each)};
}

/// Kinds of transfers of a network, each with a number for its column or row of the array.
enum class TransferChain : std::uint8_t {
  load,
  store,
  halo,
  rows,
  operands,
  results,
  weights,
  ddr_weights,
  ddr_rows,
  ddr_operands,
  ddr_results
};
constexpr std::uint32_t kind_of(TransferChain chain, std::uint32_t number) {
  return static_cast<std::uint32_t>(chain) << 16U | number;
}

/// The array of a machine. Throws KeyError for one that lacks nodes or streams.
Array array_of(const MachineConfig& machine);

}  // namespace tessera::convnet
