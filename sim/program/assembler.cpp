#include "sim/program/assembler.h"

#include <cstring>

#include "sim/base/errors.h"
#include "sim/base/types.h"
#include "sim/isa/encode.h"

namespace tessera::program {
namespace {

using isa::Instruction;
using isa::Mnemonic;

constexpr std::uint32_t kWord = 4;
constexpr std::uint32_t kAddressBytes = 2 * kWord;  // lui, addi
constexpr std::int32_t kBranchReach = 4096;
constexpr std::int32_t kJumpReach = 1 << 20;

constexpr std::uint8_t number(Reg reg) { return static_cast<std::uint8_t>(reg); }

bool fits_12(std::int32_t value) { return value >= -2048 && value < 2048; }

/// The two halves of a constant: lui's, rounded so that addi's is a signed 12-bit number.
struct Halves {
  std::int32_t upper;
  std::int32_t lower;
};
Halves split(std::uint32_t value) {
  const std::uint32_t upper = (value + 0x800U) & 0xffff'f000U;
  return {static_cast<std::int32_t>(upper), static_cast<std::int32_t>(value - upper)};
}

std::int32_t distance(std::uint32_t from, std::uint32_t to) {
  return static_cast<std::int32_t>(to) - static_cast<std::int32_t>(from);
}

}  // namespace

void Assembler::align(std::uint32_t multiple) {
  bytes_.resize(round_up<std::size_t>(bytes_.size(), multiple));
}

void Assembler::append(std::span<const std::byte> code) {
  bytes_.insert(bytes_.end(), code.begin(), code.end());
}

void Assembler::emit(const Instruction& instruction) {
  bytes_.resize(bytes_.size() + kWord);
  put(here() - kWord, instruction);
}

void Assembler::put(std::uint32_t at, const Instruction& instruction) {
  const std::uint32_t word = isa::encode(instruction);
  std::memcpy(bytes_.data() + at, &word, kWord);
}

void Assembler::add_immediate(Reg to, Reg from, std::int32_t immediate) {
  emit({.mnemonic = Mnemonic::addi, .rd = number(to), .rs1 = number(from), .imm = immediate});
}

void Assembler::load_immediate(Reg to, std::uint32_t value) {
  const auto number_value = static_cast<std::int32_t>(value);
  if (fits_12(number_value)) return add_immediate(to, Reg::zero, number_value);
  const Halves halves = split(value);
  emit({.mnemonic = Mnemonic::lui, .rd = number(to), .imm = halves.upper});
  if (halves.lower != 0) add_immediate(to, to, halves.lower);
}

void Assembler::load_address(Reg to, std::uint32_t value) {
  bytes_.resize(bytes_.size() + kAddressBytes);
  patch_address(here() - kAddressBytes, to, value);
}

void Assembler::patch_address(std::uint32_t at, Reg to, std::uint32_t value) {
  const Halves halves = split(value);
  put(at, {.mnemonic = Mnemonic::lui, .rd = number(to), .imm = halves.upper});
  put(at + kWord,
      {.mnemonic = Mnemonic::addi, .rd = number(to), .rs1 = number(to), .imm = halves.lower});
}

void Assembler::load_word(Reg to, Reg base, std::int32_t offset) {
  emit({.mnemonic = Mnemonic::lw, .rd = number(to), .rs1 = number(base), .imm = offset});
}

void Assembler::call(std::uint32_t target) {
  bytes_.resize(bytes_.size() + jump_bytes());
  put_jump(here() - jump_bytes(), target, Reg::ra);
}

void Assembler::run(Reg code, Reg argument, Reg worker) {
  emit({.mnemonic = Mnemonic::run,
        .rd = number(worker),
        .rs1 = number(code),
        .rs2 = number(argument)});
}

void Assembler::control(std::uint32_t operation) {
  emit({.mnemonic = Mnemonic::xctl, .imm = static_cast<std::int32_t>(operation)});
}

void Assembler::start_exchange(Reg list) {
  emit({.mnemonic = Mnemonic::exch, .rs1 = number(list)});
}

void Assembler::wait_for_exchange(Reg list) {
  emit({.mnemonic = Mnemonic::exch_wait, .rs1 = number(list)});
}

void Assembler::loop(Reg counter, std::uint32_t target) {
  if (distance(here(), target) >= -kBranchReach) {
    emit({.mnemonic = Mnemonic::bdnz, .rs1 = number(counter), .imm = distance(here(), target)});
    return;
  }
  add_immediate(counter, counter, -1);
  emit({.mnemonic = Mnemonic::beq,
        .rs1 = number(counter),
        .imm = distance(0, kWord + jump_bytes())});
  jump(target);
}

void Assembler::jump(std::uint32_t target) {
  bytes_.resize(bytes_.size() + jump_bytes());
  put_jump(here() - jump_bytes(), target, Reg::zero);
}

std::uint32_t Assembler::leave_if_zero(Reg value) {
  emit({.mnemonic = Mnemonic::bne, .rs1 = number(value), .imm = distance(0, kWord + jump_bytes())});
  bytes_.resize(bytes_.size() + jump_bytes());
  return here() - jump_bytes();
}

void Assembler::land_here(std::uint32_t from) { put_jump(from, here(), Reg::zero); }

std::uint32_t Assembler::jump_bytes() const { return reach_ == Reach::near ? kWord : 2 * kWord; }

void Assembler::put_jump(std::uint32_t at, std::uint32_t target, Reg link) {
  const std::int32_t far = distance(at, target);
  if (reach_ == Reach::near) {
    reaches_ = reaches_ && far >= -kJumpReach && far < kJumpReach;
    put(at, {.mnemonic = Mnemonic::jal, .rd = number(link), .imm = reaches_ ? far : 0});
    return;
  }
  const Reg base = link == Reg::zero ? Reg::t0 : link;
  const Halves halves = split(static_cast<std::uint32_t>(far));
  put(at, {.mnemonic = Mnemonic::auipc, .rd = number(base), .imm = halves.upper});
  put(at + kWord,
      {.mnemonic = Mnemonic::jalr, .rd = number(link), .rs1 = number(base), .imm = halves.lower});
}

}  // namespace tessera::program
