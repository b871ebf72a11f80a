#include <algorithm>

#include "kernels/gemm/geometry.h"
#include "kernels/spmm_tilewise/cost.h"
#include "kernels/spmm_tilewise/steps.h"
#include "sim/program/exchange_compiler.h"

namespace tessera::spmm_tilewise {

namespace {

using program::kListHeaderBytes;
using program::kReceiveBytes;
using program::kSendBytes;

constexpr std::uint64_t kControlBytesPerVertex = 64;
// Of a product, the longest argument block.
constexpr std::uint64_t kArgumentBytes = 32;
constexpr std::uint64_t kWorkerArgumentBytes = 16;

}  // namespace

std::uint64_t Cost::code_bytes(const Plan& plan) const {
  bool product = false;
  bool overlay = false;
  for (const Group& group : plan.groups) {
    product = product || !group.rows.empty();
    overlay = overlay || !group.overlay.empty();
  }
  std::uint64_t bytes = 0;
  if (product) bytes += code_.gemm.bytes("gemm_" + problem_.block.name());
  if (product && converts()) bytes += code_.gemm.bytes("gemm_pack");
  for (const bool adds : {false, true})
    if (overlay) bytes += code_.sparse.bytes(overlay_codelet(problem_, adds));
  return bytes;
}

program::CategoryBytes Cost::memory(const Plan& plan,
                                    const std::vector<std::uint32_t>& streams) const {
  const std::uint64_t vector = problem_.vector_bytes();
  const std::uint64_t panels = problem_.panels();
  const std::uint64_t a_stored =
      ceil_div<std::uint64_t>(panels * problem_.padded_k(), machine().tiles) * vector;
  const std::uint64_t c_stored =
      ceil_div<std::uint64_t>(panels * problem_.n, machine().tiles) * vector;
  std::uint64_t w_bytes = 0;
  PerTile tensors(machine().tiles);
  PerTile received(machine().tiles);
  PerTile jobs(machine().tiles);
  for (const Job& job : plan.jobs) {
    const Group& group = plan.groups[job.group];
    const std::uint64_t weights =
        group.rows.size() * group.positions() * problem_.block.input_bytes;
    if (job.panels.begin == 0) w_bytes += weights;
    const std::uint64_t rows = rows_in(group, problem_, plan.cuts, 0).size();
    tensors.add(job, rows * group.positions() * problem_.block.input_bytes +
                         rows * job.panels.size() * vector + y_bytes(plan, job) +
                         (converts() ? y_bytes(plan, job) / 2 : 0));
    const std::uint64_t elements = group.overlay.row.size();
    tensors.add(job, group.overlay.rows.size() * job.panels.size() * vector +
                         elements * (2 + problem_.block.input_bytes) + 2 * group.positions() + 16);
    received.add(job, job.panels.size() * (streams[job.group] + plan.cuts));
    jobs.add(job, 1);
  }
  const std::uint64_t w_stored = gemm::stored_bytes(w_bytes, machine().tiles);
  // What is stored is sent in pieces no smaller than a vector; a busy port makes a few go twice.
  const std::uint64_t sends = (a_stored + c_stored) / vector * 5 / 4 + 64;
  const std::uint64_t vertices = jobs.largest() * (plan.cuts + 2);
  program::CategoryBytes memory{};
  const auto of = [&](program::Category category) -> std::uint64_t& {
    return memory[static_cast<std::size_t>(category)];
  };
  of(program::Category::code) = code_bytes(plan);
  of(program::Category::control) = vertices * kControlBytesPerVertex;
  of(program::Category::exchange) = (plan.cuts + 1) * kListHeaderBytes + sends * kSendBytes +
                                    (received.largest() + 64) * kReceiveBytes;
  of(program::Category::arguments) =
      vertices * (kArgumentBytes + kWorkerArgumentBytes * machine().tile.contexts);
  of(program::Category::tensors) = a_stored + c_stored + w_stored + tensors.largest();
  of(program::Category::stack) =
      machine().tile.supervisor_stack_bytes +
      std::uint64_t{machine().tile.worker_stack_bytes} * machine().tile.contexts;
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
