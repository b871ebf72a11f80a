#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace tessera {

/// "1 tile", "3 tiles": a number and its noun for messages; only for nouns whose plural takes an s.
inline std::string counted(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace tessera
