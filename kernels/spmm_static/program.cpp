#include <algorithm>

#include "kernels/spmm_static/assembly.h"
#include "kernels/spmm_static/element_work.h"
#include "kernels/spmm_static/given.h"
#include "kernels/spmm_static/relayout_steps.h"
#include "kernels/spmm_static/spmm_static.h"
#include "kernels/spmm_static/work_list.h"

namespace tessera::spmm_static {

using program::Argument;

namespace {

/// What a tile holds while it multiplies.
struct TileBuffers {
  BufferId x;
  BufferId values;
  BufferId partials;
};

class Builder {
 public:
  Builder(const Partition& partition, const sparse::BlockMatrix& w, const data::DenseOperand& x,
          std::uint32_t contexts, Region region)
      : partition_(partition),
        shape_(partition.shape),
        w_(w),
        x_(x),
        contexts_(contexts),
        region_(region),
        assembly_(partition, contexts),
        reduction_(partition) {}

  program::Program build() {
    const bool all = region_ == Region::all;
    add_results();
    if (partition_.deal.blocks() > 0) {
      add_given();
      add_tiles();
      if (shape_.relayouts()) {
        assembly_.add_step(rows_to_panels(assembly_, x_by_rows_, x_rows_), all);
        assembly_.add_step(transposed(assembly_, x_rows_, given_x_, Direction::to_blocks), all);
      }
      assembly_.add_step(inputs(), all);
      assembly_.add_step(multiply(), all || region_ == Region::multiply);
      assembly_.add_step(partials(), all);
    }
    assembly_.add_step(reduce(), all || region_ == Region::add);
    if (relayouts_results()) {
      assembly_.add_step(transposed(assembly_, y_blocks_, y_rows_, Direction::to_rows), all);
      assembly_.add_step(panels_to_rows(assembly_, y_rows_, y_buffer), all);
    }
    return std::move(assembly_.program());
  }

 private:
  /// First: check() counts on their numbers.
  void add_results() {
    program::Tensor y{"y", shape_.type, {w_.rows, x_.columns()}, {}};
    for (std::uint32_t t = 0; t < partition_.tiles; ++t) {
      const std::uint64_t bytes = reduction_.destinations()[t].elements * shape_.bytes();
      const BufferId buffer = assembly_.buffer(t, bytes, "y", {}, true);
      if (bytes > 0) y.parts.push_back({{buffer, 0}, word(bytes)});
    }
    assembly_.program().add_tensor(std::move(y));
    if (!relayouts_results()) return;
    y_blocks_ = assembly_.parts(partition_.y_elements(), partition_.y_stored(), "y in blocks");
    y_rows_ = assembly_.parts(partition_.y_elements(), partition_.y_stored(), "y in rows");
  }
  /// Zeros need none.
  [[nodiscard]] bool relayouts_results() const {
    return shape_.relayouts() && partition_.deal.blocks() > 0;
  }

  /// Equal parts of X, and of the values of W where several tiles take the same. Contents refer to
  /// the workload, which outlives them, not to this builder.
  void add_given() {
    const std::uint64_t elements = partition_.x_elements();
    const std::uint64_t stored = partition_.x_stored();
    const auto fill = shape_.relayouts() ? fill_x_rows : fill_x;
    std::vector<BufferId> given = assembly_.parts(
        elements, stored, "x",
        [&partition = partition_, &x = x_, fill](std::uint64_t first, std::span<std::byte> into) {
          fill(partition, x, first, into);
        });
    if (shape_.relayouts()) {
      x_by_rows_ = std::move(given);
      x_rows_ = assembly_.parts(elements, stored, "x in rows");
      given_x_ = assembly_.parts(elements, stored, "x in blocks");
    } else {
      given_x_ = std::move(given);
    }
    if (!partition_.shares_values()) return;
    given_values_ = assembly_.parts(
        partition_.values(), partition_.values_stored(), "w",
        [&partition = partition_, &w = w_](std::uint64_t first, std::span<std::byte> into) {
          fill_values(partition, w, first, into);
        });
  }

  void add_tiles() {
    for (const Part& part : partition_.parts) {
      auto& tiles = tiles_.emplace_back();
      for (const Share& share : partition_.layer(part).shares) {
        const std::uint32_t tile = part.first_tile + share.place;
        TileBuffers buffers{};
        buffers.x = assembly_.buffer(tile, partition_.x_bytes(part, share), "x needed");
        const std::uint64_t bytes = round_up(partition_.value_bytes(share), std::uint64_t{8});
        const std::uint64_t first = partition_.deal.value_begin[share.first];
        Assembly::Contents fill;
        if (!partition_.shares_values()) {
          fill = [&partition = partition_, &w = w_, first](std::span<std::byte> into) {
            fill_values(partition, w, first, into);
          };
        }
        buffers.values = assembly_.buffer(tile, bytes, "w needed", std::move(fill));
        buffers.partials =
            assembly_.buffer(tile, share.rows.size() * partition_.row_bytes(part), "partial rows");
        tiles.push_back(buffers);
      }
    }
  }

  program::Exchange inputs() {
    program::Exchange exchange{partition_.shares_values() ? "x and w" : "x", {}};
    for (std::uint32_t p = 0; p < partition_.parts.size(); ++p) add_dense_rows(exchange, p);
    if (partition_.shares_values()) add_values(exchange);
    return exchange;
  }

  /// Tiles of a part (by share) that need a block column, and where it lies in what they need.
  struct Taker {
    std::uint32_t share;
    std::uint32_t place;
  };

  void add_dense_rows(program::Exchange& exchange, std::uint32_t p) const {
    const Part& part = partition_.parts[p];
    const Layer& layer = partition_.layer(part);
    std::vector<std::vector<Taker>> takers(partition_.block_columns);
    for (std::uint32_t s = 0; s < layer.shares.size(); ++s) {
      const auto& columns = layer.shares[s].columns;
      for (std::uint32_t i = 0; i < columns.size(); ++i) takers[columns[i]].push_back({s, i});
    }
    const std::uint64_t depth = shape_.x_depth();
    const std::uint64_t count = part.width() * depth;
    const std::uint64_t halves = shape_.block / depth;
    for (std::uint64_t row = 0; row < takers.size() * halves; ++row) {
      const auto& wanted = takers[row / halves];
      if (wanted.empty()) continue;
      const std::uint64_t first = (row * partition_.columns + part.begin) * depth;
      assembly_.add_copies(
          exchange, given_x_, partition_.x_stored(), first, count, [&](std::uint64_t offset) {
            std::vector<Place> to;
            for (const Taker& taker : wanted) {
              const std::uint64_t place = taker.place * halves + row % halves;
              to.push_back(
                  {tiles_[p][taker.share].x, word(place * count * shape_.bytes() + offset)});
            }
            return to;
          });
    }
  }

  /// The values of W go to the tiles of all parts; where parts have layers of their own they are
  /// cut at the bounds of all shares.
  void add_values(program::Exchange& exchange) const {
    std::vector<std::uint64_t> bounds;
    for (const Layer& layer : partition_.layers) {
      for (const Share& share : layer.shares) bounds.push_back(value(share.first));
    }
    bounds.push_back(partition_.values());
    std::sort(bounds.begin(), bounds.end());
    bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
    std::vector<std::size_t> at(partition_.parts.size(), 0);  // share of each part
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
      std::vector<Place> to;
      for (std::size_t p = 0; p < at.size(); ++p) {
        const auto& shares = partition_.layer(partition_.parts[p]).shares;
        while (value(shares[at[p]].last) <= bounds[i]) ++at[p];
        const std::uint64_t skipped = bounds[i] - value(shares[at[p]].first);
        to.push_back({tiles_[p][at[p]].values, word(skipped * shape_.bytes())});
      }
      assembly_.add_copies(exchange, given_values_, partition_.values_stored(), bounds[i],
                           bounds[i + 1] - bounds[i], [&](std::uint64_t offset) {
                             std::vector<Place> moved = to;
                             for (Place& place : moved) place.offset += word(offset);
                             return moved;
                           });
    }
  }
  [[nodiscard]] std::uint64_t value(std::uint64_t block) const {
    return partition_.deal.value_begin[block];
  }

  program::ComputeSet multiply() {
    program::ComputeSet set{"multiply", {}};
    for (std::uint32_t p = 0; p < partition_.parts.size(); ++p) {
      const Part& part = partition_.parts[p];
      const Layer& layer = partition_.layer(part);
      for (std::uint32_t s = 0; s < layer.shares.size(); ++s) {
        const Share& share = layer.shares[s];
        const std::uint32_t tile = part.first_tile + share.place;
        const BufferId list = assembly_.list(tile, row_list(partition_, part, share), "list");
        if (shape_.block > 1) {
          set.vertices.push_back(block_vertex(part, share, tiles_[p][s], list));
        } else {
          add_element_vertices(set, part, share, tiles_[p][s], list);
        }
      }
    }
    return set;
  }

  program::Vertex block_vertex(const Part& part, const Share& share, const TileBuffers& buffers,
                               BufferId list) {
    const Unit unit = shape_.unit();
    const std::uint32_t width = part.width();
    const std::uint32_t x_bytes = shape_.x_depth() * shape_.bytes();  // of a position
    const std::uint32_t y_bytes =
        (unit.halves == Halves::outputs ? 8 : shape_.block) * shape_.partial_bytes();
    std::vector<Argument> arguments{Place{buffers.values},
                                    Place{buffers.x},
                                    Place{list},
                                    word(share.rows.size()),
                                    width * x_bytes,
                                    0U,
                                    0U,
                                    0U};
    const std::uint32_t units = width / unit.unroll;
    std::uint32_t first = 0;
    for (std::uint32_t w = 0; w < contexts_; ++w) {
      const std::uint32_t count = units / contexts_ + (w < units % contexts_ ? 1 : 0);
      arguments.emplace_back(first * x_bytes);
      arguments.emplace_back(Place{buffers.partials, first * y_bytes});
      arguments.emplace_back(count - (unit.unroll == 1 ? 3 : 2));
      arguments.emplace_back(word(partition_.row_bytes(part)));
      arguments.emplace_back(width * y_bytes);
      arguments.emplace_back(0U);
      first += count * unit.unroll;
    }
    return {TileId(part.first_tile + share.place), assembly_.codelet(unit.codelet),
            program::Executor::supervisor, 0, std::move(arguments)};
  }

  void add_element_vertices(program::ComputeSet& set, const Part& part, const Share& share,
                            const TileBuffers& buffers, BufferId list) {
    const std::uint32_t words = part.width() * shape_.bytes() / 8;
    for (const std::uint32_t pass : {2U, 1U}) {
      const std::uint32_t passes = pass == 2 ? words / 2 : words % 2;
      if (passes == 0) continue;
      const ElementCode code = element_code(shape_, pass);
      const std::uint32_t done = pass == 2 ? 0 : words / 2 * 16;  // bytes of a row of X
      const std::uint32_t widen = shape_.partial_bytes() / shape_.bytes();
      std::vector<Argument> arguments{Place{buffers.x, done}, Place{buffers.partials, done * widen},
                                      words * 8, words * 8 * widen};
      for (const WorkerShare& worker : divide(share, code, passes, contexts_)) {
        const std::uint64_t before =
            worker.rows == 0 ? share.first : share.rows[worker.first_row].first;
        const std::uint64_t skipped = before - share.first;
        arguments.emplace_back(Place{list, word(2 * (skipped + worker.first_row))});
        arguments.emplace_back(
            Place{buffers.values, word((value(before) - value(share.first)) * shape_.bytes())});
        arguments.emplace_back(worker.rows);
        arguments.emplace_back(worker.passes);
        arguments.emplace_back(worker.first_pass * pass * 8);
        arguments.emplace_back(worker.first_row * words * 8 * widen +
                               worker.first_pass * pass * 8 * widen);
      }
      set.vertices.push_back({TileId(part.first_tile + share.place),
                              assembly_.codelet(code.codelet), program::Executor::all_workers, 0,
                              std::move(arguments)});
    }
  }

  /// Partial rows to the tiles that add them up.
  program::Exchange partials() {
    program::Exchange exchange{"partial rows", {}};
    const bool halves = shape_.halves() == Halves::outputs;
    for (std::uint32_t t = 0; t < partition_.tiles; ++t) {
      const Destination& to = reduction_.destinations()[t];
      received_.push_back(
          assembly_.buffer(t, std::max<std::uint64_t>(to.received, 8), "partials received"));
      for (const Segment& segment : to.segments) {
        const Part& part = partition_.parts[segment.part];
        const std::uint64_t bytes = segment.elements() * shape_.partial_bytes();
        std::uint64_t at = segment.received;
        for (const Source& source : reduction_.sources(segment)) {
          const std::uint64_t row = source.row * partition_.row_bytes(part);
          const BufferId from = tiles_[segment.part][source.share].partials;
          const std::uint64_t begin = segment.begin * shape_.partial_bytes();
          const std::uint64_t pieces = halves ? 2 : 1;
          for (std::uint64_t half = 0; half < pieces; ++half) {
            const std::uint64_t offset =
                row + half * partition_.row_bytes(part) / 2 + begin / pieces;
            exchange.copies.push_back(
                {{from, word(offset)}, word(bytes / pieces), {{received_[t], word(at)}}});
            at += bytes / pieces;
          }
        }
      }
    }
    return exchange;
  }

  program::ComputeSet reduce() {
    const char* name = shape_.halves() == Halves::outputs ? "spmm_reduce_f16_f32_halves"
                       : shape_.mixed()                   ? "spmm_reduce_f16_f32"
                       : shape_.type == Type::f16         ? "spmm_reduce_f16"
                                                          : "spmm_reduce_f32";
    program::ComputeSet set{"add partial rows", {}};
    for (std::uint32_t t = 0; t < partition_.tiles; ++t) {
      const Destination& to = reduction_.destinations()[t];
      if (to.elements == 0) continue;
      const BufferId received =
          received_.empty() ? assembly_.buffer(t, 8, "partials received") : received_[t];
      const BufferId results = relayouts_results() ? y_blocks_[t] : y_buffer(t);
      std::vector<Argument> arguments{Place{received}, Place{results}};
      std::vector<std::byte> list;
      const std::vector<ReducingWorker> workers = reduction_.workers(to, contexts_);
      for (const ReducingWorker& worker : workers) {
        const std::vector<std::byte> part = segment_list(worker.parts);
        list.insert(list.end(), part.begin(), part.end());
      }
      const BufferId lists = assembly_.list(t, std::move(list), "segments");
      std::uint32_t first = 0;
      for (const ReducingWorker& worker : workers) {
        const auto segments = word(worker.parts.size());
        arguments.emplace_back(Place{lists, first * kSegmentBytes});
        arguments.emplace_back(segments);
        arguments.emplace_back(word(worker.first_word * 8));
        arguments.emplace_back(0U);
        first += segments;
      }
      set.vertices.push_back({TileId(t), assembly_.codelet(name), program::Executor::all_workers, 0,
                              std::move(arguments)});
    }
    return set;
  }

  const Partition& partition_;
  const Shape& shape_;
  const sparse::BlockMatrix& w_;
  const data::DenseOperand& x_;
  std::uint32_t contexts_;
  Region region_;
  Assembly assembly_;
  Reduction reduction_;
  std::vector<BufferId> given_x_, given_values_;                  ///< by tile, X in order of blocks
  std::vector<BufferId> x_by_rows_, x_rows_, y_blocks_, y_rows_;  ///< where rows are made of blocks
  std::vector<std::vector<TileBuffers>> tiles_;                   ///< by part and share
  std::vector<BufferId> received_;                                ///< by tile
};

}  // namespace

program::Program build_program(const Partition& partition, const sparse::BlockMatrix& w,
                               const data::DenseOperand& x, std::uint32_t contexts, Region region) {
  return Builder(partition, w, x, contexts, region).build();
}

}  // namespace tessera::spmm_static
