#include "sim/elf/double_arithmetic.h"

#include <algorithm>
#include <cstring>

#include "sim/base/errors.h"
#include "sim/isa/decode.h"
#include "sim/isa/disassemble.h"

namespace tessera::elf {
namespace {

bool is_in(std::span<const CodeRange> ranges, std::uint32_t address) {
  return std::ranges::any_of(ranges, [address](const CodeRange& range) {
    return address >= range.address && address - range.address < range.size;
  });
}

/// Code ranges of all functions, because linkers put constants between functions; all code if the
/// file names no function with a size.
std::vector<CodeRange> functions(const Program& file) {
  std::vector<CodeRange> ranges;
  for (const Symbol& symbol : file.symbols)
    if (symbol.function && symbol.size > 0) ranges.push_back({symbol.address, symbol.size});
  return ranges.empty() ? file.code : ranges;
}

}  // namespace

bool is_double_arithmetic(std::uint32_t word) {
  const std::uint32_t opcode = word & 0x7fU;
  const bool fused = opcode >= 0x43 && opcode <= 0x4f && (opcode & 3U) == 3U;
  const bool operation = opcode == 0x53;
  const std::uint32_t type = (word >> 25) & 3U;
  const bool from_double = word >> 27 == 8 && ((word >> 20) & 31U) == 1;
  const bool computes = ((fused || operation) && type == 1) || (operation && from_double);
  return computes && !isa::decode(word);  // fsgnj.d moves containers
}

void refuse_double_arithmetic(const Program& file) {
  const std::vector<CodeRange> ranges = functions(file);
  for (const Segment& segment : file.segments) {
    if (!segment.executable) continue;
    for (std::uint32_t at = 0; at + sizeof(std::uint32_t) <= segment.bytes.size(); at += 4) {
      std::uint32_t word = 0;
      std::memcpy(&word, segment.bytes.data() + at, sizeof word);
      const std::uint32_t address = segment.address + at;
      if (!is_double_arithmetic(word) || !is_in(ranges, address)) continue;
      throw UserError("{}: at {:#x}: {}: {}", file.name, address, isa::disassemble(word, address),
                      kDoubleArithmetic);
    }
  }
}

}  // namespace tessera::elf
