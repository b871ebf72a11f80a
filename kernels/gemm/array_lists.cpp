#include "kernels/gemm/array_lists.h"

#include <map>

#include "kernels/gemm/array_streams.h"

namespace tessera::gemm {
program::Program make_array_program(const ArrayProduct& of) {
  program::Program program(of.array.nodes());
  arrays::ArrayProgram lists(program);
  const ArrayOrder order(of.grid, of.array);
  const ArrayStreams streams(of, order, program, lists);
  const std::uint32_t code = add_product_code(program, *of.grid.type, of.grid.kept != nullptr);
  for (std::uint32_t node = 0; node < of.array.nodes(); ++node) {
    lists.mark(node, "product");
    std::map<arrays::Channel, std::size_t> started;
    for (std::uint32_t step = 0; step < order.steps(); ++step) {
      arrays::Items items;
      order.add(node, step, items);
      for (const arrays::Item& item : items) {
        if (item.kind == arrays::Item::Kind::work)
          lists.call(node, "product", {streams.product(node, step).vertex(node, code)});
        else if (item.kind == arrays::Item::Kind::start)
          lists.start(node, streams.transfer(item.channel, started[item.channel]++));
        else
          lists.wait(node, streams.transfer(item.channel, started[item.channel] - 1));
      }
    }
  }
  lists.finish();
  return program;
}

}  // namespace tessera::gemm
