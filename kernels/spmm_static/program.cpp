#include <algorithm>
#include <cstring>

#include "kernels/spmm_static/element_work.h"
#include "kernels/spmm_static/given.h"
#include "kernels/spmm_static/spmm_static.h"
#include "kernels/spmm_static/work_list.h"
#include "sim/elf/codelet.h"

namespace tessera::spmm_static {

using program::Argument;
using program::BufferId;
using program::Place;

namespace {

std::uint32_t word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

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
        program_(partition.tiles),
        reduction_(partition) {}

  program::Program build() {
    add_results();
    auto& steps = program_.main().steps;
    const bool all = region_ == Region::all;
    if (partition_.deal.blocks() > 0) {
      add_given();
      add_tiles();
      steps.push_back({inputs(), all});
      steps.push_back({multiply(), all || region_ == Region::multiply});
      steps.push_back({partials(), all});
    }
    steps.push_back({reduce(), all || region_ == Region::add});
    return std::move(program_);
  }

 private:
  using Contents = std::function<void(std::span<std::byte>)>;
  BufferId add_buffer(std::uint64_t tile, std::uint64_t bytes, std::string_view name,
                      Contents contents = {}, bool keep = false) {
    return program_.add_buffer({TileId(word(tile)), word(bytes), 8, keep,
                                program::Category::tensors, std::move(contents), name});
  }
  /// A buffer of these bytes on `tile`.
  template <class T>
  BufferId add_list(std::uint64_t tile, std::vector<T> list, std::string_view name) {
    const std::size_t bytes = std::max<std::size_t>(list.size() * sizeof(T), 8);
    return add_buffer(tile, bytes, name, [list = std::move(list)](std::span<std::byte> into) {
      std::memcpy(into.data(), list.data(), list.size() * sizeof(T));
    });
  }
  std::uint32_t add_codelet(std::string_view name) {
    return program_.add_codelet(elf::embedded_codelet("spmm_static", name));
  }

  /// First: check() counts on their numbers.
  void add_results() {
    program::Tensor y{"y", shape_.type, {w_.rows, x_.columns()}, {}};
    for (std::uint32_t t = 0; t < partition_.tiles; ++t) {
      const std::uint64_t bytes = reduction_.destinations()[t].elements * shape_.bytes();
      const BufferId buffer = add_buffer(t, bytes, "y", {}, true);
      if (bytes > 0) y.parts.push_back({{buffer, 0}, word(bytes)});
    }
    program_.add_tensor(std::move(y));
  }

  /// Equal parts of X (the contents outlive this builder), and of the values of W where several
  /// tiles take the same.
  void add_given() {
    given_x_ = add_equal_parts(
        partition_.x_elements(), partition_.x_stored(), "x",
        [&partition = partition_, &x = x_](std::uint64_t first, std::span<std::byte> into) {
          fill_x(partition, x, first, into);
        });
    if (!partition_.shares_values()) return;
    given_values_ = add_equal_parts(
        partition_.values(), partition_.values_stored(), "w",
        [&partition = partition_, &w = w_](std::uint64_t first, std::span<std::byte> into) {
          fill_values(partition, w, first, into);
        });
  }

  template <class Fill>
  std::vector<BufferId> add_equal_parts(std::uint64_t elements, std::uint64_t stored,
                                        std::string_view name, Fill fill) {
    std::vector<BufferId> buffers;
    for (std::uint64_t first = 0; first < elements; first += stored) {
      const std::uint64_t count = std::min(stored, elements - first);
      buffers.push_back(
          add_buffer(first / stored, count * shape_.bytes(), name,
                     [fill, first](std::span<std::byte> into) { fill(first, into); }));
    }
    return buffers;
  }

  void add_tiles() {
    for (const Part& part : partition_.parts) {
      auto& tiles = tiles_.emplace_back();
      for (const Share& share : partition_.layer(part).shares) {
        const std::uint32_t tile = part.first_tile + share.place;
        TileBuffers buffers{};
        buffers.x = add_buffer(tile, partition_.x_bytes(part, share), "x needed");
        const std::uint64_t bytes = round_up(partition_.value_bytes(share), std::uint64_t{8});
        const std::uint64_t first = partition_.deal.value_begin[share.first];
        Contents fill;
        if (!partition_.shares_values()) {
          fill = [&partition = partition_, &w = w_, first](std::span<std::byte> into) {
            fill_values(partition, w, first, into);
          };
        }
        buffers.values = add_buffer(tile, bytes, "w needed", std::move(fill));
        buffers.partials =
            add_buffer(tile, share.rows.size() * partition_.row_bytes(part), "partial rows");
        tiles.push_back(buffers);
      }
    }
  }

  /// Copies elements [first, first + count) of something dealt in equal parts.
  template <class Destinations>
  void add_copies(program::Exchange& exchange, const std::vector<BufferId>& given,
                  std::uint64_t stored, std::uint64_t first, std::uint64_t count,
                  const Destinations& destinations) const {
    for (std::uint64_t done = 0; done < count;) {
      const std::uint64_t at = first + done;
      const std::uint64_t piece = std::min(count - done, stored - at % stored);
      program::Copy copy{{given[at / stored], word(at % stored * shape_.bytes())},
                         word(piece * shape_.bytes()),
                         destinations(done * shape_.bytes())};
      exchange.copies.push_back(std::move(copy));
      done += piece;
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
      add_copies(exchange, given_x_, partition_.x_stored(), first, count,
                 [&](std::uint64_t offset) {
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
      add_copies(exchange, given_values_, partition_.values_stored(), bounds[i],
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
        const BufferId list = add_list(tile, row_list(partition_, part, share), "list");
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
    return {TileId(part.first_tile + share.place), add_codelet(unit.codelet),
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
      set.vertices.push_back({TileId(part.first_tile + share.place), add_codelet(code.codelet),
                              program::Executor::all_workers, 0, std::move(arguments)});
    }
  }

  /// Partial rows to the tiles that add them up.
  program::Exchange partials() {
    program::Exchange exchange{"partial rows", {}};
    const bool halves = shape_.halves() == Halves::outputs;
    for (std::uint32_t t = 0; t < partition_.tiles; ++t) {
      const Destination& to = reduction_.destinations()[t];
      received_.push_back(
          add_buffer(t, std::max<std::uint64_t>(to.received, 8), "partials received"));
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
          received_.empty() ? add_buffer(t, 8, "partials received") : received_[t];
      std::vector<Argument> arguments{Place{received}, Place{y_buffer(t)}};
      std::vector<std::byte> list;
      const std::vector<ReducingWorker> workers = reduction_.workers(to, contexts_);
      for (const ReducingWorker& worker : workers) {
        const std::vector<std::byte> part = segment_list(worker.parts);
        list.insert(list.end(), part.begin(), part.end());
      }
      const BufferId lists = add_list(t, std::move(list), "segments");
      std::uint32_t first = 0;
      for (const ReducingWorker& worker : workers) {
        const auto segments = word(worker.parts.size());
        arguments.emplace_back(Place{lists, first * kSegmentBytes});
        arguments.emplace_back(segments);
        arguments.emplace_back(word(worker.first_word * 8));
        arguments.emplace_back(0U);
        first += segments;
      }
      set.vertices.push_back(
          {TileId(t), add_codelet(name), program::Executor::all_workers, 0, std::move(arguments)});
    }
    return set;
  }

  const Partition& partition_;
  const Shape& shape_;
  const sparse::BlockMatrix& w_;
  const data::DenseOperand& x_;
  std::uint32_t contexts_;
  Region region_;
  program::Program program_;
  Reduction reduction_;
  std::vector<BufferId> given_x_, given_values_;  ///< by tile
  std::vector<std::vector<TileBuffers>> tiles_;   ///< by part and share
  std::vector<BufferId> received_;                ///< by tile
};

}  // namespace

program::Program build_program(const Partition& partition, const sparse::BlockMatrix& w,
                               const data::DenseOperand& x, std::uint32_t contexts, Region region) {
  return Builder(partition, w, x, contexts, region).build();
}

}  // namespace tessera::spmm_static
