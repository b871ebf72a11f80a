#include "kernels/spmm_static/spmm_static.h"
#include "kernels/spmm_static/steps.h"

namespace tessera::spmm_static {

using sparse::Direction;

namespace {

class Builder {
 public:
  Builder(const Partition& partition, const sparse::BlockMatrix& w, const data::DenseOperand& x,
          std::uint32_t contexts, Region region)
      : partition_(partition),
        shape_(partition.shape),
        w_(w),
        x_(x),
        all_(region == Region::all),
        region_(region),
        program_(partition.tiles),
        assembly_(code_, program_, contexts),
        reduction_(partition) {}

  program::Program build() {
    add_results();
    if (partition_.deal.blocks() > 0) {
      add_given();
      add_tiles();
      if (partition_.relayouts()) add_rows_in();
      assembly_.add_step(inputs(partition_, given_x_, given_values_, tiles_), all_);
      assembly_.add_step(multiplied(assembly_, partition_, tiles_),
                         all_ || region_ == Region::multiply);
    }
    add_up();
    if (relayouts_results()) add_rows_out();
    return std::move(program_);
  }

 private:
  /// Rows of X to panels, and these to blocks.
  void add_rows_in() {
    const EvenStorage storage = partition_.x_storage();
    const auto part = [&](std::uint64_t t) {
      return partition_.chunks(storage, shape_.x_depth(), t);
    };
    program::Exchange exchange{"relayout x", {}};
    program::ComputeSet set{"relayout x", {}};
    for (std::uint32_t t = 0; t < storage.tiles(); ++t) {
      sparse::rows_to_panels(exchange, {shape_, storage, x_by_rows_}, part(t), x_rows_[t]);
      sparse::add_transposition(assembly_, set, shape_, TileId(t), part(t), {x_rows_[t]},
                                {given_x_[t]}, Direction::to_blocks);
    }
    assembly_.add_step(std::move(exchange), all_);
    assembly_.add_step(std::move(set), all_);
  }
  /// Blocks of Y to panels of rows, and these to where they are wanted.
  void add_rows_out() {
    const EvenStorage storage = partition_.y_storage();
    program::ComputeSet set{"relayout y", {}};
    program::Exchange exchange{"relayout y", {}};
    for (std::uint32_t t = 0; t < storage.tiles(); ++t) {
      const sparse::Chunked part = partition_.chunks(storage, shape_.block, t);
      sparse::add_transposition(assembly_, set, shape_, TileId(t), part, {y_blocks_[t]},
                                {y_rows_[t]}, Direction::to_rows);
      sparse::panels_to_rows(exchange, {shape_, storage, y_}, part, y_rows_[t]);
    }
    assembly_.add_step(std::move(set), all_);
    assembly_.add_step(std::move(exchange), all_);
  }

  void add_up() {
    const bool measured = region_ != Region::multiply;
    const std::vector<BufferId>& results = relayouts_results() ? y_blocks_ : y_;
    if (reduction_.direct()) {
      assembly_.add_step(results_sent(partition_, reduction_, tiles_, results, zeros()), measured);
      return;
    }
    add_received();
    if (partition_.deal.blocks() > 0) {
      assembly_.add_step(partials_sent(partition_, reduction_, tiles_, received_), all_);
    }
    assembly_.add_step(added(assembly_, partition_, reduction_, received_, results, sums_),
                       measured);
    if (reduction_.spreads()) {
      assembly_.add_step(sums_sent(partition_, reduction_, sums_, results), measured);
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
      const std::uint32_t bytes = partition_.y_storage().bytes_on(t);
      y_.push_back(assembly_.buffer(t, bytes, "y", {}, true));
      if (bytes > 0) y.parts.push_back({{y_.back(), 0}, bytes});
    }
    assembly_.program().add_tensor(std::move(y));
    if (!relayouts_results()) return;
    y_blocks_ = assembly_.stored(partition_.y_storage(), "y in blocks");
    y_rows_ = assembly_.stored(partition_.y_storage(), "y in rows");
  }
  /// Zeros need none.
  [[nodiscard]] bool relayouts_results() const {
    return partition_.relayouts() && partition_.deal.blocks() > 0;
  }

  /// Equal parts of X, and of the values of W where several tiles take the same. Contents refer to
  /// the workload, which outlives them, not to this builder.
  void add_given() {
    const EvenStorage storage = partition_.x_storage();
    std::vector<BufferId> given = assembly_.stored(
        storage, "x",
        [&partition = partition_, &x = x_](std::uint64_t first, std::span<std::byte> into) {
          const sparse::Shape& shape = partition.shape;
          first /= shape.bytes();
          if (partition.relayouts())
            return sparse::fill_rows(shape.type, x, partition.columns, first, into);
          sparse::fill_chunks(shape.type, x,
                              partition.chunks(partition.x_storage(), shape.x_depth(), 0), first,
                              into);
        });
    if (partition_.relayouts()) {
      x_by_rows_ = std::move(given);
      x_rows_ = assembly_.stored(storage, "x in rows");
      given_x_ = assembly_.stored(storage, "x in blocks");
    } else {
      given_x_ = std::move(given);
    }
    if (partition_.shares_values()) {
      given_values_ = assembly_.stored(partition_.value_storage(), "w", values_from(0));
    }
  }

  /// The values of W from number `first` of the deal on.
  [[nodiscard]] Assembly::Fill values_from(std::uint64_t first) const {
    return [&partition = partition_, &w = w_, first](std::uint64_t byte,
                                                     std::span<std::byte> into) {
      fill_values(partition.deal, w, partition.shape, first + byte / partition.shape.bytes(), into);
    };
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
          fill = [values = values_from(first)](auto into) { values(0, into); };
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
  const sparse::Shape& shape_;
  const sparse::BlockMatrix& w_;
  const data::DenseOperand& x_;
  bool all_;  ///< steps are measured
  Region region_;
  sparse::TileCode code_;
  program::Program program_;
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
