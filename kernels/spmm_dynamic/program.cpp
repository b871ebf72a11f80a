#include "kernels/gemm/shape.h"
#include "kernels/spmm_dynamic/given.h"
#include "kernels/spmm_dynamic/multiply.h"
#include "kernels/spmm_dynamic/propagation.h"
#include "kernels/spmm_dynamic/relayout.h"
#include "kernels/spmm_dynamic/spmm_dynamic.h"
#include "kernels/spmm_dynamic/sums.h"
#include "sim/base/errors.h"
#include "sim/elf/codelet.h"

namespace tessera::spmm_dynamic {

using gemm::EvenSplit;
using gemm::Interval;
using program::BufferId;
using program::ComputeSet;
using program::Copy;
using program::Exchange;
using program::Sequence;

namespace {

std::uint32_t word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

}  // namespace

/// Builds the program for all tiles of the grid: buffers and distribution; the other steps are
/// those of multiply.h, propagation.h, sums.h and relayout.h.
class Builder {
 public:
  explicit Builder(const SpmmDynamic& workload, std::uint32_t contexts)
      : workload_(workload),
        shape_(workload.problem_.shape),
        pool_(workload.plan_.pool),
        grid_(pool_.grid),
        bytes_(workload.problem_, pool_),
        contexts_(contexts),
        all_(workload.options_.region == Region::all),
        program_(workload.tiles_),
        cells_(grid_),
        given_{workload.problem_, pool_, workload.patterns_, workload.packings_} {}

  program::Program build() {
    add_results();
    each_cell([this](Cell& cell) { add_buffers(cell); });
    Sequence& main = program_.main();
    const Problem& problem = workload_.problem_;
    if (shape_.natural()) add_rows_in(program_, problem, pool_, cells_, all_);
    distribute(main);
    propagate(main);
    add_sums({program_, cells_, shape_, bytes_, contexts_}, all_, main);
    if (shape_.natural() && !values()) add_rows_out(program_, problem, pool_, cells_, all_);
    return std::move(program_);
  }

 private:
  [[nodiscard]] bool values() const { return shape_.values; }

  [[nodiscard]] const Cell& cell(std::uint32_t x, std::uint32_t y, std::uint32_t z) const {
    return cells_.at(x, y, z);
  }
  template <class Visit>
  void each_cell(const Visit& visit) {
    for (Cell& one : cells_) visit(one);
  }

  std::uint32_t add_codelet(const std::string& name) {
    return program_.add_codelet(elf::embedded_codelet("spmm_dynamic", name));
  }

  BufferId add_buffer(TileId tile, std::string_view name, std::uint32_t bytes) {
    return program_.add_buffer({tile, bytes, 8, false, program::Category::tensors, {}, name});
  }

  // --- buffers --------------------------------------------------------------------------------

  /// The parts of the results, first, so that checks find them by number.
  void add_results() {
    program::Tensor tensor{values() ? "wg" : "y", shape_.dtype, {}, {}};
    const bool rows = shape_.natural() && !values();
    each_cell([&](Cell& one) {
      const std::uint32_t bytes =
          rows ? word(given_rows(workload_.problem_, grid_, workload_.problem_.block_rows,
                                 index(one.tile))
                          .size()) *
                     shape_.element_bytes()
               : result_bytes(one);
      one.results = program_.add_buffer(
          {one.tile, bytes, 8, bytes != 0, program::Category::tensors, {}, "results"});
      check(one.results == result_buffer(grid_, one.x, one.y, one.z),
            "spmm_dynamic: the results of tile {} are not its first buffer", index(one.tile));
      if (bytes != 0) tensor.parts.push_back({{one.results}, bytes});
    });
    if (rows) {
      each_cell([this](Cell& one) {
        one.results = add_buffer(one.tile, "result blocks", result_bytes(one));
      });
    }
    tensor.shape = {workload_.patterns_.front().rows, workload_.options_.n};
    if (!values()) program_.add_tensor(std::move(tensor));
  }

  [[nodiscard]] std::uint32_t result_bytes(const Cell& one) const {
    const std::uint32_t chunk = shape_.packs() ? kChunkBytes / 2 : kChunkBytes;
    return word(bytes_.share(one.y, one.z).size()) * chunk;
  }

  /// What a tile shares with no other it holds from the start.
  void add_buffers(Cell& one) {
    one.bucket = add_bucket(one);
    one.pool[0] = grid_.z == 1 ? one.bucket : add_buffer(one.tile, "bucket pool", bytes_.pool);
    one.pool[1] = add_buffer(one.tile, "bucket pool", bytes_.pool);
    one.flags = add_buffer(one.tile, "flags", kFlagBytes);
    one.x_slice = add_dense(one, bytes_.x_part(grid_.x, one.x), false);
    if (shape_.natural()) add_row_buffers(one);
    one.x_rows = grid_.x == 1 ? one.x_slice : add_buffer(one.tile, "x", bytes_.x);
    if (values()) {
      one.y_slice = add_dense(one, bytes_.y_part(grid_.y, one.y), true);
      one.y_rows = grid_.y == 1 ? one.y_slice : add_buffer(one.tile, "yg", bytes_.y);
    } else {
      one.y_rows = add_buffer(one.tile, "partial results", bytes_.y);
    }
    one.received =
        add_buffer(one.tile, "received",
                   word((bytes_.parts - 1) * bytes_.share(one.y, one.z).size() * kChunkBytes));
  }

  /// The tile's bucket: an equal part of its partition's pool, written anew before each run.
  BufferId add_bucket(const Cell& one) {
    program::Buffer buffer{};
    buffer.tile = one.tile;
    buffer.bytes = grid_.z == 1 ? bytes_.pool : bytes_.pool_slice;
    buffer.name = "bucket";
    buffer.inputs = bucket(given_, one.x, one.y, one.z);
    return program_.add_buffer(std::move(buffer));
  }

  /// Words `part` of the rows of X (`gradient`: of Yg) that the cell's column (row) of tiles needs.
  BufferId add_dense(const Cell& one, Interval part, bool gradient) {
    if (shape_.natural())
      return add_buffer(one.tile, gradient ? "yg" : "x", word(part.size()) * kWord);
    const sparse::BlockMatrix& w = workload_.patterns_.front();
    const Interval blocks = gradient ? EvenSplit{w.block_rows(), grid_.x}.part(one.x)
                                     : EvenSplit{w.block_columns(), grid_.y}.part(one.y);
    program::Buffer buffer{};
    buffer.tile = one.tile;
    buffer.bytes = word(part.size()) * kWord;
    buffer.name = gradient ? "yg" : "x";
    buffer.contents = dense_words(given_, gradient ? workload_.yg_ : workload_.x_, blocks,
                                  std::uint64_t{one.z} * grid_.columns, part);
    return program_.add_buffer(std::move(buffer));
  }

  /// Rows as they are given, and panels.
  void add_row_buffers(Cell& one) {
    const Problem& problem = workload_.problem_;
    one.given_x = add_given_rows(one, workload_.x_, problem.block_columns, "x by rows");
    if (values()) {
      one.given_y = add_given_rows(one, workload_.yg_, problem.block_rows, "yg by rows");
      return;
    }
    if (shape_.block == 1) return;
    const std::uint32_t slice = word(bytes_.x_part(grid_.x, one.x).size()) * kWord;
    one.x_panels = add_buffer(one.tile, "x panels", slice);
    one.result_panels = add_buffer(one.tile, "result panels", result_bytes(one));
  }

  BufferId add_given_rows(const Cell& one, const data::DenseOperand& operand,
                          std::uint32_t block_rows, std::string_view name) {
    const Interval part = given_rows(workload_.problem_, grid_, block_rows, index(one.tile));
    program::Buffer buffer{};
    buffer.tile = one.tile;
    buffer.bytes = word(part.size()) * shape_.element_bytes();
    buffer.name = name;
    buffer.contents = rows_of(given_, operand, part.begin);
    return program_.add_buffer(std::move(buffer));
  }

  // --- distribution -----------------------------------------------------------------------------

  void distribute(Sequence& main) {
    Exchange exchange{"distribute", {}};
    each_cell([&](const Cell& one) {
      if (grid_.z > 1) send_bucket(one, exchange);
      if (grid_.x > 1) send_x(one, exchange);
      if (values() && grid_.y > 1) send_y(one, exchange);
    });
    if (!exchange.copies.empty()) main.steps.push_back({std::move(exchange), all_});
    ComputeSet set = products(multiply(), "multiply", 0);
    if (!values()) add_zeros(main, set);
    main.steps.push_back({std::move(set)});
  }

  void send_bucket(const Cell& one, Exchange& exchange) const {
    Copy copy{{one.bucket}, bytes_.pool_slice, {}};
    for (std::uint32_t z = 0; z < grid_.z; ++z)
      copy.destinations.push_back({cell(one.x, one.y, z).pool[0], one.z * bytes_.pool_slice});
    exchange.copies.push_back(std::move(copy));
  }

  void send_x(const Cell& one, Exchange& exchange) const {
    const Interval part = bytes_.x_part(grid_.x, one.x);
    Copy copy{{one.x_slice}, word(part.size()) * kWord, {}};
    for (std::uint32_t x = 0; x < grid_.x; ++x)
      copy.destinations.push_back({cell(x, one.y, one.z).x_rows, word(part.begin) * kWord});
    if (copy.bytes != 0) exchange.copies.push_back(std::move(copy));
  }

  void send_y(const Cell& one, Exchange& exchange) const {
    const Interval part = bytes_.y_part(grid_.y, one.y);
    Copy copy{{one.y_slice}, word(part.size()) * kWord, {}};
    for (std::uint32_t y = 0; y < grid_.y; ++y)
      copy.destinations.push_back({cell(one.x, y, one.z).y_rows, word(part.begin) * kWord});
    if (copy.bytes != 0) exchange.copies.push_back(std::move(copy));
  }

  /// Clears partial results before `set` adds to them.
  void add_zeros(Sequence& main, ComputeSet& set) {
    ComputeSet zero = zeros(multiply(), all_ ? set.name : "zero");
    if (!all_) return main.steps.push_back({std::move(zero), false});
    zero.vertices.insert(zero.vertices.end(), set.vertices.begin(), set.vertices.end());
    set = std::move(zero);
  }

  [[nodiscard]] Multiply multiply() { return {program_, cells_, pool_, bytes_}; }

  // --- propagation ------------------------------------------------------------------------------

  void propagate(Sequence& main) {
    if (grid_.partitions() == 1) return;
    const Propagation propagation{program_, cells_, bytes_.pool, [this](int side) {
                                    return products(multiply(), "multiply spilled", side);
                                  }};
    add_propagation(propagation, main);
    if (values()) add_way_home(propagation, add_codelet("dynamic_away"), main);
  }

  const SpmmDynamic& workload_;
  const Shape& shape_;
  const PoolShape& pool_;
  const Grid& grid_;
  const Buffers bytes_;
  std::uint32_t contexts_;
  bool all_;  ///< steps are measured
  program::Program program_;
  Cells cells_;
  Given given_;
};

program::Program SpmmDynamic::build() const { return Builder(*this, plan_.pool.contexts).build(); }

}  // namespace tessera::spmm_dynamic
