#include "sim/report/executed.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "sim/engine/result_costs.h"
#include "sim/isa/decode.h"

namespace tessera::report {

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
  for (std::size_t at = 0; at + sizeof(std::uint32_t) <= code.size(); at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, &code[at], sizeof word);
    const auto instruction = isa::decode(word);
    if (!instruction) continue;
    mnemonics_[isa::index(instruction->mnemonic)] = true;
    const engine::ResultCosts& costs = engine::costs_of(isa::result_class(instruction->mnemonic));
    results_[static_cast<std::size_t>(costs.result)] |= some(costs.counted);
  }
}

}  // namespace tessera::report
