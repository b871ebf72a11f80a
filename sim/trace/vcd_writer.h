#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trace/output.h"

namespace tessera::trace {

/// Writes a value change dump: numbers, and texts as GTKWave shows them ($var string). Source: IEEE
/// 1364-2005, 18.2; gtkwave.sourceforge.net for strings.
class VcdWriter {
 public:
  using Signal = std::uint32_t;

  /// Times are in femtoseconds.
  explicit VcdWriter(std::ostream& out);

  // Declarations, before the first change.
  void begin_scope(std::string_view name);
  void end_scope();
  Signal add_number(std::string_view name, std::uint32_t bits);
  Signal add_text(std::string_view name);
  void end_declarations();

  /// Sets the time of the following changes to `femtoseconds`, not before the last time.
  void at(std::uint64_t femtoseconds);
  void number(Signal signal, std::uint64_t value);
  void text(Signal signal, std::string_view word);
  /// A word that text() accepts: not empty, without white space, of limited length.
  static std::string word_of(std::string_view text);
  void comment(std::string_view text);

  [[nodiscard]] std::uint64_t bytes() const { return output_.bytes(); }
  void flush() { output_.flush(); }

 private:
  /// As in the file, with the newline; five printable characters suffice for 2^32 signals.
  struct Id {
    std::array<char, 7> bytes{};
    std::uint8_t size = 0;
    [[nodiscard]] std::string_view text() const { return {bytes.data(), size}; }
  };
  Signal declare(std::string_view type, std::uint32_t bits, std::string_view name);

  Output output_;
  std::vector<Id> ids_;  ///< by signal
  std::uint64_t now_ = 0;
  bool timed_ = false;
};

}  // namespace tessera::trace
