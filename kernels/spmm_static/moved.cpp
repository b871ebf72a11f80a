#include "kernels/spmm_static/moved.h"

namespace tessera::spmm_static {

namespace {

std::uint64_t common_count(const std::vector<std::uint32_t>& a,
                           const std::vector<std::uint32_t>& b) {
  std::uint64_t count = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) ++count;
    const bool first = a[i] <= b[j];
    if (b[j] <= a[i]) ++j;
    if (first) ++i;
  }
  return count;
}

/// Rows of X go out once to the tiles of each part that take them.
void send_rows(sparse::Traffic& traffic, const Partition& partition) {
  const Shape& shape = partition.shape;
  const std::uint64_t depth = shape.x_depth();
  for (const Part& part : partition.parts) {
    std::vector<bool> taken(partition.block_columns);
    for (const Share& share : partition.layer(part).shares)
      for (const std::uint32_t column : share.columns) taken[column] = true;
    std::size_t operand = 0;
    for (std::uint64_t row = 0; row < taken.size() * shape.block; row += depth) {
      while (operand + 1 < partition.x.size() && partition.x[operand + 1].first <= row) ++operand;
      if (!taken[row / shape.block]) continue;
      const auto& [before, storage] = partition.x[operand];
      const std::uint64_t first =
          ((row - before) * partition.columns + part.begin * depth) * shape.bytes();
      for (const auto& piece : storage.pieces(first, first + part.width() * depth * shape.bytes()))
        traffic.send(piece.tile, piece.bytes);
    }
  }
}

}  // namespace

sparse::Traffic inputs_moved(const Partition& partition, bool values) {
  values = values && partition.shares_values();
  sparse::Traffic traffic(partition.tiles);
  send_rows(traffic, partition);
  for (std::uint32_t tile = 0; values && tile < partition.tiles; ++tile)
    traffic.send(tile, partition.value_storage().bytes_on(tile));
  for (const Part& part : partition.parts) {
    const Layer& layer = partition.layer(part);
    for (std::size_t s = 0; s < layer.shares.size(); ++s) {
      const Share& share = layer.shares[s];
      const std::uint32_t tile = part.first_tile + share.place;
      traffic.receive(tile, partition.x_bytes(part, share));
      if (values) traffic.receive(tile, partition.value_bytes(share));
      if (s == 0 || tile % 2 == 0 || layer.shares[s - 1].place + 1 != share.place) continue;
      traffic.share(tile, common_count(share.columns, layer.shares[s - 1].columns) *
                              partition.shape.block * part.width() * partition.shape.bytes());
    }
  }
  return traffic;
}

sparse::Traffic partials_moved(const Partition& partition, const Reduction& reduction) {
  sparse::Traffic traffic(partition.tiles);
  for (const Destination& to : reduction.destinations()) {
    traffic.receive(to.tile,
                    reduction.direct() ? to.elements * partition.shape.bytes() : to.received);
  }
  for (const Part& part : partition.parts) {
    for (const Share& share : partition.layer(part).shares) {
      traffic.send(part.first_tile + share.place, share.rows.size() * partition.row_bytes(part));
    }
  }
  return traffic;
}

sparse::Traffic sums_moved(const Partition& partition, const Reduction& reduction) {
  sparse::Traffic traffic(partition.tiles);
  const std::uint64_t size = partition.shape.bytes();
  for (const Destination& from : reduction.destinations()) {
    if (from.home) continue;
    traffic.send(from.tile, from.elements * size);
    for (const Segment& segment : from.segments) {
      const std::uint64_t place = reduction.place(segment) * size;
      for (const auto& piece :
           partition.y_storage().pieces(place, place + segment.elements() * size))
        traffic.receive(piece.tile, piece.bytes);
    }
  }
  return traffic;
}

sparse::Traffic rows_moved(const Partition& partition, const EvenStorage& storage) {
  sparse::Traffic traffic(partition.tiles);
  traffic.send(0, storage.each());
  traffic.receive(0, storage.each());
  return traffic;
}

}  // namespace tessera::spmm_static
