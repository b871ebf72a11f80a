#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/sparse/code/statement.h"
#include "kernels/spmm_static/work.h"

/// The steps of one product in a description, which may have others before and after it.
namespace tessera::spmm_static {

using sparse::Codelet;
using sparse::Statement;

/// The operands of a tile's product, and its partial sums.
struct ProductPlaces {
  Place values, x, list, partials;
};

/// The blocks of block rows times columns on the matrix unit. Sizes: block rows, further blocks of
/// the last one (one more), loops of positions. Operands: those of ProductPlaces.
plan::Function block_function(const Statement& statement, const Shape& shape);

/// A worker's rows and passes, and what lies before them in the list and in the values.
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
/// Adds up what workers' segments say; `segments` holds them, worker after worker.
program::Vertex adding(Codelet code, Place received, Place results, Place segments,
                       const std::vector<ReducingWorker>& workers);
std::vector<SegmentPart> segment_list(const std::vector<ReducingWorker>& workers);
/// Sizes: chunks of results of a worker, partials of each (one more).
plan::Function adding_function(const Statement& statement, const Shape& shape);

/// Which steps of a product count as measured; the others run all the same.
enum class Region : std::uint8_t { all, multiply, add };

/// The numbers of values of W that each tile is given; none on some.
std::vector<Interval> values_given(const Partition& partition);

/// Pulls `bytes` of the columns of `part` of the chunk of rows from `row` on; `from` says where
/// rows lie in `x`, an array each.
void pull_chunk(const Partition& partition, const Part& part, const std::vector<DenseRows>& from,
                const std::vector<BufferId>& x, std::uint64_t row, Interval bytes, Place into,
                Pulls& pulls);
/// Pulls the columns of `part` of these blocks of rows, one after the other.
void pull_dense_rows(const Partition& partition, const Part& part,
                     const std::vector<DenseRows>& from, const std::vector<BufferId>& x,
                     const std::vector<std::uint32_t>& blocks, BufferId into, Pulls& pulls);

class Product {
 public:
  /// Partition and W outlive the description. Steps are called after `name` and what they do.
  Product(const Statement& statement, const Partition& partition, const sparse::BlockMatrix& w,
          std::string name = "", Region region = Region::all);

  /// Values that steps before make, as Partition::value_storage lays them out; without, those of W
  /// lie on the tiles before the run.
  void take_values(BufferId values) { values_ = values; }
  /// States steps that change the values of W where they are given, before the first that takes
  /// them; called once.
  using Change = std::function<void(BufferId values)>;
  void change_values(Change change) { change_ = std::move(change); }
  /// Values come during the run, to the array that is returned: each tile's values_given. They are
  /// complete when share_values() has stated its steps, before the first product.
  BufferId values_to_come();
  void share_values();
  /// W X for the rows of X that stand in `x`, an array for each of Partition::x, into `results`,
  /// which lies as Partition::y_storage says. Called again for further columns, W stays where the
  /// first call brought it.
  void add_steps(const std::vector<BufferId>& x, BufferId results);
  /// Its first and its second half: partial rows, and what adds them up.
  void multiply(const std::vector<BufferId>& x);
  void add_up(BufferId results);

  /// The tiles that stand for all others.
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
  /// `bytes(work, tile)` on each tile.
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
  bool to_come_ = false;                      ///< no values lie on the tiles before the run
  BufferId x_{}, partials_{}, w_{}, list_{};  ///< arrays that tiles need and make
  BufferId received_{}, sums_{};
  std::optional<BufferId> segments_;
};

}  // namespace tessera::spmm_static
