#pragma once

#include <vector>

#include "kernels/convnet/core_calls.h"
#include "kernels/convnet/layer_streams.h"

/// In which order the nodes of an array start a layer's transfers, wait for them and compute.
namespace tessera::convnet {

/// Starts of a layer's transfers come in one order on all nodes, so that where nothing overlaps,
/// and a start waits for all that take part, none waits for another that waits for it.
class LayerLists {
 public:
  /// All are kept by reference.
  LayerLists(const Plan& plan, const LayerShape& shape, const Mapping& mapping,
             const std::vector<Item>& items, const LayerStreams& streams, const ArrayMemory& memory,
             WeightSupply& supply, CoreCalls& calls, ArrayProgram& lists)
      : array_(plan.array),
        shape_(shape),
        mapping_(mapping),
        items_(items),
        streams_(streams),
        memory_(memory),
        supply_(supply),
        calls_(calls),
        lists_(lists) {}

  void core(std::uint32_t row, std::uint32_t column);
  /// All memory tiles, with what DDR does for them.
  void memory_tiles();

 private:
  /// What a memory tile has under way for its column of cores.
  struct Column {
    std::size_t rows = 0;  ///< tiles that have been waited for
    std::size_t item = 0;  ///< of the results
    std::optional<TransferId> results, storing;
  };

  void compute(std::uint32_t row, std::uint32_t column, const Item& item, std::size_t rows,
               std::size_t weights, std::size_t results);
  void add(std::uint32_t row, std::uint32_t column, std::size_t item, std::size_t results);
  [[nodiscard]] std::optional<std::size_t> next_result(std::uint32_t row, std::size_t from) const;
  void send_rows(std::uint32_t column, std::size_t number);
  void send_operand(std::uint32_t column, std::size_t from);
  void send_weights(std::uint32_t row, std::size_t number);
  void weights_of(const Item& item, std::vector<std::size_t>& pieces);
  void take_results(std::uint32_t column, Column& state, std::size_t item);
  [[nodiscard]] std::vector<std::uint32_t> columns() const;
  [[nodiscard]] std::vector<std::uint32_t> weight_rows() const;

  const Array& array_;
  const LayerShape& shape_;
  const Mapping& mapping_;
  const std::vector<Item>& items_;
  const LayerStreams& streams_;
  const ArrayMemory& memory_;
  WeightSupply& supply_;
  CoreCalls& calls_;
  ArrayProgram& lists_;
};

}  // namespace tessera::convnet
