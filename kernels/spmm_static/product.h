#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/sparse/code/statement.h"
#include "kernels/spmm_static/work.h"

/// The steps of one product in a description that may have other steps before and after.
namespace tessera::spmm_static {

using sparse::Codelet;
using sparse::Statement;

/// The operands of a tile's product, and its partial sums.
struct ProductPlaces {
  Place values, x, list, partials;
};

/// Multiplies block rows by columns on the matrix unit. Sizes: block rows, blocks of the last one
/// beyond its first (plus one), loops of positions. Operands: those of ProductPlaces.
plan::Function block_function(const Statement& statement, const Shape& shape);

/// A worker's rows and passes, and their first place in the list and in the values.
struct WorkerPart {
  std::uint32_t list, values;  ///< u16, elements
  sparse::WorkerRows share;
};
Codelet block_codelet(const Statement& statement, const Shape& shape);
/// Blocks in vector code, whose workers' passes are `together` columns each, of `width`.
program::Vertex vector_product(Codelet code, const Shape& shape, const ProductPlaces& places,
                               std::uint32_t width, std::uint32_t together,
                               const std::vector<WorkerPart>& workers);
/// Sizes: block rows of a worker, further blocks of its last one (one more), columns of the tile.
plan::Function vector_function(const Statement& statement, const Shape& shape, Sharing sharing);

Codelet element_codelet(const Statement& statement, const Shape& shape, std::uint32_t words);
/// Single elements times passes of `words` 64-bit words of a row of `width` columns.
program::Vertex element_product(Codelet code, const Shape& shape, const ProductPlaces& places,
                                std::uint32_t width, std::uint32_t words,
                                const std::vector<WorkerPart>& workers);
/// Sizes: busy workers, rows of each, nonzeros of a row (one more), passes. Each is measured but
/// the third.
plan::Function element_function(const Statement& statement, const Shape& shape,
                                std::uint32_t words);

Codelet adding_codelet(const Statement& statement, const Shape& shape);
/// Sums partials by the workers' segments, which `segments` holds worker by worker.
program::Vertex adding(Codelet code, Place received, Place results, Place segments,
                       const std::vector<ReducingWorker>& workers);
std::vector<SegmentPart> segment_list(const std::vector<ReducingWorker>& workers);
/// Sizes: chunks of results of a worker, partials of each (one more).
plan::Function adding_function(const Statement& statement, const Shape& shape);

/// The steps of a product that are measured; the others run too.
enum class Region : std::uint8_t { all, multiply, add };

/// The interval of values of W that each tile is given; empty on some tiles.
std::vector<Interval> values_given(const Partition& partition);

/// Pulls `bytes` of the columns of `part` from the chunk of rows that begins at `row`. `from` gives
/// the storage of the rows, `x` the array of each.
void pull_chunk(const Partition& partition, const Part& part, const std::vector<DenseRows>& from,
                const std::vector<BufferId>& x, std::uint64_t row, Interval bytes, Place into,
                Pulls& pulls);
/// Pulls the columns of `part` of these blocks of rows into consecutive places.
void pull_dense_rows(const Partition& partition, const Part& part,
                     const std::vector<DenseRows>& from, const std::vector<BufferId>& x,
                     const std::vector<std::uint32_t>& blocks, BufferId into, Pulls& pulls);

class Product {
 public:
  /// Partition and W outlive the description. Names of steps begin with `name`.
  Product(const Statement& statement, const Partition& partition, const sparse::BlockMatrix& w,
          std::string name = "", Region region = Region::all);

  /// Uses values made by earlier steps, laid out as Partition::value_storage; else the values of W
  /// are on the tiles before the run.
  void take_values(BufferId values) { values_ = values; }
  /// States steps that change the given values of W before their first use; called once.
  using Change = std::function<void(BufferId values)>;
  void change_values(Change change) { change_ = std::move(change); }
  /// Returns the array that receives values during the run: each tile's values_given. It must be
  /// complete at the steps of share_values(), before the first product.
  BufferId values_to_come();
  void share_values();
  /// States W X for the rows of X in `x`, one array for each of Partition::x, into `results` of
  /// layout Partition::y_storage. In further calls, for more columns, W stays on its tiles.
  void add_steps(const std::vector<BufferId>& x, BufferId results);
  /// The two halves of add_steps(): partial rows, and their sums.
  void multiply(const std::vector<BufferId>& x);
  void add_up(BufferId results);

  /// The representative tiles.
  [[nodiscard]] std::vector<Tile> representatives() const {
    return work_->representatives(statement_.contexts);
  }

 private:
  void add_values();
  void add_inputs(const std::vector<BufferId>& x, bool values);
  /// Multiplies a share: blocks on the matrix unit or in vector code, single elements.
  using Multiply = std::function<void(const Part&, const Share&, Calls&)>;
  [[nodiscard]] Multiply block_products(const ProductPlaces& places) const;
  [[nodiscard]] Multiply vector_products(const ProductPlaces& places) const;
  [[nodiscard]] Multiply element_products(const ProductPlaces& places) const;
  void send_results(BufferId results);
  void send_partials();
  void add_sums(BufferId results);
  void send_sums(BufferId results);
  /// Declares an array of `bytes(work, tile)` on each tile.
  template <class Bytes>
  BufferId array(std::string_view name, const Bytes& bytes, bool constant = false) {
    plan::Array array{name, [work = work_, bytes](Tile tile) -> std::uint64_t {
                        return std::invoke(bytes, *work, tile);
                      }};
    array.constant = constant;
    return statement_.description.array(std::move(array));
  }
  plan::Description& step(bool measured);

  Statement statement_;
  std::shared_ptr<const Work> work_;
  std::string name_;
  Region region_;
  Change change_;
  std::optional<BufferId> values_;  ///< that tiles share
  bool begun_ = false;
  bool to_come_ = false;                      ///< no values are on the tiles before the run
  BufferId x_{}, partials_{}, w_{}, list_{};  ///< arrays that tiles read and write
  BufferId received_{}, sums_{};
  std::optional<BufferId> segments_;
};

}  // namespace tessera::spmm_static
