#include <algorithm>
#include <set>

#include "kernels/pixelfly/sampled.h"
#include "kernels/pixelfly/squares.h"
#include "kernels/pixelfly/tensors.h"
#include "kernels/pixelfly/unit_product.h"
#include "kernels/spmm_static/cost.h"
#include "kernels/spmm_static/work_list.h"
#include "kernels/spmm_static/worker_cycles.h"
#include "sim/base/errors.h"

namespace tessera::pixelfly {

using sparse::Assembly;

namespace {

// Bytes of a descriptor list: send and receive entries; code, stacks, argument blocks.
constexpr std::uint64_t kReceiveBytes = 16, kSendBytes = 12, kControlBytes = 4096;

constexpr FittedCost::Axis kMeasured{1, std::uint64_t{1} << 32};

/// Cycles of a sampled product on a machine, which is asked what the tile code takes.
class SampledCost {
 public:
  SampledCost(const sparse::Shape& shape, MachineCosts& costs)
      : shape_(shape),
        costs_(costs),
        steps_(costs),
        workers_(costs.machine().tile.contexts),
        dense_(costs),
        products_({{1, 1}, {1, 1}, {1, 1}, {1, 2}, kMeasured},
                  [this](const auto& sizes) { return measure_product(sizes); }),
        turning_(shape, costs) {}

  [[nodiscard]] const MachineCosts& costs() const { return costs_; }

  Prediction predict(const Sampled& plan) {
    Prediction sum;
    const Partition& partition = plan.partition;
    sparse::Traffic in(partition.tiles), out(partition.tiles);
    std::uint64_t most = 0;
    std::set<std::pair<std::uint32_t, std::uint32_t>> done;  // layer and width
    for (std::uint32_t tile = 0; tile < partition.tiles; ++tile) {
      for (const auto* rows : {&plan.a, &partition.x})
        for (const DenseRows& of : *rows) in.send(tile, of.storage.bytes_on(tile));
      const std::uint64_t elements = plan.results().bytes_on(tile) / shape_.bytes();
      out.receive(tile, elements * data::element_bytes(plan.partials()) * partition.parts.size());
    }
    for (const Part& part : partition.parts) {
      const bool fresh = done.insert({part.layer, part.width()}).second;
      for (const Share& share : partition.layer(part).shares) {
        const std::uint32_t tile = part.first_tile + share.place;
        in.receive(tile, plan.a_bytes(part, share) + plan.b_bytes(part, share));
        out.send(tile, plan.wanted_bytes(share));
        if (fresh) most = std::max(most, product(plan, part, share));
      }
    }
    steps_.add(sum, {in.most(costs_), most});
    steps_.add(sum, {out.most(costs_), adding(plan)});
    return sum;
  }

 private:
  std::uint64_t product(const Sampled& plan, const Part& part, const Share& share) {
    if (plan.on_unit) return unit_product_cycles(plan, part, share, dense_);
    const std::uint64_t words = part.width() * shape_.bytes() / 8;
    std::vector<spmm_static::WorkerCycles> workers;
    for (const SampledWorker& worker : divide(plan, share, workers_))
      workers.push_back({worker_cycles(worker, words, workers_), worker_cycles(worker, words, 1)});
    std::uint64_t cycles = together(workers);
    if (plan.turns()) {
      cycles += turning(part, share.rows.size());
      cycles += turning(part, share.columns.size());
    }
    return cycles;
  }

  /// Of so many block rows to rows of words.
  std::uint64_t turning(const Part& part, std::uint64_t blocks) {
    std::uint64_t& cycles = turned_[{part.width(), blocks}];
    if (cycles == 0)
      cycles = turning_(rows_in_blocks(shape_, part.width(), blocks * shape_.block),
                        sparse::Direction::to_rows);
    return cycles;
  }

  /// Of a worker, so many of which do the same.
  std::uint64_t worker_cycles(const SampledWorker& worker, std::uint64_t words,
                              std::uint64_t busy) {
    if (worker.rows == 0 || worker.passes == 0) return 0;
    const std::uint64_t rows = worker.rows;
    const auto cycles = [&](std::uint64_t blocks) {
      return products_({rows, blocks, worker.passes, words, busy});
    };
    // Rows have blocks in different numbers: of those more than the least, each takes as long.
    const std::uint64_t blocks = worker.own / rows;
    const std::uint64_t more = worker.own % rows;
    if (more == 0) return cycles(blocks);
    return cycles(blocks) + (cycles(blocks + 1) - cycles(blocks)) * more / rows;
  }

  std::uint64_t adding(const Sampled& plan) {
    const std::uint64_t elements = plan.results().each() / shape_.bytes();
    const std::uint64_t parts = plan.partition.parts.size();
    std::uint64_t& cycles = adding_[{elements, parts}];
    if (cycles == 0) {
      const sparse::Shape shape = summing(plan);
      cycles = vertex([&](Assembly& assembly, const auto& buffer) {
        return adding_vertex(assembly, shape, TileId{0},
                             {buffer(elements * parts * shape.partial_bytes())},
                             {buffer(elements * shape_.bytes())},
                             spmm_static::even_workers(shape, elements, parts, workers_));
      });
    }
    return cycles;
  }

  /// Block rows of a worker, blocks of each, rows of a block, words of a row, workers that do so.
  std::uint64_t measure_product(const FittedCost::Sizes& sizes) {
    const auto rows = word(sizes[0]);
    const auto blocks = word(sizes[1]);
    std::vector<std::uint16_t> list;
    for (std::uint32_t i = 0; i < rows; ++i) {
      list.push_back(0);
      list.push_back(static_cast<std::uint16_t>(blocks));
      list.insert(list.end(), blocks, 0);
    }
    const std::uint64_t row = sizes[3] * 8;
    const std::uint64_t values =
        std::uint64_t{rows} * blocks * shape_.block * shape_.block * sizeof(float);
    // All write the same: what they take is asked, not what comes out.
    std::vector<SampledWorker> workers(sizes[4], {rows, 0, word(sizes[2]), 0, 0, 0});
    workers.resize(workers_);
    return vertex([&](Assembly& assembly, const auto& buffer) {
      SampledTile buffers{};
      buffers.a_rows = buffer(row * shape_.block);
      buffers.b_rows = buffer(row * shape_.block);
      buffers.partial = buffer(values);
      return gradient_vertex(assembly, shape_, TileId{0}, buffers, assembly.list(0, list, "list"),
                             word(row / shape_.bytes()), workers);
    });
  }

  template <class Make>
  std::uint64_t vertex(const Make& make) {
    return steps_.vertex([&](program::Program& program) {
      Assembly assembly(code_, program, workers_);
      return make(assembly, [&](std::uint64_t bytes) {
        return assembly.buffer(0, std::max<std::uint64_t>(bytes, 8), "sample");
      });
    });
  }

  const sparse::Shape shape_;
  MachineCosts& costs_;
  StepCosts steps_;
  sparse::TileCode code_;
  std::uint32_t workers_;
  gemm::VertexCosts dense_;
  FittedCost products_;
  sparse::TranspositionCost turning_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> turned_;  ///< by width, blocks
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> adding_;
};

bool has_block(const sparse::BlockMatrix& matrix, std::uint32_t row, std::uint32_t column) {
  const std::uint64_t e = block_index(matrix, row, column);
  return e < matrix.row_begin[row + 1] && matrix.column[e] == column;
}

/// The places of the blocks that one of so many block rows of a pattern has, as a block row.
sparse::BlockMatrix together(const sparse::BlockMatrix& pattern, std::uint32_t rows) {
  sparse::BlockMatrix all;
  all.block = pattern.block;
  all.columns = pattern.columns;
  all.rows = ceil_div(pattern.block_rows(), rows) * pattern.block;
  all.row_begin.push_back(0);
  for (std::uint32_t first = 0; first < pattern.block_rows(); first += rows) {
    const std::uint32_t end = std::min(first + rows, pattern.block_rows());
    std::vector<std::uint32_t> columns(
        pattern.column.begin() + static_cast<std::ptrdiff_t>(pattern.row_begin[first]),
        pattern.column.begin() + static_cast<std::ptrdiff_t>(pattern.row_begin[end]));
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    all.column.insert(all.column.end(), columns.begin(), columns.end());
    all.row_begin.push_back(all.column.size());
  }
  return all;
}

class SampledSearch {
 public:
  SampledSearch(const sparse::BlockMatrix& pattern, const sparse::Shape& shape, std::uint32_t n,
                MachineCosts& costs, const SampledOperands& operands)
      : pattern_(pattern),
        shape_(shape),
        n_(n),
        tiles_(costs.machine().tiles),
        room_(std::uint64_t{costs.machine().tile.sram_kib} * 1024),
        operands_(operands),
        together_(operands.on_unit ? shape.unit.columns / shape.y_depth() : 1),
        dealt_(together(pattern, together_)),
        cost_(shape, costs) {}

  void look(std::uint32_t parts, std::uint32_t bands) {
    const std::uint32_t grain = operands_.on_unit ? square_columns(shape_) : 0;
    spmm_static::Cuts cuts{parts, bands};
    cuts.grain = grain;
    Sampled plan{make_partition(dealt_, shape_, n_, tiles_, cuts, {}, operands_.b),
                 operands_.a,
                 {},
                 operands_.on_unit,
                 operands_.transposed,
                 together_,
                 pattern_.block_rows()};
    add_wanted(plan);
    if (plan.partition.parts.empty() || !(plan.on_unit || named(plan))) return;
    const program::CategoryBytes need = plan.memory(operands_.beside);
    if (program::total(need) > room_) {
      if (!closest_ || program::total(need) < program::total(*closest_)) closest_ = need;
      return;
    }
    plan.prediction = cost_.predict(plan);
    if (best_ && best_->prediction.cycles <= plan.prediction.cycles) return;
    best_ = std::move(plan);
  }

  [[nodiscard]] Sampled take() {
    if (best_) return *std::move(best_);
    const std::string what = fmt::format(
        "pixelfly: the gradient of {} blocks of {} over {} columns does not fit {} tiles",
        pattern_.blocks(), pattern_.block, n_, tiles_);
    if (!closest_) throw UserError(what + ": its intervals need more tiles");
    throw UserError(program::overflow_message(what, {&*closest_, 1}, cost_.costs().machine()));
  }

 private:
  /// Whether lists of 16 bits can name all places, and strides of 16 bits reach.
  [[nodiscard]] static bool named(const Sampled& plan) {
    for (const Part& part : plan.partition.parts) {
      const std::uint64_t step = place_step(plan.partition, part);
      if (part.width() * plan.partition.shape.bytes() > 0x8000) return false;
      for (const Share& share : plan.partition.layer(part).shares)
        if (std::max(share.rows.size(), share.columns.size()) * step > 0xffff) return false;
    }
    return true;
  }

  /// The blocks of the pattern that each dealt one has.
  void add_wanted(Sampled& plan) const {
    const spmm_static::Deal& deal = plan.partition.deal;
    plan.blocks.reserve(pattern_.blocks());
    plan.of_dealt.reserve(deal.blocks() + 1);
    for (std::uint64_t e = 0; e < deal.blocks(); ++e) {
      plan.of_dealt.push_back(plan.blocks.size());
      const std::uint32_t first = deal.row[e] * together_;
      const std::uint32_t end = std::min(first + together_, pattern_.block_rows());
      for (std::uint32_t row = first; row < end; ++row)
        if (together_ == 1 || has_block(pattern_, row, deal.column[e]))
          plan.blocks.push_back({row, deal.column[e]});
    }
    plan.of_dealt.push_back(plan.blocks.size());
  }

  const sparse::BlockMatrix& pattern_;
  const sparse::Shape& shape_;
  std::uint32_t n_, tiles_;
  std::uint64_t room_;
  const SampledOperands& operands_;
  std::uint32_t together_;
  sparse::BlockMatrix dealt_;  ///< the pattern as it is multiplied
  SampledCost cost_;
  std::optional<Sampled> best_;
  std::optional<program::CategoryBytes> closest_;
};

void require_at_most(const std::string& key, std::uint32_t found, std::uint32_t most) {
  if (found > most) throw KeyError(key, fmt::format("found {}, allowed 0 to {}", found, most));
}

}  // namespace

program::CategoryBytes Sampled::memory(std::uint64_t beside) const {
  const std::uint64_t size = partition.shape.bytes();
  const std::uint64_t made = results().each();
  std::uint64_t given = 0;
  for (const auto* rows : {&a, &partition.x})
    for (const DenseRows& of : *rows) given += of.storage.each();
  std::uint64_t tensors =
      made + made / size * data::element_bytes(partials()) * partition.parts.size();
  std::uint64_t lists = 0;
  for (const Part& part : partition.parts) {
    for (const Share& share : partition.layer(part).shares) {
      const std::uint64_t a_held = a_bytes(part, share);
      const std::uint64_t held = a_held + b_bytes(part, share);
      const std::uint64_t list =
          on_unit ? 0 : 4 * (share.rows.size() + share.blocks()) + (turns() ? 20 * 2 * 16 : 0);
      const std::uint64_t copies = on_unit ? a_held : turns() ? held : 0;
      tensors = std::max(tensors, given + held + copies + partial_bytes(share) + list);
      std::uint64_t received = share.rows.size() + share.columns.size();
      std::uint64_t sent = share.blocks();
      if (on_unit) {
        received = share.rows.size() + unit_receives(*this, part, share);
        sent = wanted(share) * partition.shape.output_runs() * (together > 1 ? line() : 1);
      }
      lists = std::max(lists, kReceiveBytes * received + kSendBytes * sent);
    }
  }
  program::CategoryBytes memory{};
  memory[static_cast<std::size_t>(program::Category::code)] = kControlBytes;
  memory[static_cast<std::size_t>(program::Category::tensors)] = tensors + beside;
  // A line of a block comes from one place where its rows have not been weights alone.
  const std::uint64_t pieces = together > 1 ? ceil_div<std::uint64_t>(made / size, line()) : 1;
  memory[static_cast<std::size_t>(program::Category::exchange)] =
      lists + kReceiveBytes * partition.parts.size() * pieces;
  return memory;
}

Sampled plan_sampled(const sparse::BlockMatrix& pattern, const sparse::Shape& shape,
                     std::uint32_t n, MachineCosts& costs, const PinnedCuts& pinned,
                     const SampledOperands& operands, const std::string& keys) {
  const std::uint32_t tiles = costs.machine().tiles;
  const std::uint32_t grain = operands.on_unit ? square_columns(shape) : shape.lanes();
  const std::uint32_t most = std::min(ceil_div(n, grain), tiles);
  require_at_most(keys + ".parts", pinned.parts, most);
  require_at_most(keys + ".bands", pinned.bands, pattern.block_columns());
  SampledSearch search(pattern, shape, n, costs, operands);
  for (std::uint32_t parts = 1; parts <= most; parts += std::max(1U, parts / 4))
    for (const std::uint32_t bands : {1U, 2U, 4U, 8U}) {
      if (pinned.parts != 0 && parts > 1) break;
      if (pinned.bands != 0 && bands > 1) break;
      if (bands > pattern.block_columns()) break;
      search.look(pinned.parts != 0 ? pinned.parts : parts,
                  pinned.bands != 0 ? pinned.bands : bands);
    }
  return search.take();
}

}  // namespace tessera::pixelfly
