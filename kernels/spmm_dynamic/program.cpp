#include <cstring>

#include "kernels/spmm_dynamic/spmm_dynamic.h"
#include "kernels/spmm_dynamic/steps.h"

namespace tessera::spmm_dynamic {

using program::ComputeSet;
using program::Copy;
using program::Exchange;

namespace {

void write_values(const PoolShape& pool_shape, const Pool& pool, const sparse::BlockMatrix& w,
                  std::span<std::byte> values) {
  const Shape& shape = pool_shape.shape;
  const std::size_t area = std::size_t{shape.block} * shape.block;
  std::uint32_t last_unit = UINT32_MAX;
  for_each_unit(pool_shape, pool, [&](std::uint32_t unit, std::uint64_t e) {
    const std::span<std::byte> into =
        values.subspan(std::size_t{unit} * unit_bytes(shape), unit_bytes(shape));
    const bool second = unit == last_unit;
    last_unit = unit;
    for (std::size_t v = 0; v < area; ++v)
      data::store_element(shape.type, into, v + (second ? 1 : 0),
                          w.values(e)[shape.place_in_block(v)]);
  });
}

}  // namespace

/// Builds the program for all tiles of the grid: what they hold, then the steps.
class Builder {
 public:
  explicit Builder(const SpmmDynamic& workload)
      : workload_(workload),
        problem_(workload.problem_),
        shape_(problem_.shape),
        grid_(workload.plan_.pool.grid),
        program_(workload.tiles_),
        assembly_(code_, program_, workload.plan_.pool.contexts),
        work_{problem_,
              workload.plan_.pool,
              Buffers(problem_, workload.plan_.pool),
              workload.options_.region == Region::all,
              assembly_,
              Cells(grid_)} {}

  program::Program build() {
    add_results();
    for (Cell& one : work_.cells) add_buffers(one);
    if (shape_.natural()) add_rows_in(work_);
    add_distribution(work_);
    add_products();
    add_propagation(work_);
    add_sums(work_);
    if (rows_wanted()) add_rows_out(work_);
    workload_.add_tensors(program_, work_);
    return std::move(program_);
  }

 private:
  [[nodiscard]] bool rows_wanted() const { return shape_.natural() && !shape_.gradient; }

  BufferId add_buffer(const Cell& one, std::string_view name, std::uint64_t bytes,
                      sparse::Assembly::Contents contents = {}) {
    return work_.assembly.buffer(index(one.tile), bytes, name, std::move(contents));
  }

  void add_results() {
    const auto rows = row_storage(problem_, grid_, problem_.block_rows);
    for (Cell& one : work_.cells) {
      const std::uint32_t bytes =
          rows_wanted() ? rows.bytes_on(index(one.tile)) : result_bytes(one);
      one.results = work_.assembly.buffer(index(one.tile), bytes, "results", {}, bytes != 0);
      work_.results.push_back(one.results);
    }
    if (rows_wanted()) {
      for (Cell& one : work_.cells)
        one.results = add_buffer(one, "result blocks", result_bytes(one));
    }
  }

  [[nodiscard]] std::uint32_t result_bytes(const Cell& one) const {
    const std::uint32_t chunk = shape_.mixed() ? kChunkBytes / 2 : kChunkBytes;
    return word(work_.bytes.share(one.y, one.z).size()) * chunk;
  }

  /// What a tile shares with no other it holds from the start.
  void add_buffers(Cell& one) {
    const Buffers& bytes = work_.bytes;
    one.bucket = add_bucket(one);
    one.pool[0] = grid_.z == 1 ? one.bucket : add_buffer(one, "bucket pool", bytes.pool);
    one.pool[1] = add_buffer(one, "bucket pool", bytes.pool);
    one.flags = add_buffer(one, "flags", kFlagBytes);
    one.x_slice = add_dense(one, workload_.x_, work_.x_part(one), "x");
    if (shape_.natural()) add_row_buffers(one);
    one.x_rows = grid_.x == 1 ? one.x_slice : add_buffer(one, "x", bytes.x);
    if (shape_.gradient) {
      one.y_slice = add_dense(one, workload_.yg_, work_.yg_part(one), "yg");
      one.y_rows = grid_.y == 1 ? one.y_slice : add_buffer(one, "yg", bytes.y);
    } else {
      one.y_rows = add_buffer(one, "partial results", bytes.y);
    }
    one.received = add_buffer(one, "received",
                              (bytes.parts - 1) * bytes.share(one.y, one.z).size() * kChunkBytes);
  }

  /// The tile's bucket: an equal part of its partition's pool, written anew before each run.
  BufferId add_bucket(const Cell& one) {
    program::Buffer buffer{};
    buffer.tile = one.tile;
    buffer.bytes = grid_.z == 1 ? work_.bytes.pool : work_.bytes.pool_slice;
    buffer.name = "bucket";
    buffer.inputs = [&workload = workload_, x = one.x, y = one.y, z = one.z](
                        std::span<std::byte> into, std::uint32_t run) {
      const std::vector<std::byte> pool = workload.pool_bytes(run, x, y);
      std::memcpy(into.data(), pool.data() + std::size_t{z} * into.size(), into.size());
    };
    return work_.assembly.program().add_buffer(std::move(buffer));
  }

  /// The rows of X (of Yg) that the cell gives to its column (row) of tiles.
  BufferId add_dense(const Cell& one, const data::DenseOperand& operand,
                     const sparse::Chunked& part, std::string_view name) {
    sparse::Assembly::Contents fill;
    if (!shape_.natural()) {
      fill = [&operand, part, type = shape_.type](std::span<std::byte> into) {
        sparse::fill_chunks(type, operand, part, part.elements.begin, into);
      };
    }
    return add_buffer(one, name, part.elements.size() * shape_.bytes(), std::move(fill));
  }

  /// Rows as they are given, and panels.
  void add_row_buffers(Cell& one) {
    work_.given_x.push_back(add_given_rows(one, workload_.x_, problem_.block_columns, "x by rows"));
    if (shape_.gradient) {
      work_.given_y.push_back(
          add_given_rows(one, workload_.yg_, problem_.block_rows, "yg by rows"));
      return;
    }
    if (shape_.block == 1) return;
    one.x_panels = add_buffer(one, "x panels", work_.x_part(one).elements.size() * shape_.bytes());
    one.result_panels = add_buffer(one, "result panels", result_bytes(one));
  }

  BufferId add_given_rows(const Cell& one, const data::DenseOperand& operand,
                          std::uint32_t block_rows, std::string_view name) {
    const auto storage = row_storage(problem_, grid_, block_rows);
    const std::uint64_t first = storage.begin(index(one.tile)) / shape_.bytes();
    return add_buffer(
        one, name, storage.bytes_on(index(one.tile)),
        [&operand, first, width = std::uint64_t{grid_.columns} * grid_.z, type = shape_.type](
            std::span<std::byte> into) { sparse::fill_rows(type, operand, width, first, into); });
  }

  /// Partial results are cleared before the products add to them.
  void add_products() {
    ComputeSet set = products(work_, "multiply", 0);
    if (!shape_.gradient) {
      ComputeSet zero = zeros(work_, work_.measured ? set.name : "zero");
      if (work_.measured) {
        zero.vertices.insert(zero.vertices.end(), set.vertices.begin(), set.vertices.end());
        set = std::move(zero);
      } else {
        work_.assembly.add_step(std::move(zero), false);
      }
    }
    work_.assembly.add_step(std::move(set));
  }

  const SpmmDynamic& workload_;
  const Problem& problem_;
  const Shape& shape_;
  const Grid& grid_;
  sparse::TileCode code_;
  program::Program program_;
  sparse::Assembly assembly_;
  Work work_;
};

void add_distribution(Work& work) {
  const Grid& grid = work.grid();
  Exchange exchange{"distribute", {}};
  const auto send = [&](BufferId from, Interval words, std::uint32_t takers, const auto& taker) {
    Copy copy{{from}, word(words.size()) * kWord, {}};
    for (std::uint32_t i = 0; i < takers; ++i)
      copy.destinations.push_back({taker(i), word(words.begin) * kWord});
    if (copy.bytes != 0) exchange.copies.push_back(std::move(copy));
  };
  for (const Cell& one : work.cells) {
    const std::uint64_t slice = work.bytes.pool_slice / kWord;
    if (grid.z > 1)
      send(one.bucket, {one.z * slice, (one.z + 1) * slice}, grid.z,
           [&](std::uint32_t z) { return work.cells.at(one.x, one.y, z).pool[0]; });
    if (grid.x > 1)
      send(one.x_slice, work.bytes.x_part(grid.x, one.x), grid.x,
           [&](std::uint32_t x) { return work.cells.at(x, one.y, one.z).x_rows; });
    if (work.shape().gradient && grid.y > 1)
      send(one.y_slice, work.bytes.y_part(grid.y, one.y), grid.y,
           [&](std::uint32_t y) { return work.cells.at(one.x, y, one.z).y_rows; });
  }
  if (!exchange.copies.empty()) work.assembly.add_step(std::move(exchange), work.measured);
}

std::vector<std::byte> SpmmDynamic::pool_bytes(std::uint32_t run, std::uint32_t x,
                                               std::uint32_t y) const {
  const Buffers sizes(problem_, plan_.pool);
  const sparse::BlockMatrix& w = patterns_[run];
  std::vector<std::byte> bytes(sizes.pool);
  const std::vector<std::uint16_t> lists = pool_lists(w, plan_.pool, packings_[run], x, y);
  std::memcpy(bytes.data(), lists.data(), sizeof(lists.front()) * lists.size());
  const Pool& pool = packings_[run].pools[x + std::size_t{y} * plan_.pool.grid.x];
  if (!problem_.shape.gradient)
    write_values(plan_.pool, pool, w, std::span(bytes).subspan(sizes.meta));
  return bytes;
}

program::Program SpmmDynamic::build() const { return Builder(*this).build(); }

}  // namespace tessera::spmm_dynamic
