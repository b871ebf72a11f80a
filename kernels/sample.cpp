#include "kernels/sample.h"

#include <variant>

#include "sim/program/exchange_compiler.h"

namespace tessera::kernels {

namespace {

constexpr std::uint64_t kControlBytesPerVertex = 24;
constexpr std::uint64_t kControlBytesPerStep = 24;
constexpr std::uint64_t kControlBytes = 64;
constexpr std::uint64_t kAlign = 8;

std::uint64_t bytes_of(const program::Exchange& exchange) {
  std::uint64_t bytes = 0;
  for (const program::Copy& copy : exchange.copies) bytes += copy.bytes;
  return bytes;
}

}  // namespace

Prediction predict_sample(const program::Program& sample, std::uint32_t tiles,
                          MachineCosts& costs) {
  const TileCost cost = costs.tile(sample);
  Prediction p;
  p.compute_cycles = cost.compute_cycles;
  p.sync_cycles = cost.supersteps * costs.barrier();
  for (const program::Step& step : sample.main().steps) {
    const auto* exchange = std::get_if<program::Exchange>(&step.action);
    if (exchange == nullptr || !step.measured) continue;
    const std::uint64_t bytes = bytes_of(*exchange);
    p.exchange_cycles += costs.exchange({bytes, bytes, 0, tiles});
  }
  p.cycles = p.compute_cycles + p.exchange_cycles + p.sync_cycles;
  return p;
}

program::CategoryBytes sample_memory(const program::Program& sample, const TileConfig& tile) {
  program::CategoryBytes memory{};
  const auto of = [&](program::Category category) -> std::uint64_t& {
    return memory[static_cast<std::size_t>(category)];
  };
  for (const program::Codelet& codelet : sample.codelets())
    of(program::Category::code) += round_up<std::uint64_t>(codelet.code.size(), kAlign);
  for (const program::Buffer& buffer : sample.buffers())
    of(program::Category::tensors) += round_up<std::uint64_t>(buffer.bytes, kAlign);
  of(program::Category::control) = kControlBytes;
  for (const program::Step& step : sample.main().steps) {
    of(program::Category::control) += kControlBytesPerStep;
    if (const auto* exchange = std::get_if<program::Exchange>(&step.action)) {
      of(program::Category::exchange) +=
          program::kListHeaderBytes +
          exchange->copies.size() * (program::kSendBytes + program::kReceiveBytes);
    } else if (const auto* set = std::get_if<program::ComputeSet>(&step.action)) {
      of(program::Category::control) += kControlBytesPerVertex * set->vertices.size();
      for (const program::Vertex& vertex : set->vertices)
        of(program::Category::arguments) +=
            round_up<std::uint64_t>(vertex.arguments.size() * sizeof(std::uint32_t), kAlign);
    }
  }
  of(program::Category::stack) =
      tile.supervisor_stack_bytes + std::uint64_t{tile.worker_stack_bytes} * tile.contexts;
  return memory;
}

}  // namespace tessera::kernels
