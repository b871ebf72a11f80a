#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>

namespace tessera::isa {

struct Label {
  std::uint32_t address;
  std::string name;
};

/// Lists the code `bytes` at `address`, one line per word: address, word, text; each label gets a
/// heading before its word. `labels` must be sorted by address. An incomplete last word is left
/// out.
void list(std::ostream& out, std::span<const std::byte> bytes, std::uint32_t address,
          std::span<const Label> labels);

}  // namespace tessera::isa
