#include "sim/base/errors.h"

#include <algorithm>

namespace tessera {
namespace {

constexpr std::size_t kLongestLine = 1600;  ///< bytes
constexpr std::size_t kKeptFront = 1000;
constexpr std::size_t kKeptBack = 400;

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80; }

/// Bytes of the UTF-8 character at the beginning of `text`; 0 if there is none.
std::size_t character_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t bytes = first < 0x80                    ? 1
                            : first >= 0xc2 && first < 0xe0 ? 2
                            : first >= 0xe0 && first < 0xf0 ? 3
                            : first >= 0xf0 && first < 0xf5 ? 4
                                                            : 0;
  if (bytes == 0 || text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if (!continues(text[i])) return 0;
  return bytes;
}

/// True for C0 and C1 of ISO 6429 and for delete.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1)
    return (first < 0x20 && first != '\t' && first != '\n') || first == 0x7f;
  return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

std::string escaped(std::string_view message) {
  std::string text;
  while (!message.empty()) {
    const std::size_t bytes = character_bytes(message);
    const std::string_view next = message.substr(0, bytes == 0 ? 1 : bytes);
    message.remove_prefix(next.size());
    if (bytes > 0 && !is_control(next)) {
      text += next;
      continue;
    }
    for (const char c : next) text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text;
}

std::string shortened(std::string_view line) {
  if (line.size() <= kLongestLine) return std::string(line);
  std::size_t front = kKeptFront;
  std::size_t back = line.size() - kKeptBack;
  while (continues(line[front])) --front;
  while (continues(line[back])) ++back;
  return fmt::format("{} ... ({} bytes left out) ... {}", line.substr(0, front), back - front,
                     line.substr(back));
}

}  // namespace

std::string legible(std::string_view message) {
  const std::string all = escaped(message);
  std::string text;
  for (std::size_t at = 0; at <= all.size();) {
    const std::size_t end = std::min(all.find('\n', at), all.size());
    text += shortened(std::string_view(all).substr(at, end - at));
    if (end < all.size()) text += '\n';
    at = end + 1;
  }
  return text;
}

}  // namespace tessera
