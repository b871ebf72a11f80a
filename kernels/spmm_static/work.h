#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/sparse/operand/block_matrix.h"
#include "kernels/spmm_static/partition.h"
#include "sim/plan/description.h"

namespace tessera::spmm_static {

// Where partial rows are summed: each tile sums those of its equal part of Y, which lies in order
// [block row] [column][row in block] over all tiles; or as the partition's placement says.

/// A partial row of one tile: share `share` of the part's layer, number `row` of its rows.
struct Source {
  std::uint32_t share;
  std::uint32_t row;
};

/// Consecutive results of one block row and part on one tile; without sources, of any number of
/// whole rows.
struct Segment {
  std::uint32_t part;
  std::uint32_t row;    ///< block row
  std::uint64_t begin;  ///< elements within the block row's results of that part
  std::uint64_t end;
  std::uint32_t sources;   ///< number of partial rows to sum
  std::uint64_t received;  ///< bytes of the destination's partials before those of this segment

  [[nodiscard]] std::uint64_t elements() const { return end - begin; }
};

/// A tile's sums, in the order of results: consecutive ones of the part of Y that it holds, or
/// others, which it sends on.
struct Destination {
  std::uint32_t tile;
  bool home;
  std::uint64_t first;  ///< at home: first element within the tile's part of Y
  std::vector<Segment> segments = {};
  std::uint64_t received = 0;  ///< bytes of partials
  std::uint64_t elements = 0;  ///< elements of Y
};

/// Elements of its longest segment without partial rows.
std::uint64_t longest_empty(const Destination& destination);

/// A worker's part of a segment, as the reduce codelets read it.
struct SegmentPart {
  std::uint32_t offset;    ///< bytes to its first partial
  std::uint32_t distance;  ///< bytes between partials
  std::uint16_t sources;
  std::uint16_t chunks;    ///< chunks of kChunkWords words of partials
  std::uint16_t units;     ///< units of one word of results
  std::uint16_t next_run;  ///< words to the outputs of the next run, if there are several
};
static_assert(sizeof(SegmentPart) == 16);
constexpr std::uint64_t kChunkWords = 4;
struct ReducingWorker {
  std::uint64_t first_word = 0;  ///< first of the results' 64-bit words
  std::vector<SegmentPart> parts;
};

/// Workers that sum `sources` partial rows of `elements` elements each, contiguous in memory.
std::vector<ReducingWorker> even_workers(const Shape& shape, std::uint64_t elements,
                                         std::uint64_t sources, std::uint32_t count);

class Reduction {
 public:
  explicit Reduction(const Partition& partition);

  /// True if no partial rows are added and each is a row of Y unchanged.
  [[nodiscard]] bool direct() const { return direct_; }
  /// True if some results are summed on other tiles than those that hold them.
  [[nodiscard]] bool spreads() const { return spreads_; }
  /// Those at home by tile, then others by tile; they receive no partials if direct().
  [[nodiscard]] const std::vector<Destination>& destinations() const& { return destinations_; }
  const std::vector<Destination>& destinations() const&& = delete;
  [[nodiscard]] std::span<const Source> sources(const Segment& segment) const {
    if (segment.sources == 0) return {};
    return sources_[partition_.parts[segment.part].layer][filled(segment.row)];
  }
  /// Element of Y, as it lies over all tiles, of a segment's first result.
  [[nodiscard]] std::uint64_t place(const Segment& segment) const;
  /// The tile's results divided over its workers.
  [[nodiscard]] std::vector<ReducingWorker> workers(const Destination& destination,
                                                    std::uint32_t count) const;

 private:
  void find_sources();
  void find_segments();
  void add_empty(std::uint32_t first, std::uint32_t end);
  /// The number of this block row among those with blocks.
  [[nodiscard]] std::size_t filled(std::uint32_t row) const;
  void add_at_home(Segment segment, std::uint64_t at);
  void add_spread(const Segment& whole, std::uint64_t number);
  void append(Destination& to, Segment segment) const;
  [[nodiscard]] bool at_home(const Segment& whole, std::uint64_t at) const;
  [[nodiscard]] bool meet_nowhere() const;

  const Partition& partition_;
  std::uint64_t stored_;                                   ///< elements of Y per tile
  std::vector<std::vector<std::vector<Source>>> sources_;  ///< by layer and block row with blocks
  bool direct_ = false;
  bool spreads_ = false;
  std::vector<std::vector<Segment>> spread_;  ///< by tile
  std::vector<Destination> destinations_;
};

using plan::Tile;

/// A tile's operands; null: none.
struct Cell {
  const Part* part = nullptr;
  const Share* share = nullptr;
};
/// Division of a tile's single elements over workers, in passes of `words` words.
struct ElementShares {
  std::uint32_t words;
  WorkerDivision divided;
};
/// By tile of the machine.
std::vector<Cell> cells_of(const Partition& partition);

/// Tiles that represent all others: those with the largest measures.
class Representatives {
 public:
  explicit Representatives(Tile tiles) : all_(tiles) {}

  /// Adds the `count` tiles with the largest measure(tile), without zeros.
  void add(std::size_t count, const std::function<std::uint64_t(Tile)>& measure);
  [[nodiscard]] const std::vector<Tile>& tiles() const { return tiles_; }

 private:
  Tile all_;
  std::vector<Tile> tiles_{0};
};

/// A partition by tile, for the steps of a product. Partition and W outlive it.
struct Work {
  /// Results that a tile pulls from another tile's sums.
  struct Sent {
    Tile from;
    std::uint64_t source, into, bytes;
  };

  Work(const Partition& of, const sparse::BlockMatrix& matrix);

  /// Bytes on a tile: X that it needs, its values of W, its partial rows, partial rows received,
  /// sums that it sends on.
  [[nodiscard]] std::uint64_t x_bytes(Tile tile) const;
  [[nodiscard]] std::uint64_t value_bytes(Tile tile) const;
  [[nodiscard]] std::uint64_t partial_bytes(Tile tile) const;
  [[nodiscard]] std::uint64_t received_bytes(Tile tile) const;
  [[nodiscard]] std::uint64_t sum_bytes(Tile tile) const;
  [[nodiscard]] Interval values(Tile tile) const;  ///< numbers of its values in distribution order
  /// Calls visit(destination, bytes of partial rows before it, bytes of sums before it) for those
  /// on a tile.
  template <class Visit>
  void for_destinations(Tile tile, const Visit& visit) const {
    std::uint64_t received = 0;
    std::uint64_t sums = 0;
    for (const Destination* to : destinations[tile]) {
      visit(*to, received, sums);
      received += to->received;
      if (!to->home) sums += to->elements * partition.shape.bytes();
    }
  }
  [[nodiscard]] std::vector<ElementShares> element_shares(const Cell& cell,
                                                          std::uint32_t workers) const;
  /// Tiles that represent all others: for each step those with the most work.
  [[nodiscard]] std::vector<Tile> representatives(std::uint32_t workers) const;

  const Partition& partition;
  const sparse::BlockMatrix& w;
  Reduction reduction;
  std::vector<Cell> cells;                                    ///< by tile
  std::vector<std::vector<const Destination*>> destinations;  ///< by tile
  std::vector<std::uint64_t> value_bounds;                    ///< bytes, ascending
  std::vector<std::vector<Sent>> sent;                        ///< by tile that wants them

 private:
  [[nodiscard]] std::uint64_t multiplying(const Cell& cell, std::uint32_t workers) const;
  [[nodiscard]] std::uint64_t taking(Tile tile) const;
  [[nodiscard]] std::uint64_t adding(Tile tile, std::uint32_t workers) const;
  void find_value_bounds();
  void find_sent();
};

}  // namespace tessera::spmm_static
