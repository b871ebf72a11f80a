#include <algorithm>

#include "kernels/spmm_static/cost.h"
#include "kernels/spmm_static/work_list.h"
#include "sim/program/exchange_compiler.h"

namespace tessera::spmm_static {

namespace {

using program::kReceiveBytes;
using program::kSendBytes;

// Code, stacks, argument blocks: the least, and what comes beside the code of products.
constexpr std::uint64_t kLeastControlBytes = 4096;
constexpr std::uint64_t kControlBytes = 1360;

/// Bytes of a tile at one time.
struct Need {
  std::uint64_t tensors;
  std::uint64_t lists;  ///< of the exchange

  friend bool operator<(const Need& a, const Need& b) {
    return a.tensors + a.lists < b.tensors + b.lists;
  }
};

}  // namespace

Resident resident(const Partition& partition) {
  Resident most{0, 0};
  for (const Part& part : partition.parts) {
    for (const Share& share : partition.layer(part).shares) {
      most.values = std::max(most.values, partition.value_bytes(share));
      most.lists = std::max(most.lists, 2 * (share.rows.size() + share.blocks()) +
                                            kReceiveBytes * share.columns.size() +
                                            kSendBytes * share.rows.size());
    }
  }
  if (partition.shares_values()) most.values = partition.value_storage().each();
  std::uint64_t segments = 0;
  const Reduction reduction(partition);
  for (const Destination& to : reduction.destinations())
    segments = std::max(segments, std::uint64_t{to.segments.size()});
  most.lists += segments * (kSegmentBytes + kReceiveBytes);
  return most;
}

program::CategoryBytes tile_memory(const Partition& partition, std::uint64_t beside) {
  const Shape& shape = partition.shape;
  const Reduction reduction(partition);
  const std::uint64_t y = partition.y_storage().each();
  std::uint64_t given = 0;
  for (const DenseRows& rows : partition.x) given += rows.storage.each();
  if (partition.shares_values()) given += partition.value_storage().each();
  Need most{partition.shape.relayouts() ? 2 * std::max(given, y) : 0, 0};
  for (const Destination& to : reduction.destinations()) {
    const std::uint64_t segments = to.segments.size();
    const std::uint64_t sums = to.home ? 0 : to.elements * shape.bytes();
    const std::uint64_t zeros = reduction.direct() ? longest_empty(to) * shape.bytes() : 0;
    most = std::max(most, {to.received + sums + zeros + y + segments * kSegmentBytes,
                           segments * kReceiveBytes});
  }
  for (const Part& part : partition.parts) {
    for (const Share& share : partition.layer(part).shares) {
      const std::uint64_t held = partition.x_bytes(part, share) + partition.value_bytes(share) +
                                 2 * (share.rows.size() + share.blocks());
      const std::uint64_t q = share.rows.size() * partition.row_bytes(part);
      most = std::max(most, {held + std::max(given, q), kReceiveBytes * share.columns.size() +
                                                            kSendBytes * share.rows.size()});
    }
  }
  program::CategoryBytes memory{};
  memory[static_cast<std::size_t>(program::Category::code)] =
      std::max(kLeastControlBytes, kControlBytes + partition.code_bytes);
  memory[static_cast<std::size_t>(program::Category::tensors)] = most.tensors + beside;
  memory[static_cast<std::size_t>(program::Category::exchange)] = most.lists;
  return memory;
}

}  // namespace tessera::spmm_static
