#include "sim/elf/listing.h"

#include <algorithm>

#include "sim/base/errors.h"
#include "sim/config/nearest.h"
#include "sim/isa/listing.h"

namespace tessera::elf {
namespace {

const Symbol& find(const Program& file, std::string_view name) {
  std::vector<std::string_view> known;
  for (const Symbol& symbol : file.symbols) {
    if (symbol.name == name) return symbol;
    known.emplace_back(symbol.name);
  }
  throw UserError("{}: has no symbol {}{}", file.name, name, config::did_you_mean(name, known));
}

CodeRange extent(const Program& file, const Symbol& symbol) {
  if (symbol.size > 0) return {symbol.address, symbol.size};
  const auto next = std::ranges::find_if(
      file.symbols, [&](const Symbol& other) { return other.address > symbol.address; });
  const std::uint32_t end = next == file.symbols.end() ? ~std::uint32_t{0} : next->address;
  return {symbol.address, end - symbol.address};
}

/// Lists the part of `range` that the file has bytes for.
void list_range(std::ostream& out, const Program& file, CodeRange range,
                std::span<const isa::Label> labels) {
  for (const Segment& segment : file.segments) {
    const std::uint64_t first = std::max(range.address, segment.address);
    const std::uint64_t last = std::min(std::uint64_t{range.address} + range.size,
                                        std::uint64_t{segment.address} + segment.bytes.size());
    if (first >= last) continue;
    isa::list(out, std::span(segment.bytes).subspan(first - segment.address, last - first),
              static_cast<std::uint32_t>(first), labels);
  }
}

}  // namespace

void list(std::ostream& out, const Program& file, std::string_view symbol) {
  std::vector<isa::Label> labels;
  for (const Symbol& one : file.symbols) labels.push_back({one.address, one.name});
  if (!symbol.empty()) return list_range(out, file, extent(file, find(file, symbol)), labels);
  for (const CodeRange range : file.code) list_range(out, file, range, labels);
}

}  // namespace tessera::elf
