#include "kernels/spmm_static/assembly.h"
#include "kernels/spmm_static/given.h"
#include "kernels/spmm_static/relayout_steps.h"
#include "kernels/spmm_static/spmm_static.h"
#include "kernels/spmm_static/steps.h"

namespace tessera::spmm_static {

namespace {

class Builder {
 public:
  Builder(const Partition& partition, const sparse::BlockMatrix& w, const data::DenseOperand& x,
          std::uint32_t contexts, Region region)
      : partition_(partition),
        shape_(partition.shape),
        w_(w),
        x_(x),
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
      assembly_.add_step(inputs(assembly_, given_x_, given_values_, tiles_), all);
      assembly_.add_step(multiplied(assembly_, tiles_), all || region_ == Region::multiply);
    }
    add_up();
    if (relayouts_results()) {
      assembly_.add_step(transposed(assembly_, y_blocks_, y_rows_, Direction::to_rows), all);
      assembly_.add_step(panels_to_rows(assembly_, y_rows_, y_buffer), all);
    }
    return std::move(assembly_.program());
  }

 private:
  void add_up() {
    const bool measured = region_ != Region::multiply;
    const std::vector<BufferId>& results = relayouts_results() ? y_blocks_ : y_;
    if (reduction_.direct()) {
      assembly_.add_step(results_sent(assembly_, reduction_, tiles_, results, zeros()), measured);
      return;
    }
    add_received();
    if (partition_.deal.blocks() > 0) {
      assembly_.add_step(partials_sent(assembly_, reduction_, tiles_, received_),
                         region_ == Region::all);
    }
    assembly_.add_step(added(assembly_, reduction_, received_, results, sums_), measured);
    if (reduction_.spreads()) {
      assembly_.add_step(sums_sent(assembly_, reduction_, sums_, results), measured);
    }
  }

  /// What rows of Y without blocks come from, by destination: each tile has its own, since one that
  /// sent them to all would hold them up.
  std::vector<BufferId> zeros() {
    std::vector<BufferId> zeros;
    for (const Destination& to : reduction_.destinations()) {
      zeros.push_back(assembly_.buffer(
          to.tile, longest_empty(to) * shape_.bytes(), "zeros",
          [](std::span<std::byte> into) { std::ranges::fill(into, std::byte{}); }));
    }
    return zeros;
  }

  /// First: check() counts on their numbers.
  void add_results() {
    program::Tensor y{"y", shape_.type, {w_.rows, x_.columns()}, {}};
    for (std::uint32_t t = 0; t < partition_.tiles; ++t) {
      const std::uint64_t bytes = partition_.y_wanted(t) * shape_.bytes();
      y_.push_back(assembly_.buffer(t, bytes, "y", {}, true));
      if (bytes > 0) y.parts.push_back({{y_.back(), 0}, word(bytes)});
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

  void add_received() {
    for (const Destination& to : reduction_.destinations()) {
      received_.push_back(
          assembly_.buffer(to.tile, std::max<std::uint64_t>(to.received, 8), "partials received"));
      const std::uint64_t sums = to.home ? 8 : to.elements * shape_.bytes();
      if (reduction_.spreads()) sums_.push_back(assembly_.buffer(to.tile, sums, "sums"));
    }
  }

  const Partition& partition_;
  const Shape& shape_;
  const sparse::BlockMatrix& w_;
  const data::DenseOperand& x_;
  Region region_;
  Assembly assembly_;
  Reduction reduction_;
  std::vector<BufferId> y_;                                       ///< by tile
  std::vector<BufferId> received_, sums_;                         ///< by destination
  std::vector<BufferId> given_x_, given_values_;                  ///< by tile, X in order of blocks
  std::vector<BufferId> x_by_rows_, x_rows_, y_blocks_, y_rows_;  ///< where rows are made of blocks
  TilesOfParts tiles_;
};

}  // namespace

program::Program build_program(const Partition& partition, const sparse::BlockMatrix& w,
                               const data::DenseOperand& x, std::uint32_t contexts, Region region) {
  return Builder(partition, w, x, contexts, region).build();
}

}  // namespace tessera::spmm_static
