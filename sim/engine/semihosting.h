#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace tessera::engine {

/// The calls by which a bare program requests output and exit from its debugger: ebreak between
/// slli x0, x0, 31 and srai x0, x0, 7, with the operation in a0 and its argument in a1 (RISC-V
/// Semihosting 0.4; operations of Arm's semihosting 2.0). Picolibc's printf and exit make them
/// (--oslib=semihost). Supports writes and exit; input is at end-of-file; there are no files.
class Semihosting {
 public:
  using Write = std::function<void(int descriptor, std::string_view text)>;

  /// For code that ends at `code_end`. Replaces each ebreak of such a call by an ecall, after which
  /// code continues.
  Semihosting(std::span<std::byte> memory, std::uint32_t code_end, const Write& write);

  [[nodiscard]] bool is_call(std::uint32_t pc) const { return calls_.contains(pc); }

  struct Answer {
    std::uint32_t a0 = 0;
    std::optional<std::uint32_t> exit_code = {};
  };
  [[nodiscard]] Answer answer(std::uint32_t operation, std::uint32_t argument);

 private:
  [[nodiscard]] std::uint32_t word(std::uint64_t address) const;
  [[nodiscard]] std::optional<std::string> bytes(std::uint32_t address, std::uint32_t size) const;
  [[nodiscard]] std::string text(std::uint32_t address) const;
  [[nodiscard]] std::uint32_t open(std::uint32_t block);
  [[nodiscard]] std::uint32_t write(std::uint32_t block) const;
  [[nodiscard]] std::uint32_t read(std::uint32_t block);
  void put(int descriptor, std::string_view text) const;

  std::span<std::byte> memory_;
  Write write_;
  std::set<std::uint32_t> calls_;
  std::uint32_t features_read_ = 0;  ///< bytes of :semihosting-features
};

}  // namespace tessera::engine
