#include "kernels/butterfly/program.h"

#include "kernels/butterfly/assembly.h"
#include "sim/data/element.h"

namespace tessera::butterfly {

namespace {

std::uint32_t word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

/// Forward or grad_input: every factor in place.
program::Program build_product(Assembly& assembly) {
  const Geometry& geometry = assembly.geometry;
  const bool adjoint = geometry.problem.pass == Pass::grad_input;
  const std::vector<RowPass> passes =
      schedule(geometry.problem, geometry.plan.split_features, geometry.plan.fused, adjoint);
  std::vector<BufferId> x;
  for (std::uint32_t t = 0; t < assembly.tiles; ++t)
    x.push_back(assembly.add_rows(t, "x", true, &Operands::x, passes.front().rows));
  for (const RowPass& pass : passes) {
    if (pass.before) assembly.add_swap(*pass.before, x);
    for (std::uint32_t t = 0; t < assembly.tiles; ++t)
      assembly.add(assembly.vertices.pass(TileId(t), pass, geometry.units(t).size(),
                                          {assembly.add_twiddles(t, pass, adjoint)}, x[t], x[t]));
  }
  return assembly.take();
}

program::Program build(const Geometry& geometry, const MachineConfig& machine,
                       const Operands* operands) {
  Assembly assembly(geometry, machine, operands);
  if (geometry.problem.pass == Pass::grad_twiddles)
    return build_gradient(assembly, machine.tile.contexts);
  if (geometry.problem.blocked()) return build_block_product(assembly, machine.tile.contexts);
  return build_product(assembly);
}

}  // namespace

BufferId Assembly::add_rows(std::uint32_t tile, std::string_view name, bool keep, Values values,
                            const Rows& rows) {
  Contents contents;
  if (values != nullptr) {
    contents = [this_ = geometry, rows, values, its = operands, tile](std::span<std::byte> into) {
      const std::uint32_t parts = this_.problem.is_complex() ? 2 : 1;
      const std::uint32_t block = this_.problem.block;
      this_.for_numbers(tile, [&](std::uint32_t row, std::uint32_t inner, std::uint64_t column,
                                  std::uint32_t part, std::size_t at) {
        const std::uint32_t number = rows.feature(this_.feature_part(tile), row);
        const double value = inner < block ? (its->*values)
                                                 .element(std::uint64_t{number} * block + inner,
                                                          column * parts + part)
                                           : 0;
        data::store_element(this_.problem.type(), into, at, value);
      });
    };
  }
  return add_buffer(tile, geometry.bytes(tile), name, keep, std::move(contents));
}

BufferId Assembly::add_twiddles(std::uint32_t tile, const RowPass& pass, bool adjoint) {
  const auto fill = [pass, adjoint, part = geometry.feature_part(tile),
                     its = operands](std::span<std::byte> into) {
    its->twiddles.fill(pass, part, adjoint, into);
  };
  return add_buffer(tile, twiddle_bytes(geometry.problem, pass), "twiddles", false, fill);
}

void Assembly::end_set() {
  if (!set_.vertices.empty())
    program.main().steps.push_back({std::exchange(set_, {"factors", {}})});
}

void Assembly::add(program::Exchange exchange) {
  end_set();
  program.main().steps.push_back({std::move(exchange)});
}

/// Blocks of rows go to the tiles whose number they will have in common.
void Assembly::add_swap(const Swap& swap, const std::vector<BufferId>& buffers) {
  program::Exchange exchange{"swap", {}};
  const std::uint32_t ways = 1U << swap.bits;
  for (std::uint32_t t = 0; t < tiles; ++t) {
    const std::uint32_t block = word(geometry.bytes(t) >> swap.bits);
    const std::uint32_t own = t >> swap.tile_place & (ways - 1);
    for (std::uint32_t way = 0; way < ways; ++way) {
      if (way == own) continue;
      const std::uint32_t to = t ^ (own ^ way) << swap.tile_place;
      const std::uint32_t taker = operands == nullptr ? t : to;
      const std::uint32_t at = operands == nullptr ? way : own;
      exchange.copies.push_back({{buffers[t], way * block}, block, {{buffers[taker], at * block}}});
    }
  }
  add(std::move(exchange));
}

program::Program Assembly::take() {
  end_set();
  return std::move(program);
}

program::Program build_program(const Geometry& geometry, const MachineConfig& machine,
                               const Operands& operands) {
  return build(geometry, machine, &operands);
}

program::Program build_sample(const Geometry& geometry, const MachineConfig& machine) {
  return build(geometry, machine, nullptr);
}

}  // namespace tessera::butterfly
