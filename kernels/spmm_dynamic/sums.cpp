#include "kernels/spmm_dynamic/steps.h"

namespace tessera::spmm_dynamic {

using program::ComputeSet;
using program::Exchange;
using program::Executor;
using program::Vertex;

namespace {

class Writer {
 public:
  explicit Writer(Work& work)
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
    for (const Cell& one : cells_) {
      if (share(one).size() == 0) continue;
      if (bytes_.parts > 1) set.vertices.push_back(add_vertex(one));
      if (shape_.mixed()) set.vertices.push_back(pack_vertex(one));
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

  [[nodiscard]] Vertex add_vertex(const Cell& one) const {
    const Interval chunks = share(one);
    const Place sums = partial(one, chunks.begin);
    const std::uint32_t codelet =
        assembly_.codelet(shape_.partials == Type::f16 ? "gemm_add_f16" : "gemm_add_f32");
    Vertex vertex{one.tile, codelet, Executor::all_workers, 0, {}};
    vertex.arguments = {sums,
                        Place{one.received},
                        word(chunks.size()) * kChunkBytes,
                        bytes_.parts - 1,
                        shape_.mixed() ? sums : Place{one.results},
                        0U,
                        0U,
                        0U};
    add_chunks(vertex, chunks.size());
    return vertex;
  }

  [[nodiscard]] Vertex pack_vertex(const Cell& one) const {
    const Interval chunks = share(one);
    const std::uint32_t codelet = assembly_.codelet("gemm_pack");
    Vertex vertex{one.tile,
                  codelet,
                  Executor::all_workers,
                  0,
                  {partial(one, chunks.begin), Place{one.results}}};
    vertex.arguments.resize(8, 0U);
    add_chunks(vertex, chunks.size());
    return vertex;
  }

  void add_chunks(Vertex& vertex, std::uint64_t chunks) const {
    const EvenSplit split{chunks, assembly_.contexts()};
    for (std::uint32_t w = 0; w < assembly_.contexts(); ++w) {
      vertex.arguments.emplace_back(word(split.begin(w)) * kChunkBytes);
      vertex.arguments.emplace_back(word(split.part(w).size()));
    }
  }

  sparse::Assembly& assembly_;
  const Cells& cells_;
  const Shape& shape_;
  const Buffers& bytes_;
};

}  // namespace

void add_sums(Work& work) {
  const Writer writer(work);
  Exchange exchange = writer.send();
  if (!exchange.copies.empty()) work.assembly.add_step(std::move(exchange), work.measured);
  ComputeSet set = writer.add();
  if (!set.vertices.empty()) work.assembly.add_step(std::move(set), work.measured);
}

}  // namespace tessera::spmm_dynamic
