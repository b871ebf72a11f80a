#include "sim/report/executed.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "sim/engine/result_costs.h"
#include "sim/engine/timing.h"
#include "sim/isa/decode.h"

namespace tessera::report {

using isa::Mnemonic;

namespace {

std::vector<std::optional<isa::Instruction>> decoded(std::span<const std::byte> code) {
  std::vector<std::optional<isa::Instruction>> all;
  for (std::size_t at = 0; at + sizeof(std::uint32_t) <= code.size(); at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, &code[at], sizeof word);
    all.push_back(isa::decode(word));
  }
  return all;
}

}  // namespace

Executed::Executed(const program::Images& images, const RunResult& result, std::size_t begin,
                   std::size_t end) {
  for (std::size_t tile = begin; tile < std::min(end, result.activity.size()); ++tile)
    done_.add(result.activity[tile]);
  std::set<const program::CodeImage*> seen;
  for (std::size_t tile = begin; tile < std::min(end, images.tiles.size()); ++tile) {
    const program::CodeImage* const code = images.tiles[tile].code.get();
    if (code != nullptr && seen.insert(code).second) note(code->bytes);
  }
}

void Executed::note(std::span<const std::byte> code) {
  for (const std::optional<isa::Instruction>& instruction : decoded(code)) {
    if (!instruction) continue;
    mnemonics_[isa::index(instruction->mnemonic)] = true;
    if (instruction->mnemonic == Mnemonic::run_block)
      blocks_.insert(static_cast<std::uint32_t>(instruction->imm));
    const engine::ResultCosts& costs = engine::costs_of(isa::result_class(instruction->mnemonic));
    results_[static_cast<std::size_t>(costs.result)] |= some(costs.counted);
  }
}

SupervisorWaits supervisor_waits(const program::CodeImage& image, TileConfig tile) {
  tile.supervisor.load_use_stall_cycles = 1;
  const engine::Timing timing(engine::Role::supervisor, tile);
  const auto code = decoded(image.bytes);
  SupervisorWaits waits;
  bool calls = false;
  for (std::size_t i = image.entry.count() / 4; i < code.size(); ++i) {
    if (!code[i]) continue;
    const isa::InstructionInfo& known = isa::info(code[i]->mnemonic);
    const bool jumps = known.format == isa::Format::j || code[i]->mnemonic == Mnemonic::jalr;
    calls |= jumps;
    waits.branches |= jumps || known.format == isa::Format::b;
  }
  for (std::size_t i = calls ? 0 : image.entry.count() / 4; i + 1 < code.size(); ++i)
    waits.loads |= code[i] && code[i + 1] && timing.stall(*code[i], *code[i + 1]) > 0;
  return waits;
}

}  // namespace tessera::report
