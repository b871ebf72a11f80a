#include "kernels/sample.h"

#include <variant>

#include "sim/program/exchange_compiler.h"
#include "sim/program/placement.h"

namespace tessera::kernels {

namespace {

constexpr std::uint64_t kControlBytesPerVertex = 24;
constexpr std::uint64_t kControlBytesPerStep = 24;
constexpr std::uint64_t kControlBytes = 64;
constexpr std::uint64_t kAlign = 8;

/// Buffers placed as the program's are.
std::uint64_t tensor_bytes(const program::Program& sample) {
  const program::Flow flow = program::flatten(sample);
  const std::vector<program::Lifetime> lives = program::lifetimes(sample, flow);
  std::vector<program::Block> blocks;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const program::Buffer& buffer = sample.buffers()[i];
    if (lives[i].used() && buffer.bytes > 0)
      blocks.push_back({buffer.bytes, buffer.align, lives[i], buffer.category});
  }
  return program::place(blocks, 0, static_cast<std::uint32_t>(flow.steps.size())).end;
}

}  // namespace

SampleExchange sample_exchange(const program::Exchange& exchange, std::uint32_t tiles) {
  std::uint64_t bytes = 0;
  for (const program::Copy& copy : exchange.copies) bytes += copy.bytes;
  return {{bytes, bytes, 0, tiles}, exchange.copies.size(), exchange.copies.size()};
}

Sample sample_of(program::Program program, std::uint32_t tiles) {
  Sample sample{std::move(program), {}};
  for (const program::Step& step : sample.program.main().steps)
    if (const auto* exchange = std::get_if<program::Exchange>(&step.action))
      sample.exchanges.push_back(sample_exchange(*exchange, tiles));
  return sample;
}

Prediction predict_sample(const Sample& sample, MachineCosts& costs) {
  const TileCost cost = costs.tile(sample.program);
  Prediction p;
  p.compute_cycles = cost.compute_cycles;
  p.sync_cycles = cost.supersteps * costs.barrier();
  for (const SampleExchange& exchange : sample.exchanges)
    p.exchange_cycles += costs.exchange(exchange.load);
  p.cycles = p.compute_cycles + p.exchange_cycles + p.sync_cycles;
  return p;
}

program::CategoryBytes sample_memory(const Sample& sample, const TileConfig& tile) {
  program::CategoryBytes memory{};
  const auto of = [&](program::Category category) -> std::uint64_t& {
    return memory[static_cast<std::size_t>(category)];
  };
  for (const program::Codelet& codelet : sample.program.codelets())
    of(program::Category::code) += round_up<std::uint64_t>(codelet.code.size(), kAlign);
  of(program::Category::tensors) = tensor_bytes(sample.program);
  of(program::Category::control) = kControlBytes;
  for (const program::Step& step : sample.program.main().steps) {
    of(program::Category::control) += kControlBytesPerStep;
    if (const auto* set = std::get_if<program::ComputeSet>(&step.action)) {
      of(program::Category::control) += kControlBytesPerVertex * set->vertices.size();
      for (const program::Vertex& vertex : set->vertices)
        of(program::Category::arguments) +=
            round_up<std::uint64_t>(vertex.arguments.size() * sizeof(std::uint32_t), kAlign);
    }
  }
  for (const SampleExchange& exchange : sample.exchanges)
    of(program::Category::exchange) += program::kListHeaderBytes +
                                       exchange.sends * program::kSendBytes +
                                       exchange.receives * program::kReceiveBytes;
  // Stretches begin within runs, and schedules cut streams.
  of(program::Category::exchange) += of(program::Category::exchange) / 4;
  of(program::Category::stack) =
      tile.supervisor_stack_bytes + std::uint64_t{tile.worker_stack_bytes} * tile.contexts;
  return memory;
}

}  // namespace tessera::kernels
