#include "kernels/spmm_static/element_work.h"
#include "kernels/spmm_static/steps.h"
#include "kernels/spmm_static/work_list.h"

namespace tessera::spmm_static {

using program::Argument;

namespace {

/// One tile's part of the product.
class TileProduct {
 public:
  TileProduct(Assembly& assembly, const Partition& partition, const Part& part, const Share& share,
              const TileBuffers& buffers)
      : assembly_(assembly),
        partition_(partition),
        shape_(partition.shape),
        part_(part),
        share_(share),
        buffers_(buffers),
        list_(assembly.list(tile(), row_list(partition, part, share), "list")) {}

  [[nodiscard]] program::Vertex blocks() {
    const std::uint32_t width = part_.width();
    const std::uint32_t unroll = shape_.unroll();
    const std::uint32_t x_bytes = shape_.x_depth() * shape_.bytes();  // of a position
    const std::uint32_t y_bytes = shape_.y_depth() * shape_.partial_bytes();
    std::vector<Argument> arguments{Place{buffers_.values},
                                    Place{buffers_.x},
                                    Place{list_},
                                    word(share_.rows.size()),
                                    width * x_bytes,
                                    0U,
                                    0U,
                                    0U};
    const sparse::EvenSplit loops{width / unroll, assembly_.contexts()};
    for (std::uint32_t w = 0; w < loops.parts; ++w) {
      const std::uint32_t first = word(loops.begin(w)) * unroll;
      arguments.emplace_back(first * x_bytes);
      arguments.emplace_back(Place{buffers_.partials, first * y_bytes});
      arguments.emplace_back(word(loops.part(w).size()) - (unroll == 1 ? 3 : 2));
      arguments.emplace_back(word(partition_.row_bytes(part_)));
      arguments.emplace_back(width * y_bytes);
      arguments.emplace_back(0U);
    }
    return {TileId(tile()), assembly_.codelet("blocks_" + shape_.name()),
            program::Executor::supervisor, 0, std::move(arguments)};
  }

  /// Passes of `pass` words of a row, of which there are `passes`.
  [[nodiscard]] program::Vertex elements(std::uint32_t pass, std::uint32_t passes) {
    const std::uint32_t words = part_.width() * shape_.bytes() / 8;
    const ElementCode code = element_code(shape_, pass);
    const std::uint32_t done = pass == 2 ? 0 : words / 2 * 16;  // bytes of a row of X
    const std::uint32_t widen = shape_.partial_bytes() / shape_.bytes();
    std::vector<Argument> arguments{Place{buffers_.x, done}, Place{buffers_.partials, done * widen},
                                    words * 8, words * 8 * widen};
    for (const WorkerShare& worker : divide(share_, code, passes, assembly_.contexts())) {
      const std::uint64_t before =
          worker.rows == 0 ? share_.first : share_.rows[worker.first_row].first;
      const std::uint64_t skipped = before - share_.first;
      arguments.emplace_back(Place{list_, word(2 * (skipped + worker.first_row))});
      arguments.emplace_back(
          Place{buffers_.values, word((value(before) - value(share_.first)) * shape_.bytes())});
      arguments.emplace_back(worker.rows);
      arguments.emplace_back(worker.passes);
      arguments.emplace_back(worker.first_pass * pass * 8);
      arguments.emplace_back(worker.first_row * words * 8 * widen +
                             worker.first_pass * pass * 8 * widen);
    }
    return {TileId(tile()), assembly_.codelet(code.codelet), program::Executor::all_workers, 0,
            std::move(arguments)};
  }

 private:
  [[nodiscard]] std::uint32_t tile() const { return part_.first_tile + share_.place; }
  [[nodiscard]] std::uint64_t value(std::uint64_t block) const {
    return partition_.deal.value_begin[block];
  }

  Assembly& assembly_;
  const Partition& partition_;
  const sparse::Shape& shape_;
  const Part& part_;
  const Share& share_;
  const TileBuffers& buffers_;
  BufferId list_;
};

}  // namespace

program::ComputeSet multiplied(Assembly& assembly, const Partition& partition,
                               const TilesOfParts& tiles) {
  program::ComputeSet set{"multiply", {}};
  for (std::uint32_t p = 0; p < partition.parts.size(); ++p) {
    const Part& part = partition.parts[p];
    const Layer& layer = partition.layer(part);
    const std::uint32_t words = part.width() * partition.shape.bytes() / 8;
    for (std::uint32_t s = 0; s < layer.shares.size(); ++s) {
      TileProduct product(assembly, partition, part, layer.shares[s], tiles[p][s]);
      if (partition.shape.block > 1) {
        set.vertices.push_back(product.blocks());
      } else {
        if (words >= 2) set.vertices.push_back(product.elements(2, words / 2));
        if (words % 2 == 1) set.vertices.push_back(product.elements(1, 1));
      }
    }
  }
  return set;
}

}  // namespace tessera::spmm_static
