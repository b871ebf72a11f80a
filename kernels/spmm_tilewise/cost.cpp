#include "kernels/spmm_tilewise/cost.h"

#include <algorithm>

#include "kernels/sparse/plan/traffic.h"
#include "kernels/spmm_tilewise/steps.h"

namespace tessera::spmm_tilewise {

Cost::Cost(const Problem& problem, MachineCosts& costs)
    : problem_(problem), costs_(costs), steps_(costs), dense_(costs) {
  for (const bool adds : {false, true}) works_[adds ? 1 : 0] = measure_overlay(adds);
}

/// Slopes between a few panels, columns and elements, the same for all workers.
OverlayWork Cost::measure_overlay(bool adds) {
  constexpr std::uint32_t kFew = 4, kMany = 12;
  const std::uint32_t workers = machine().tile.contexts;
  const auto cycles = [&](std::uint64_t panels, std::uint32_t columns, std::uint32_t elements) {
    OverlayPart part{{0}, {0}, {}};
    for (std::uint32_t c = 0; c < columns * workers; ++c) {
      part.row.resize(part.row.size() + elements, 0);
      part.begin.push_back(word(part.row.size()));
    }
    return static_cast<double>(steps_.vertex([&](program::Program& program) {
      sparse::Assembly assembly(code_, program, workers);
      const auto buffer = [&](std::uint64_t bytes) { return assembly.buffer(0, bytes, "sample"); };
      const std::uint64_t vectors = panels * problem_.vector_bytes();
      const OverlayBuffers buffers{assembly.list(0, overlay_list(problem_, part), "list"),
                                   buffer(part.row.size() * problem_.block.input_bytes + 8),
                                   buffer(vectors), buffer(vectors * columns * workers)};
      return overlay_product(assembly, problem_, TileId{0}, part, {0, 0, 1, 0}, panels, adds,
                             buffers);
    }));
  };
  const double few = cycles(1, kFew, kFew);
  OverlayWork work{};
  work.element = (cycles(1, kFew, kMany) - few) / (kFew * (kMany - kFew));
  work.column = (cycles(1, kMany, kFew) - few) / (kMany - kFew) - kFew * work.element;
  const double panel = cycles(2, kFew, kFew) - few;
  work.panel = panel - kFew * (work.column + kFew * work.element);
  work.once = few - panel;
  return work;
}

std::uint64_t Cost::multiply(const Group& group, std::uint64_t panels, std::uint32_t cuts,
                             std::uint32_t cut) {
  const std::uint64_t depth = depth_blocks(group, problem_, cuts, cut).size();
  if (depth == 0 || panels == 0) return 0;
  return dense_.product(problem_.block, {group.positions(), panels, depth, cut > 0});
}

std::uint64_t Cost::overlay(const Group& group, std::uint64_t panels) const {
  if (group.overlay.empty()) return 0;
  const OverlayWork& work = works_[group.rows.empty() ? 0 : 1];
  const std::vector<std::uint32_t>& begin = group.overlay.begin;
  double most = 0;
  for (const Interval& mine :
       worker_columns(group.overlay, overlay_work(), machine().tile.contexts)) {
    const double cycles =
        work.cycles(static_cast<double>(mine.size()), begin[mine.end] - begin[mine.begin]);
    most = std::max(most, cycles);
  }
  return static_cast<std::uint64_t>(work.once + static_cast<double>(panels) * most);
}

GroupCost Cost::group(const Group& group) {
  const std::uint64_t one = multiply(group, 1, 1, 0) + overlay(group, 1);
  const std::uint64_t two = multiply(group, 2, 1, 0) + overlay(group, 2);
  const std::uint64_t bytes =
      (group.rows.size() + group.overlay.rows.size()) * problem_.vector_bytes();
  // As if each tile sent as much: the groups' tiles do not depend on the faster of two rates.
  const std::uint64_t loaded = costs_.exchange({bytes, bytes, 0, machine().tiles}) -
                               costs_.exchange({0, 0, 0, machine().tiles});
  const std::uint64_t panel = two - one + loaded;
  return {one > panel ? one - panel : 0, panel};
}

/// Into tiles: their rows of A^T, and their weights, which a pair with one group shares.
ExchangeLoad Cost::load(const Plan& plan, std::uint32_t cut) const {
  sparse::Traffic traffic(machine().tiles);
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    const Job& job = plan.jobs[i];
    const Group& group = plan.groups[job.group];
    const std::uint64_t rows = rows_in(group, problem_, plan.cuts, cut).size();
    const std::uint64_t weights = rows * group.positions() * problem_.block.input_bytes;
    const std::uint64_t singles = cut + 1 == plan.cuts ? group.overlay.rows.size() : 0;
    traffic.receive(job.machine,
                    weights + (rows + singles) * job.panels.size() * problem_.vector_bytes());
    if (i > 0 && job.machine % 2 == 1 && plan.jobs[i - 1].group == job.group &&
        plan.jobs[i - 1].machine == job.machine - 1)
      traffic.share(job.machine, weights);
  }
  return traffic.most(costs_);
}

ExchangeLoad Cost::scatter(const Plan& plan) const {
  sparse::Traffic traffic(machine().tiles);
  const std::uint64_t vector = problem_.vector_bytes();
  const EvenStorage c(std::uint64_t{problem_.panels()} * problem_.n * vector, vector,
                      machine().tiles);
  traffic.receive(0, c.each());
  for (const Job& job : plan.jobs)
    traffic.send(job.machine, plan.groups[job.group].positions() * job.panels.size() * vector);
  return traffic.most(costs_);
}

void Cost::predict(Plan& plan) {
  plan.prediction = {};
  PerTile all(machine().tiles);
  for (std::uint32_t cut = 0; cut < plan.cuts; ++cut) {
    PerTile tiles(machine().tiles);
    for (const Job& job : plan.jobs) {
      const Group& group = plan.groups[job.group];
      std::uint64_t cycles = multiply(group, job.panels.size(), plan.cuts, cut);
      if (cut + 1 == plan.cuts) {
        if (converts() && !group.rows.empty()) cycles += dense_.packing(y_bytes(plan, job));
        cycles += overlay(group, job.panels.size());
      }
      tiles.add(job, cycles);
      all.add(job, cycles);
    }
    steps_.add(plan.prediction, {load(plan, cut), tiles.largest()});
  }
  if (!plan.jobs.empty()) steps_.add(plan.prediction, {scatter(plan), 0});
  plan.cycles = all.imbalance();
}

}  // namespace tessera::spmm_tilewise
