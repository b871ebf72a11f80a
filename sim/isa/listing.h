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

/// Writes `bytes`, which stand at `address`, a line a word: address, word, text; a heading before
/// each label's word. `labels` are sorted by address. A rest of less than a word is left out.
void list(std::ostream& out, std::span<const std::byte> bytes, std::uint32_t address,
          std::span<const Label> labels);

}  // namespace tessera::isa
