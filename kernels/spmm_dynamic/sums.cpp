#include "kernels/spmm_dynamic/steps.h"

namespace tessera::spmm_dynamic {

using program::ComputeSet;
using program::Exchange;

namespace {

class PartialSums {
 public:
  explicit PartialSums(Work& work)
      : assembly_(work.assembly), cells_(work.cells), shape_(work.shape()), bytes_(work.bytes) {}

  [[nodiscard]] Exchange send() const {
    Exchange exchange{"send partial results", {}};
    for (const Cell& one : cells_) {
      send_parts(one, exchange);
      if (bytes_.parts == 1 && !shape_.mixed()) {  // sums as they are: results
        exchange.copies.push_back(
            {partial(one, 0), word(share(one).size()) * kChunkBytes, {{one.results}}});
      }
    }
    return exchange;
  }

  [[nodiscard]] ComputeSet add() const {
    ComputeSet set{"add", {}};
    gemm::Vertices dense = assembly_.dense();
    for (const Cell& one : cells_) {
      if (share(one).size() == 0) continue;
      const Interval chunks = share(one);
      const std::uint64_t bytes = chunks.size() * kChunkBytes;
      const Place sums = partial(one, chunks.begin);
      if (bytes_.parts > 1)
        set.vertices.push_back(dense.adding(one.tile, shape_.partials, bytes, bytes_.parts - 1,
                                            sums, {one.received},
                                            shape_.mixed() ? sums : Place{one.results}));
      if (shape_.mixed())
        set.vertices.push_back(dense.packing(one.tile, bytes, sums, {one.results}));
    }
    return set;
  }

 private:
  [[nodiscard]] bool values() const { return shape_.gradient; }
  [[nodiscard]] Interval share(const Cell& one) const { return bytes_.share(one.y, one.z); }

  /// The cell that adds up part `part` of what this one computes.
  [[nodiscard]] const Cell& adder(const Cell& one, std::uint32_t part) const {
    return values() ? cells_.at(one.x, one.y, part) : cells_.at(one.x, part, one.z);
  }
  [[nodiscard]] Place partial(const Cell& one, std::uint64_t chunk) const {
    const std::uint32_t offset = word(chunk) * kChunkBytes;
    return values() ? Place{one.pool[0], bytes_.meta + offset} : Place{one.y_rows, offset};
  }

  void send_parts(const Cell& one, Exchange& exchange) const {
    const std::uint32_t own = values() ? one.z : one.y;
    for (std::uint32_t part = 0; part < bytes_.parts; ++part) {
      const Cell& to = adder(one, part);
      const Interval chunks = share(to);
      if (part == own || chunks.size() == 0) continue;
      const std::uint32_t place = own < part ? own : own - 1;
      exchange.copies.push_back({partial(one, chunks.begin),
                                 word(chunks.size()) * kChunkBytes,
                                 {{to.received, place * word(chunks.size()) * kChunkBytes}}});
    }
  }

  sparse::Assembly& assembly_;
  const Cells& cells_;
  const Shape& shape_;
  const Buffers& bytes_;
};

}  // namespace

void add_sums(Work& work) {
  const PartialSums sums(work);
  Exchange exchange = sums.send();
  if (!exchange.copies.empty()) work.assembly.add_step(std::move(exchange), work.measured);
  ComputeSet set = sums.add();
  if (!set.vertices.empty()) work.assembly.add_step(std::move(set), work.measured);
}

}  // namespace tessera::spmm_dynamic
