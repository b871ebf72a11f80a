#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "sim/isa/mnemonic.h"

namespace tessera::engine::test {

/// Many random programs of the base ISA in one bare-metal ELF file. Each starts from seeded
/// registers and dumps its registers, fcsr and a memory window; the file writes all dumps and
/// exits.
class QemuProgram {
 public:
  explicit QemuProgram(std::uint32_t seed) : source_(seed) {}

  /// The bytes of the ELF file.
  std::vector<std::byte> make(std::uint32_t programs);

  static constexpr std::uint32_t kMemory = 4U << 20;  ///< bytes that the file needs from address 0
  static constexpr std::uint32_t kDumpBytes = 456;    ///< of one program
  [[nodiscard]] const std::vector<std::uint32_t>& used() const { return used_; }

 private:
  void program(std::uint32_t number);
  void dump(std::uint32_t address);
  [[nodiscard]] std::vector<std::byte> file(std::uint32_t dump_bytes) const;
  void random_instruction();
  void emit(const isa::Instruction& instruction);
  void set_address(int reg, std::uint32_t address);
  void random_operands(isa::Instruction& instruction);
  [[nodiscard]] std::uint64_t float_value();
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(source_() % bound); }

  std::mt19937 source_;
  std::vector<std::uint32_t> code_;
  std::vector<std::uint32_t> data_;
  std::vector<std::uint32_t> used_ = std::vector<std::uint32_t>(isa::kMnemonics);
};

}  // namespace tessera::engine::test
