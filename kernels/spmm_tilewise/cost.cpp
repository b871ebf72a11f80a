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
// Supervisor code around a vertex of all workers.
constexpr std::uint64_t kPackingInstructions = 8;
constexpr std::uint64_t kOverlayInstructions = 8;
constexpr std::uint64_t kPair =
    16;  // bytes that the packing loop takes at once, and the overlay a pass

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

/// Single elements, from the start of their vertex to the end.
std::uint64_t Cost::overlay(const Group& group, std::uint64_t panels) const {
  if (group.overlay.empty()) return 0;
  const CodeCost code(machine_.tile);
  const auto columns = worker_columns(group.overlay, machine_.tile.contexts);
  const std::uint64_t passes = problem_.vector_bytes() / kPair;
  return code.plain(kOverlayInstructions) + code.run([&](std::uint32_t w) {
    const std::vector<std::uint32_t>& begin = group.overlay.begin;
    return overlay_slots(panels, passes, columns[w].size(),
                         begin[columns[w].end] - begin[columns[w].begin], !group.rows.empty());
  });
}

std::uint64_t Cost::pack(std::uint64_t bytes) const {
  const CodeCost code(machine_.tile);
  const gemm::EvenSplit pairs{bytes / kPair, machine_.tile.contexts};
  return code.plain(kPackingInstructions) +
         code.run([&](std::uint32_t w) { return gemm::packing_slots(pairs.part(w).size()); });
}

GroupCost Cost::group(const Group& group) const {
  const std::uint64_t one = multiply(group, 1, 1, 0) + overlay(group, 1);
  const std::uint64_t two = multiply(group, 2, 1, 0) + overlay(group, 2);
  const std::uint64_t loaded =
      (group.rows.size() + group.overlay.rows.size()) * problem_.vector_bytes();
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
    const std::uint64_t singles = cut + 1 == plan.cuts ? group.overlay.rows.size() : 0;
    const std::uint64_t gathered = (rows + singles) * job.panels.size() * problem_.vector_bytes();
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
      if (cut + 1 == plan.cuts) {
        const Group& group = plan.groups[job.group];
        if (converts && !group.rows.empty()) cycles += pack(y_bytes(plan, job));
        cycles += overlay(group, job.panels.size());
      }
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
    const std::uint64_t elements = group.overlay.row.size();
    tensors.add(job, group.overlay.rows.size() * job.panels.size() * vector +
                         elements * (2 + problem_.block.input_bytes) + 2 * group.positions() + 16);
    received.add(job, job.panels.size() * (streams[job.group] + plan.cuts));
    jobs.add(job, 1);
  }
  const std::uint64_t w_stored = gemm::stored_bytes(w_bytes, machine_.tiles);
  // What is stored is sent in pieces no smaller than a vector; a busy port makes a few go twice.
  const std::uint64_t sends = (a_stored + c_stored) / vector * 5 / 4 + 64;
  const std::uint64_t vertices = jobs.largest() * (plan.cuts + 2);
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

std::vector<std::uint32_t> pattern_streams(const std::vector<Group>& groups,
                                           std::uint32_t padded_k) {
  constexpr std::uint8_t kProduct = 1;
  constexpr std::uint8_t kOverlay = 2;
  std::vector<std::vector<std::uint8_t>> takes;
  for (const Group& group : groups) {
    takes.emplace_back(padded_k, std::uint8_t{0});
    for (const std::uint32_t k : group.rows) takes.back()[k] |= kProduct;
    for (const std::uint32_t k : group.overlay.rows) takes.back()[k] |= kOverlay;
  }
  std::vector<std::uint32_t> streams(groups.size(), 0);
  for (std::uint32_t k = 0; k < padded_k; ++k) {
    const bool begins = k == 0 || std::any_of(takes.begin(), takes.end(),
                                              [k](const auto& of) { return of[k] != of[k - 1]; });
    for (std::size_t g = 0; g < groups.size() && begins; ++g) {
      streams[g] += (takes[g][k] & kProduct) + (takes[g][k] & kOverlay) / kOverlay;
    }
  }
  return streams;
}

}  // namespace tessera::spmm_tilewise
