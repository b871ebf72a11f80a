#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/access_log.h"
#include "sim/engine/code.h"
#include "sim/engine/engine.h"
#include "sim/isa/encode.h"
#include "sim/isa/mnemonic.h"
#include "tests/sim/machine/units.h"

namespace tessera::engine::test {

using enum isa::Mnemonic;
using isa::Instruction;
using isa::Mnemonic;

// Builders for the instructions of a test program.
inline Instruction r_type(Mnemonic m, int rd, int rs1, int rs2, int rs3 = 0, int rm = 0) {
  const auto b = [](int value) { return static_cast<std::uint8_t>(value); };
  return {.mnemonic = m, .rd = b(rd), .rs1 = b(rs1), .rs2 = b(rs2), .rs3 = b(rs3), .rm = b(rm)};
}
inline Instruction i_type(Mnemonic m, int rd, int rs1, int imm) {
  Instruction made = r_type(m, rd, rs1, 0);
  made.imm = imm;
  return made;
}
inline Instruction s_type(Mnemonic m, int rs2, int rs1, int imm) {
  Instruction made = r_type(m, 0, rs1, rs2);
  made.imm = imm;
  return made;
}
inline Instruction branch_to(Mnemonic m, int rs1, int rs2, int distance) {
  return s_type(m, rs2, rs1, distance);
}
inline Instruction nop() { return i_type(addi, 0, 0, 0); }
inline Instruction end() { return i_type(xctl, 0, 0, 0); }

/// True if two contexts have the same state, except for their banks.
inline bool same(const Context& a, const Context& b) {
  return std::equal(a.x, a.x + 32, b.x) && std::equal(a.f, a.f + 32, b.f) && a.pc == b.pc &&
         a.fcsr == b.fcsr && a.slots == b.slots && a.instructions == b.instructions &&
         a.flops == b.flops;
}

inline std::vector<std::byte> encoded(const std::vector<Instruction>& program) {
  std::vector<std::uint32_t> words;
  words.reserve(program.size());
  for (const Instruction& instruction : program) words.push_back(isa::encode(instruction));
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

/// A program at address 0 of a small tile memory, and one context that runs it.
class Assembled {
 public:
  static constexpr std::uint32_t kSize = 4096;
  static TileConfig with_unit() { return TileConfig{.matrix_unit = tessera::test::full_unit()}; }

  explicit Assembled(const std::vector<Instruction>& program, Role role = Role::worker,
                     const TileConfig& tile = with_unit(), bool streams = true,
                     CodeCounts counts = {})
      : memory_(kSize),
        weights_(tile.matrix_unit.weight_words()),
        banks_(std::size_t{2} * tile.matrix_unit.bank_sums()) {
    if (tile.matrix_unit.has_vectors()) context.integers = &integers_;
    context.banks = {banks_.data(), banks_.data() + tile.matrix_unit.bank_sums()};
    code_end_ = static_cast<std::uint32_t>(4 * program.size());
    for (std::size_t i = 0; i < program.size(); ++i) word(4 * i, isa::encode(program[i]));
    code_ = std::make_shared<const Code>(std::span(memory_).first(code_end_), role, tile, streams,
                                         counts);
  }

  Exit run(std::uint64_t limit = 1'000'000) { return engine::run(*code_, context, view(), limit); }
  Exit run_recording(AccessLog& log) {
    return engine::run_recording(*code_, context, view(), 1'000'000, log);
  }
  TileMemory view() { return {memory_.data(), kSize, code_end_, weights_.data()}; }

  void word(std::size_t address, std::uint32_t value) {
    std::memcpy(memory_.data() + address, &value, sizeof(value));
  }
  [[nodiscard]] std::uint32_t word(std::size_t address) const {
    std::uint32_t value;
    std::memcpy(&value, memory_.data() + address, sizeof(value));
    return value;
  }
  [[nodiscard]] const Code& code() const { return *code_; }
  [[nodiscard]] const std::vector<std::byte>& memory() const { return memory_; }
  std::vector<std::byte>& memory() { return memory_; }
  std::vector<std::uint64_t>& weights() { return weights_; }
  /// The bits of ACC, then of EXC.
  [[nodiscard]] std::vector<std::uint32_t> banks() const {
    const std::size_t sums = banks_.size() / 2;
    std::vector<std::uint32_t> bits(banks_.size());
    std::memcpy(bits.data(), context.banks.acc, sums * sizeof(float));
    std::memcpy(bits.data() + sums, context.banks.exc, sums * sizeof(float));
    return bits;
  }

  Context context;

 private:
  std::vector<std::byte> memory_;
  std::vector<std::uint64_t> weights_;
  std::vector<float> banks_;
  packed::IntegerUnit integers_;
  std::uint32_t code_end_ = 0;
  std::shared_ptr<const Code> code_;
};

/// Issue slots of a worker's `body` without its end. x10 and x11 hold addresses, x12 holds 8.
inline std::uint64_t slots_of(std::vector<Instruction> body, const TileConfig& tile = {}) {
  body.push_back(end());
  Assembled program(body, Role::worker, tile);
  program.context.x[10] = program.context.x[11] = 2048;
  program.context.x[12] = 8;
  CHECK(program.run().stop == Stop::end_worker);
  CHECK(program.context.instructions == body.size());
  return program.context.slots - 1;
}

}  // namespace tessera::engine::test
