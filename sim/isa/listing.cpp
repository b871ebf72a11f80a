#include "sim/isa/listing.h"

#include <algorithm>
#include <cstring>
#include <ostream>

#include <fmt/format.h>

#include "sim/isa/disassemble.h"

namespace tessera::isa {

void list(std::ostream& out, std::span<const std::byte> bytes, std::uint32_t address,
          std::span<const Label> labels) {
  auto label =
      std::lower_bound(labels.begin(), labels.end(), address,
                       [](const Label& one, std::uint32_t wanted) { return one.address < wanted; });
  for (std::size_t offset = 0; offset + 4 <= bytes.size(); offset += 4) {
    const std::uint32_t at = address + static_cast<std::uint32_t>(offset);
    for (; label != labels.end() && label->address < at + 4; ++label) {
      out << fmt::format("{}{:08x} <{}>:\n", offset == 0 ? "" : "\n", label->address, label->name);
    }
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + offset, sizeof word);
    out << fmt::format("{:8x}:  {:08x}  {}\n", at, word, disassemble(word, at));
  }
}

}  // namespace tessera::isa
