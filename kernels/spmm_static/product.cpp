#include "kernels/spmm_static/product.h"

namespace tessera::spmm_static {

Product::Product(Assembly& assembly, const Partition& partition, const sparse::BlockMatrix& w,
                 std::string name, Region region)
    : assembly_(assembly),
      partition_(partition),
      w_(w),
      name_(std::move(name)),
      region_(region),
      reduction_(partition) {}

std::vector<kernels::Interval> values_given(const Partition& partition) {
  std::vector<kernels::Interval> numbers;
  if (partition.shares_values()) {
    const EvenStorage storage = partition.value_storage();
    const std::uint64_t size = partition.shape.bytes();
    for (std::uint32_t tile = 0; tile < storage.tiles(); ++tile)
      numbers.push_back({storage.begin(tile) / size, storage.begin(tile + 1) / size});
    return numbers;
  }
  const auto& first = partition.deal.value_begin;
  for (const Part& part : partition.parts)
    for (const Share& share : partition.layer(part).shares)
      numbers.push_back({first[share.first], first[share.last]});
  return numbers;
}

void Product::add_steps(const BuffersOfRows& x, const std::vector<BufferId>& results) {
  if (partition_.deal.blocks() > 0) multiply(x);
  add_up(results);
}

void Product::multiply(const BuffersOfRows& x) {
  const bool again = !tiles_.empty();
  if (partition_.shares_values() && values_.empty()) {
    values_ = assembly_.stored(partition_.value_storage(), "w", values_from(0));
  }
  add_tiles();
  if (change_ && !again) change_(given_values());
  add_step(inputs(partition_, x, again ? std::vector<BufferId>{} : values_, tiles_),
           region_ == Region::all);
  add_step(multiplied(assembly_, partition_, tiles_), region_ != Region::add);
}

void Product::add_up(const std::vector<BufferId>& results) {
  const bool measured = region_ != Region::multiply;
  if (reduction_.direct()) {
    add_step(results_sent(partition_, reduction_, tiles_, results, zeros()), measured);
    return;
  }
  add_received();
  if (partition_.deal.blocks() > 0) {
    add_step(partials_sent(partition_, reduction_, tiles_, received_), region_ == Region::all);
  }
  add_step(added(assembly_, partition_, reduction_, received_, results, sums_), measured);
  if (reduction_.spreads()) {
    add_step(sums_sent(partition_, reduction_, sums_, results), measured);
  }
}

/// What rows of Y without blocks come from, by destination: each tile has its own, since one that
/// sent them to all would hold them up.
std::vector<BufferId> Product::zeros() {
  std::vector<BufferId> zeros;
  for (const Destination& to : reduction_.destinations()) {
    zeros.push_back(
        assembly_.buffer(to.tile, longest_empty(to) * partition_.shape.bytes(), "zeros",
                         [](std::span<std::byte> into) { std::ranges::fill(into, std::byte{}); }));
  }
  return zeros;
}

/// The values of W from number `first` of the deal on. Contents refer to the workload, which
/// outlives them, not to this product.
Assembly::Fill Product::values_from(std::uint64_t first) const {
  return [&partition = partition_, &w = w_, first](std::uint64_t byte, std::span<std::byte> into) {
    fill_values(partition.deal, w, partition.shape, first + byte / partition.shape.bytes(), into);
  };
}

void Product::add_tiles() {
  const TilesOfParts before = std::exchange(tiles_, {});
  for (const Part& part : partition_.parts) {
    auto& tiles = tiles_.emplace_back();
    for (const Share& share : partition_.layer(part).shares) {
      const std::uint32_t tile = part.first_tile + share.place;
      TileBuffers buffers{};
      buffers.x = assembly_.buffer(tile, partition_.x_bytes(part, share), "x needed");
      buffers.partials =
          assembly_.buffer(tile, share.rows.size() * partition_.row_bytes(part), "partial rows");
      if (!before.empty()) {
        buffers.values = before[tiles_.size() - 1][tiles.size()].values;
        tiles.push_back(buffers);
        continue;
      }
      const std::uint64_t bytes = round_up(partition_.value_bytes(share), std::uint64_t{8});
      const std::uint64_t first = partition_.deal.value_begin[share.first];
      Assembly::Contents fill;
      if (values_.empty()) {
        fill = [values = values_from(first)](auto into) { values(0, into); };
      }
      buffers.values = assembly_.buffer(tile, bytes, "w needed", std::move(fill));
      tiles.push_back(buffers);
    }
  }
}

std::vector<HeldValues> Product::given_values() const {
  const std::vector<kernels::Interval> numbers = values_given(partition_);
  std::vector<HeldValues> given;
  if (!values_.empty()) {
    for (std::size_t tile = 0; tile < numbers.size(); ++tile)
      given.push_back({values_[tile], numbers[tile]});
    return given;
  }
  for (const auto& part : tiles_)
    for (const TileBuffers& each : part) given.push_back({each.values, numbers[given.size()]});
  return given;
}

void Product::add_received() {
  received_.clear();
  sums_.clear();
  for (const Destination& to : reduction_.destinations()) {
    received_.push_back(
        assembly_.buffer(to.tile, std::max<std::uint64_t>(to.received, 8), "partials received"));
    const std::uint64_t sums = to.home ? 8 : to.elements * partition_.shape.bytes();
    if (reduction_.spreads()) sums_.push_back(assembly_.buffer(to.tile, sums, "sums"));
  }
}

}  // namespace tessera::spmm_static
