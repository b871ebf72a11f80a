#include "kernels/butterfly/program.h"

#include "kernels/butterfly/assembly.h"

namespace tessera::butterfly {

namespace {

/// Forward or grad_input: every factor in place, round after round.
void add_product(Assembly& assembly) {
  const Plan& plan = assembly.geometry.plan;
  const bool adjoint = assembly.geometry.problem.pass == Pass::grad_input;
  const std::vector<RowPass> passes =
      schedule(assembly.geometry.problem, plan.split_features, plan.fused, adjoint);
  assembly.add_results();
  std::vector<std::vector<BufferId>> twiddles;  // by pass
  for (std::uint32_t round = 0; round < plan.rounds; ++round) {
    assembly.begin_round(round);
    const std::vector<BufferId> x =
        assembly.given_rows(&Operands::x, "x", passes.front().rows, true);
    for (const RowPass& pass : passes)
      if (round == 0) twiddles.push_back(assembly.twiddles(pass, adjoint));
    assembly.add_inputs();
    for (std::size_t i = 0; i < passes.size(); ++i) {
      if (passes[i].before) assembly.add_swap(*passes[i].before, x);
      for (std::uint32_t t = 0; t < assembly.tiles; ++t)
        assembly.add(assembly.vertices.pass(TileId(t), passes[i], assembly.geometry.units(t).size(),
                                            {twiddles[i][t]}, x[t], x[t]));
    }
    assembly.finish_rows(x, passes.back().rows);
  }
}

kernels::Sample build(const Geometry& geometry, const MachineConfig& machine,
                      const Operands* operands) {
  Assembly assembly(geometry, machine, operands);
  if (geometry.problem.pass == Pass::grad_twiddles)
    add_gradient(assembly, machine.tile.contexts);
  else if (geometry.problem.blocked())
    add_block_product(assembly, machine.tile.contexts);
  else
    add_product(assembly);
  return assembly.take();
}

}  // namespace

program::Program build_program(const Geometry& geometry, const MachineConfig& machine,
                               const Operands& operands) {
  return build(geometry, machine, &operands).program;
}

kernels::Sample build_sample(const Geometry& geometry, const MachineConfig& machine) {
  return build(geometry, machine, nullptr);
}

}  // namespace tessera::butterfly
