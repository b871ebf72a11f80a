#include "kernels/mlp/butterfly_layer.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/training/results.h"
#include "sim/base/errors.h"

namespace tessera::mlp {

using butterfly::RowPass;
using program::Place;
using training::kElementBytes;

ButterflyLayer::ButterflyLayer(Assembly& assembly, const LayerContext& context,
                               const ButterflyPlan& plan)
    : assembly_(assembly),
      context_(context),
      geometry_(plan.geometry),
      layout_(geometry_),
      code_("butterfly"),
      vertices_(code_, assembly.program(), geometry_.problem, assembly.machine().tile.contexts,
                geometry_.plan.workers_n),
      stacks_(context.linear.stacks()) {
  const auto values = std::make_shared<const std::vector<double>>(
      initial_parameters(context.seed, context.number, context.linear));
  const training::StretchMaker make(assembly, context.learning);
  for (std::uint32_t s = 0; s < stacks_.size(); ++s) {
    for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
      const auto value = [values](const std::vector<std::uint64_t>& places) {
        return [values, places](std::uint64_t i) {
          return places[i] == kNone ? 0.0 : (*values)[places[i]];
        };
      };
      // Gradients are sums in f32.
      const std::vector<std::uint64_t> twiddles = twiddle_places(s, t);
      stacks_[s].twiddles.push_back(
          rotates() ? make.masters(t, twiddles.size(), value(twiddles))
                    : make.stretch(t, twiddles.size(), value(twiddles), program::Type::f32));
      const std::vector<std::uint64_t> bias = bias_places(s, t);
      stacks_[s].bias.push_back(make.stretch(t, bias.size(), value(bias), program::Type::f32));
    }
  }
}

void ButterflyLayer::forward(const Matrix& x, const Matrix& z) {
  distribute();
  for (Stack& stack : stacks_) {
    stack.x.clear();
    for (std::uint32_t stage = 0; stage <= stages(); ++stage)
      stack.x.push_back(row_buffers("inputs of factors"));
  }
  const auto at = [](std::uint32_t stage) {
    return [stage](const Stack& stack) -> const Buffers& { return stack.x[stage]; };
  };
  bring(x, inputs(all(at(0))), all(at(0)), features());
  for (std::uint32_t stage = 0; stage < stages(); ++stage) {
    const RowPass& pass = layout_.passes()[stage];
    if (pass.before) swap(*pass.before, all(at(stage)));
    program::ComputeSet set{"factors", {}};
    for (const Stack& stack : stacks_) {
      for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
        set.vertices.push_back(vertices_.pass(TileId(t), pass, geometry_.units(t).size(),
                                              twiddles(stack, t, stage), stack.x[stage][t],
                                              stack.x[stage + 1][t]));
        if (stage + 1 == stages())
          set.vertices.push_back(row_numbers(assembly_.typed("training_add_bias"), t,
                                             stack.x[stage + 1][t], stack.all_bias[t]));
      }
    }
    assembly_.add_step(std::move(set));
  }
  // Of samples only: those of padding have the bias too.
  const std::uint64_t samples = z.rows * z.element_bytes();
  take(outputs(all(at(stages())), context_.linear.outputs, samples), z);
}

std::optional<Matrix> ButterflyLayer::backward(const Matrix& x, const Matrix& gradient,
                                               bool wanted) {
  for (Stack& stack : stacks_) {
    stack.gradient = row_buffers("gradient of factors");
    stack.sums.clear();
    stack.bias_sums.clear();
    for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
      stack.sums.push_back(assembly_.buffer(t, layout_.bytes() * arrays(t), "sums"));
      stack.bias_sums.push_back(assembly_.buffer(t, bias_bytes(), "sums of the bias"));
    }
  }
  const auto of = [](const Stack& stack) -> const Buffers& { return stack.gradient; };
  const std::uint64_t every = stacks_.size() * features();
  bring(gradient, outputs(all(of), every, ~std::uint64_t{0}), all(of), every);
  for (std::uint32_t stage = stages(); stage-- > 0;) {
    assembly_.add_step(backward_factors(stage, stage > 0 || wanted));
    const RowPass& pass = layout_.passes()[stage];
    if (pass.before) swap(*pass.before, all(of));
  }
  add_up();
  if (!wanted) return std::nullopt;
  add_stacks();
  const Matrix back = assembly_.matrix(x.rows, x.columns, "gradient of activations");
  take(inputs({stacks_.front().gradient}, context_.linear.inputs), back);
  return back;
}

std::vector<training::Stretch> ButterflyLayer::stretches() const {
  std::vector<training::Stretch> all;
  for (const Stack& stack : stacks_)
    for (const Share* share : {&stack.twiddles, &stack.bias})
      all.insert(all.end(), share->begin(), share->end());
  return all;
}

void ButterflyLayer::add_tensors(program::Program& program, const std::string& name,
                                 const training::Replicas& copies) const {
  std::vector<Place> places(context_.linear.parameters());
  for (std::uint32_t s = 0; s < stacks_.size(); ++s)
    for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
      enter(copies.master_places(stacks_[s].twiddles[t]), twiddle_places(s, t), places);
      enter(copies.master_places(stacks_[s].bias[t]), bias_places(s, t), places);
    }
  const auto all = std::span<const Place>(places);
  const std::size_t biases = context_.linear.outputs;
  const Stack& stack = stacks_.front();
  program.add_tensor(training::weights_at(name, stack.twiddles.front().master_type(),
                                          all.first(all.size() - biases)));
  program.add_tensor(
      training::weights_at(name + "_bias", stack.bias.front().master_type(), all.last(biases)));
}

program::ComputeSet ButterflyLayer::backward_factors(std::uint32_t stage, bool further) {
  program::ComputeSet set{"factors back", {}};
  const RowPass& pass = layout_.passes()[stage];
  for (const Stack& stack : stacks_) {
    for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
      const std::uint64_t units = geometry_.units(t).size();
      const BufferId gradient = stack.gradient[t];
      if (stage + 1 == stages() && halves() &&
          bias_bytes() > std::uint64_t{geometry_.rows()} * kElementBytes)
        set.vertices.push_back(assembly_.clearing(stack.bias_sums[t]));
      if (stage + 1 == stages())
        set.vertices.push_back(
            row_numbers(assembly_.typed("training_row_sums"), t, gradient, stack.bias_sums[t]));
      set.vertices.push_back(vertices_.products(TileId(t), pass, units,
                                                {stack.sums[t], word(layout_.stage_begin(stage))},
                                                layout_.bytes(), gradient, stack.x[stage][t]));
      if (further)
        set.vertices.push_back(vertices_.adjoint_pass(
            TileId(t), pass, units, twiddles(stack, t, stage), gradient, gradient));
    }
  }
  return set;
}

void ButterflyLayer::add_stacks() {
  program::ComputeSet set{"sums of stacks", {}};
  for (std::size_t s = 1; s < stacks_.size(); ++s)
    for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
      const Place all{stacks_.front().gradient[t]};
      set.vertices.push_back(
          sum(t, geometry_.bytes(t), 1, all, {stacks_[s].gradient[t]}, all, assembly_.type()));
    }
  if (!set.vertices.empty()) assembly_.add_step(std::move(set));
}

std::unique_ptr<Layer> make_butterfly(Assembly& assembly, const LayerContext& context,
                                      const ButterflyPlan& plan) {
  return std::make_unique<ButterflyLayer>(assembly, context, plan);
}

/// The cut of least predicted cycles for the gradient of one stack that leaves room for `kept`.
std::shared_ptr<const ButterflyPlan> plan_butterfly(const Linear& linear,
                                                    const std::optional<butterfly::Plan>& pinned,
                                                    const LayerRoom& room_of, MachineCosts& costs) {
  butterfly::Problem problem = linear.factors(room_of.samples);
  if (room_of.type == program::Type::f16) problem.dtype = butterfly::Number::f16;
  const MachineConfig& machine = costs.machine();
  const std::uint64_t room = std::uint64_t{machine.tile.sram_kib} * 1024;
  plan::Pricing pricing(costs);
  std::optional<butterfly::Candidate> best;
  std::uint64_t least = ~std::uint64_t{0};
  const auto consider = [&](const butterfly::Plan& plan) {
    const butterfly::Candidate candidate = butterfly::pinned_plan(plan, problem, pricing);
    const std::uint64_t bytes = candidate.tile_bytes * linear.stacks() + room_of.kept;
    least = std::min(least, bytes);
    const auto rank = [&](const butterfly::Candidate& of) {
      return room_of.least ? of.tile_bytes : of.prediction.cycles;
    };
    if (bytes <= room && (!best || rank(candidate) < rank(*best))) best = candidate;
  };
  if (pinned) consider(*pinned);
  for (std::uint32_t split = 1; !pinned && split <= std::min(problem.pairs(), machine.tiles);
       split *= 2) {
    butterfly::Plan plan;
    plan.split_features = split;
    const std::uint32_t parts = std::min(problem.units(), machine.tiles / split);
    plan.split_n = ceil_div(problem.units(), ceil_div(problem.units(), parts));
    for (plan.workers_n = 1; plan.workers_n <= machine.tile.contexts; ++plan.workers_n)
      if (machine.tile.contexts % plan.workers_n == 0) consider(plan);
  }
  if (!best)
    throw UserError(
        fmt::format("mlp: a butterfly layer of {} stacks of {} features for {} samples needs {} "
                    "bytes a tile, of which {} are taken, allowed {} (machine.tile.sram_kib {})",
                    linear.stacks(), problem.features, room_of.samples, least, room_of.kept, room,
                    machine.tile.sram_kib));
  return std::make_shared<const ButterflyPlan>(
      ButterflyPlan{{problem, best->plan}, best->tile_bytes * linear.stacks()});
}

}  // namespace tessera::mlp
