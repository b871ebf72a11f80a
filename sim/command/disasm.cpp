#include "sim/command/disasm.h"

#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "sim/config/nearest.h"
#include "sim/elf/elf.h"
#include "sim/isa/disassemble.h"

namespace tessera::command {
namespace {

struct Extent {
  std::uint32_t begin;
  std::uint64_t end;
};

/// From the symbol's address to its end, or to the next symbol where it has no size.
Extent extent_of(const elf::Program& program, const std::string& symbol) {
  for (const elf::Symbol& each : program.symbols) {
    if (each.name != symbol) continue;
    std::uint64_t end = std::uint64_t{each.address} + each.size;
    for (const elf::Symbol& next : program.symbols) {
      if (each.size != 0 || next.address <= each.address) continue;
      end = next.address;
      break;
    }
    return {each.address, each.size == 0 && end == each.address ? UINT64_MAX : end};
  }
  std::vector<std::string_view> names;
  for (const elf::Symbol& each : program.symbols) {
    if (each.function) names.emplace_back(each.name);
  }
  throw UserError(fmt::format("{}: found no symbol {}, allowed {}{}", program.name, symbol,
                              config::list_of(names), config::did_you_mean(symbol, names)));
}

void print_segment(const elf::Program& program, const elf::Segment& segment, Extent extent) {
  auto symbol = program.symbols.begin();
  for (std::size_t offset = 0; offset + 4 <= segment.bytes.size(); offset += 4) {
    const auto address = segment.address + static_cast<std::uint32_t>(offset);
    if (address < extent.begin || address >= extent.end) continue;
    while (symbol != program.symbols.end() && symbol->address < address) ++symbol;
    for (auto here = symbol; here != program.symbols.end() && here->address == address; ++here) {
      fmt::print("{}:\n", here->name);
    }
    std::uint32_t word = 0;
    std::memcpy(&word, segment.bytes.data() + offset, sizeof word);
    fmt::print("{:8x}:  {:08x}  {}\n", address, word, isa::disassemble(word, address));
  }
}

}  // namespace

ExitCode disasm(const DisasmRequest& request) {
  const elf::Program program = elf::read_file(request.file);
  const Extent extent =
      request.symbol.empty() ? Extent{0, UINT64_MAX} : extent_of(program, request.symbol);
  for (const elf::Segment& segment : program.segments) {
    if (segment.executable) print_segment(program, segment, extent);
  }
  return ExitCode::done;
}

}  // namespace tessera::command
