#include "kernels/spmm_tilewise/cost.h"

#include <algorithm>

#include "kernels/gemm/geometry.h"
#include "kernels/gemm/product_cost.h"
#include "sim/program/exchange_compiler.h"

namespace tessera::spmm_tilewise {

namespace {

using program::kListHeaderBytes;
using program::kReceiveBytes;
using program::kSendBytes;

// Of tile code and argument blocks.
constexpr std::uint64_t kCodeBytes = 3072;
constexpr std::uint64_t kControlBytesPerVertex = 64;
constexpr std::uint64_t kArgumentBytes = 128;
// Supervisor code around a packing vertex.
constexpr std::uint64_t kPackingInstructions = 8;
constexpr std::uint64_t kPair = 16;  // bytes that the packing loop takes at once

/// Adds up what machine tiles have, job by job.
class PerTile {
 public:
  explicit PerTile(std::uint32_t tiles) : sums_(tiles, 0) {}
  void add(const Job& job, std::uint64_t what) { sums_[job.machine] += what; }
  [[nodiscard]] std::uint64_t largest() const {
    return *std::max_element(sums_.begin(), sums_.end());
  }
  [[nodiscard]] Imbalance imbalance() const {
    Imbalance all;
    for (const std::uint64_t sum : sums_) {
      all.mean += static_cast<double>(sum) / static_cast<double>(sums_.size());
      all.max = std::max(all.max, static_cast<double>(sum));
    }
    return all;
  }

 private:
  std::vector<std::uint64_t> sums_;
};

}  // namespace

std::uint64_t Cost::multiply(const Group& group, std::uint64_t panels, std::uint32_t cuts,
                             std::uint32_t cut) const {
  const std::uint64_t depth = depth_blocks(group, problem_, cuts, cut).size();
  if (depth == 0 || panels == 0) return 0;
  return gemm::ProductCost(machine_.tile)
      .product(problem_.block, group.positions(), panels, depth, cut > 0);
}

std::uint64_t Cost::pack(std::uint64_t bytes) const {
  const CodeCost code(machine_.tile);
  const gemm::EvenSplit pairs{bytes / kPair, machine_.tile.contexts};
  return code.plain(kPackingInstructions) +
         code.run([&](std::uint32_t w) { return gemm::packing_slots(pairs.part(w).size()); });
}

GroupCost Cost::group(const Group& group) const {
  const std::uint64_t one = multiply(group, 1, 1, 0);
  const std::uint64_t two = multiply(group, 2, 1, 0);
  const std::uint64_t loaded = group.rows.size() * problem_.vector_bytes();
  const std::uint64_t panel =
      two - one + ceil_div<std::uint64_t>(loaded, machine_.fabric.receive_bytes_per_cycle);
  return {one > panel ? one - panel : 0, panel};
}

std::uint64_t Cost::y_bytes(const Plan& plan, const Job& job) const {
  return plan.groups[job.group].positions() * job.panels.size() * problem_.block.y_bytes();
}

/// Into the fullest tile: its rows of A^T, and its weights, which a pair with one group shares.
std::uint64_t Cost::load(const Plan& plan, std::uint32_t cut) const {
  const FabricConfig& fabric = machine_.fabric;
  const std::uint64_t rate = std::min(fabric.receive_bytes_per_cycle, fabric.send_bytes_per_cycle);
  PerTile received(machine_.tiles);
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    const Job& job = plan.jobs[i];
    const Group& group = plan.groups[job.group];
    const std::size_t other = job.machine % 2 == 0 ? i + 1 : i - 1;
    const bool shared = fabric.pair_sharing && other < plan.jobs.size() &&
                        plan.jobs[other].group == job.group &&
                        plan.jobs[other].machine == (job.machine ^ 1);
    const std::uint64_t rows =
        depth_blocks(group, problem_, plan.cuts, cut).size() * problem_.block.depth;
    const std::uint64_t weights = rows * group.positions() * problem_.block.input_bytes;
    const std::uint64_t gathered = rows * job.panels.size() * problem_.vector_bytes();
    received.add(job, ceil_div(weights, shared ? 2 * rate : rate) + ceil_div(gathered, rate));
  }
  return fabric.fixed_cycles + received.largest();
}

std::uint64_t Cost::scatter(const Plan& plan) const {
  const FabricConfig& fabric = machine_.fabric;
  const std::uint64_t rate = std::min(fabric.receive_bytes_per_cycle, fabric.send_bytes_per_cycle);
  const std::uint64_t vectors = std::uint64_t{problem_.panels()} * problem_.n;
  const std::uint64_t stored =
      ceil_div<std::uint64_t>(vectors, machine_.tiles) * problem_.vector_bytes();
  PerTile sent(machine_.tiles);
  for (const Job& job : plan.jobs) {
    sent.add(job, plan.groups[job.group].positions() * job.panels.size() * problem_.vector_bytes());
  }
  return fabric.fixed_cycles + ceil_div(std::max(sent.largest(), stored), rate);
}

void Cost::predict(Plan& plan) const {
  Prediction& p = plan.prediction;
  p = {};
  const bool converts = problem_.block.input != problem_.block.partial;
  PerTile all(machine_.tiles);
  for (std::uint32_t cut = 0; cut < plan.cuts; ++cut) {
    PerTile tiles(machine_.tiles);
    for (const Job& job : plan.jobs) {
      std::uint64_t cycles = multiply(plan.groups[job.group], job.panels.size(), plan.cuts, cut);
      if (converts && cut + 1 == plan.cuts) cycles += pack(y_bytes(plan, job));
      tiles.add(job, cycles);
      all.add(job, cycles);
    }
    p.compute_cycles += tiles.largest();
    p.exchange_cycles += load(plan, cut);
    p.sync_cycles += machine_.sync.chip_cycles;
  }
  if (!plan.jobs.empty()) {
    p.exchange_cycles += scatter(plan);
    p.sync_cycles += machine_.sync.chip_cycles;
  }
  p.cycles = p.compute_cycles + p.exchange_cycles + p.sync_cycles;
  plan.cycles = all.imbalance();
}

program::CategoryBytes Cost::memory(const Plan& plan,
                                    const std::vector<std::uint32_t>& streams) const {
  const std::uint64_t vector = problem_.vector_bytes();
  const std::uint64_t panels = problem_.panels();
  const std::uint64_t a_stored =
      ceil_div<std::uint64_t>(panels * problem_.padded_k(), machine_.tiles) * vector;
  const std::uint64_t c_stored =
      ceil_div<std::uint64_t>(panels * problem_.n, machine_.tiles) * vector;
  std::uint64_t w_bytes = 0;
  PerTile tensors(machine_.tiles);
  PerTile received(machine_.tiles);
  PerTile jobs(machine_.tiles);
  for (const Job& job : plan.jobs) {
    const Group& group = plan.groups[job.group];
    const std::uint64_t weights =
        group.rows.size() * group.positions() * problem_.block.input_bytes;
    if (job.panels.begin == 0) w_bytes += weights;
    const std::uint64_t most = depth_blocks(group, problem_, plan.cuts, 0).size();
    const std::uint64_t rows = most * problem_.block.depth;
    const bool converts = problem_.block.input != problem_.block.partial;
    tensors.add(job, rows * group.positions() * problem_.block.input_bytes +
                         rows * job.panels.size() * vector + y_bytes(plan, job) +
                         (converts ? y_bytes(plan, job) / 2 : 0));
    received.add(job, job.panels.size() * (streams[group.tile] + plan.cuts));
    jobs.add(job, 1);
  }
  const std::uint64_t w_stored = gemm::stored_bytes(w_bytes, machine_.tiles);
  // What is stored is sent in pieces no smaller than a vector; a busy port makes a few go twice.
  const std::uint64_t sends = (a_stored + c_stored) / vector * 5 / 4 + 64;
  const std::uint64_t vertices = jobs.largest() * (plan.cuts + 1);
  program::CategoryBytes memory{};
  const auto of = [&](program::Category category) -> std::uint64_t& {
    return memory[static_cast<std::size_t>(category)];
  };
  of(program::Category::code) = kCodeBytes;
  of(program::Category::control) = vertices * kControlBytesPerVertex;
  of(program::Category::exchange) = (plan.cuts + 1) * kListHeaderBytes + sends * kSendBytes +
                                    (received.largest() + 64) * kReceiveBytes;
  of(program::Category::arguments) = vertices * kArgumentBytes;
  of(program::Category::tensors) = a_stored + c_stored + w_stored + tensors.largest();
  of(program::Category::stack) =
      machine_.tile.supervisor_stack_bytes +
      std::uint64_t{machine_.tile.worker_stack_bytes} * machine_.tile.contexts;
  return memory;
}

std::vector<std::uint32_t> pattern_streams(const std::vector<Group>& groups, std::size_t tiles,
                                           std::uint32_t padded_k) {
  std::vector<std::vector<bool>> takes(tiles, std::vector<bool>(padded_k + std::size_t{1}, false));
  for (const Group& group : groups) {
    for (const std::uint32_t k : group.rows) takes[group.tile][k] = true;
  }
  std::vector<std::uint32_t> streams(tiles, 0);
  for (std::uint32_t k = 0; k < padded_k; ++k) {
    const bool begins =
        k == 0 || std::any_of(takes.begin(), takes.end(),
                              [k](const auto& takes_of) { return takes_of[k] != takes_of[k - 1]; });
    for (std::size_t t = 0; t < tiles && begins; ++t) streams[t] += takes[t][k] ? 1 : 0;
  }
  return streams;
}

}  // namespace tessera::spmm_tilewise
