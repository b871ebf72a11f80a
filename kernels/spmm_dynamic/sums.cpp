#include "kernels/spmm_dynamic/sums.h"

#include "sim/elf/codelet.h"

namespace tessera::spmm_dynamic {

using gemm::EvenSplit;
using gemm::Interval;
using program::ComputeSet;
using program::Exchange;
using program::Executor;
using program::Place;
using program::Vertex;

namespace {

std::uint32_t word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

class Writer {
 public:
  explicit Writer(const Sums& sums)
      : sums_(sums), cells_(sums.cells), shape_(sums.shape), bytes_(sums.bytes) {}

  [[nodiscard]] Exchange send() const {
    Exchange exchange{"send partial results", {}};
    for (const Cell& one : cells_) {
      send_parts(one, exchange);
      if (bytes_.parts == 1 && !shape_.packs()) {  // sums as they are: results
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
      if (shape_.packs()) set.vertices.push_back(pack_vertex(one));
    }
    return set;
  }

 private:
  [[nodiscard]] bool values() const { return shape_.values; }
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
    const std::uint32_t codelet = sums_.program.add_codelet(elf::embedded_codelet(
        "gemm", shape_.sums == program::Type::f16 ? "gemm_add_f16" : "gemm_add_f32"));
    Vertex vertex{one.tile, codelet, Executor::all_workers, 0, {}};
    vertex.arguments = {sums,
                        Place{one.received},
                        word(chunks.size()) * kChunkBytes,
                        bytes_.parts - 1,
                        shape_.packs() ? sums : Place{one.results},
                        0U,
                        0U,
                        0U};
    add_chunks(vertex, chunks.size());
    return vertex;
  }

  [[nodiscard]] Vertex pack_vertex(const Cell& one) const {
    const Interval chunks = share(one);
    const std::uint32_t codelet =
        sums_.program.add_codelet(elf::embedded_codelet("gemm", "gemm_pack"));
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
    const EvenSplit split{chunks, sums_.contexts};
    for (std::uint32_t w = 0; w < sums_.contexts; ++w) {
      vertex.arguments.emplace_back(word(split.begin(w)) * kChunkBytes);
      vertex.arguments.emplace_back(word(split.part(w).size()));
    }
  }

  const Sums& sums_;
  const Cells& cells_;
  const Shape& shape_;
  const Buffers& bytes_;
};

}  // namespace

void add_sums(const Sums& sums, bool measured, program::Sequence& steps) {
  const Writer writer(sums);
  Exchange exchange = writer.send();
  if (!exchange.copies.empty()) steps.steps.push_back({std::move(exchange), measured});
  ComputeSet set = writer.add();
  if (!set.vertices.empty()) steps.steps.push_back({std::move(set), measured});
}

}  // namespace tessera::spmm_dynamic
