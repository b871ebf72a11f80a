#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/arrays/array.h"
#include "kernels/gemm/array_plan.h"

/// When nodes of an array start transfers of a product, wait for them and compute.
namespace tessera::gemm {

/// Cycles that a stream takes a node's port, and ports of its ends; 0: any number.
struct StreamTime {
  std::uint64_t cycles;
  std::uint32_t send_ports, receive_ports;
};
struct ArrayTimes {
  StreamTime load_a, load_b, send_a, send_b, results, store;
  std::uint64_t fixed;               ///< of each stream, in which ports are free
  std::uint64_t start, wait;         ///< control code of a node
  std::vector<std::uint64_t> calls;  ///< of a block's steps: the first, each between, the last
};

/// Cycles of the lists of array_lists.cpp on all nodes. Steps, blocks and lists that take what
/// those before took are not gone through one by one.
std::uint64_t timeline_cycles(const ArrayGrid& grid, const arrays::Array& array,
                              const ArrayTimes& times);

}  // namespace tessera::gemm
