#pragma once

#include <optional>
#include <vector>

#include "kernels/convnet/array_memory.h"
#include "kernels/convnet/core_code.h"
#include "kernels/convnet/weight_supply.h"

namespace tessera::convnet {

/// The program of an array's nodes for one layer: the bytes that move (layer_streams.cpp), the
/// order in which nodes start transfers, wait for them and compute (layer_lists.cpp), and the calls
/// of cores (layer_calls.cpp). All nodes start transfers in the same order: without overlap a start
/// waits for all nodes involved, and one order excludes deadlock.
class LayerProgram {
 public:
  /// Holds references to all arguments.
  LayerProgram(const Plan& plan, std::uint32_t layer, const ArrayMemory& memory,
               WeightSupply& supply, CoreCode& code, ArrayProgram& lists, CallCosts& costs);

  /// Adds the transfers of columns between memory tiles.
  void add_halo();
  /// Adds the layer to the lists of all nodes.
  void add_lists();

 private:
  /// Transfers between a memory tile and its column of cores, one after the other; `staged`: the
  /// same number of transfers from or to DDR, or none.
  struct Chain {
    std::vector<TransferId> moves, staged;
  };
  /// A core, and the progress of its list.
  struct Core {
    std::uint32_t row, column, node;
    std::size_t rows = 0;                 ///< tiles of rows waited for
    std::size_t weights = 0, pieces = 0;  ///< tiles of weights, and their pieces, waited for
    std::size_t results = 0;              ///< tiles of results computed
    std::uint32_t prepared = 0, prepared_sums = 0;  ///< blocks listed, and those of the addition
    std::optional<Call> last = {};                  ///< the last call of `convolve`
    std::optional<TransferId> leaving = {};         ///< the last started transfer of results
  };
  /// An addition fused into the layer, and the operand that the layer computes.
  struct Sum {
    const Layer* layer;
    std::uint32_t operand;
  };

  TransferId transfer(TransferChain chain, std::uint32_t number, const char* what,
                      std::vector<Stream> streams);
  void make_rows(std::uint32_t column);
  void add_rows(std::uint32_t column, std::uint32_t operand, const RowTile& tile, Range needed,
                std::vector<Stream>& streams, std::vector<Stream>& staged) const;
  void add_columns(std::uint32_t column, const RowTile& tile, std::uint32_t at, Range columns,
                   Walk from, std::vector<Stream>& streams) const;
  void make_tiles(std::uint32_t column, bool results);
  void add_tile(std::uint32_t column, bool results, std::uint32_t row, const Item& item,
                std::size_t number, std::uint32_t slot, std::vector<Stream>& streams,
                std::vector<Stream>& staged) const;
  void make_weights(std::uint32_t row);

  void add_core(std::uint32_t row, std::uint32_t column);
  void take_weights(Core& core);
  void give_results(Core& core, const Item& item, std::size_t number);
  void add_memory_tiles();
  void send(std::uint32_t column, const Chain& chain, std::size_t number);
  void send_weights(std::uint32_t row, std::size_t number);
  void add_weights(const Item& item, std::vector<std::size_t>& pieces);
  void take_results(std::uint32_t column, std::size_t number);
  [[nodiscard]] std::optional<std::size_t> next_result(std::uint32_t row, std::size_t from) const;

  [[nodiscard]] Place input_of(const Core& core, const Item& item, const Grid& grid) const;
  void pool(Core& core, const Grid& grid, const Prepare& prepare, Place input, Place output);
  void compute(Core& core, const Item& item);
  void add(Core& core, const Item& item);
  std::uint64_t add_steps(Core& core, Prepare call, std::vector<std::uint32_t> taps,
                          std::uint32_t& prepared, std::vector<Vertex>& vertices);
  void run(Core& core, const Layer& layer, Convolve call, Prepare prepare,
           std::vector<std::uint32_t> taps, std::uint32_t& prepared);
  [[nodiscard]] std::vector<std::uint32_t> tap_offsets(std::uint32_t column) const;
  [[nodiscard]] Place at(const Core& core, std::uint32_t offset) const {
    return memory_.in_core(core.row, core.column, offset);
  }

  const Plan& plan_;
  const Array& array_;
  std::uint32_t number_;
  LayerShape shape_;
  const Mapping& mapping_;
  const ArrayMemory& memory_;
  WeightSupply& supply_;
  CoreCode& code_;
  ArrayProgram& lists_;
  CallCosts& costs_;
  std::vector<Item> items_, ends_;  ///< all items, and those that complete results
  CoreLayout layout_;
  std::optional<Sum> sum_;
  // By column: tiles of rows; operands added to the results, for each core its own blocks; results,
  // which the memory tile receives from one core after the other.
  std::vector<Chain> rows_, operands_, results_;
  std::vector<std::vector<TransferId>> weights_;  ///< by row of cores
  std::vector<std::uint32_t> columns_;            ///< columns with work
  std::vector<std::uint32_t> weight_rows_;  ///< rows that receive weights, ordered by memory tile
};

}  // namespace tessera::convnet
