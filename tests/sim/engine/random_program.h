#pragma once

#include <vector>

#include "sim/engine/instruction_kind.h"
#include "sim/isa/table.h"
#include "tests/sim/engine/xtile_trials.h"

/// Random programs of the whole ISA that run long enough to be translated: nested loops of both
/// kinds, branches, calls and returns. Their pointers may leave memory or point into the code.
namespace tessera::engine::test {

class RandomProgram {
 public:
  explicit RandomProgram(std::uint32_t seed)
      : maker_(seed, seed % 5 == 0 ? kMany : kFew), walks_(below(3) == 0), scalar_(below(3) == 0) {}

  static constexpr std::uint32_t kFew = 6;    ///< f registers that operands are drawn from
  static constexpr std::uint32_t kMany = 18;  ///< more than the host has
  static constexpr int kOuter = 20;           ///< counts the iterations of the outermost loop
  static constexpr int kInner = 21;
  static constexpr int kSaved = 22;   ///< x22 to x26: x10 to x14 at the start of each pass
  static constexpr int kTarget = 27;  ///< the target of calls
  static constexpr int kMoves = 31;   ///< t3 to t5 at the start of each pass

  /// `times`: passes of the outermost loop.
  std::vector<Instruction> make(int times) {
    emit(i_type(addi, kOuter, 0, times));
    for (int i = 0; i < 5; ++i) emit(i_type(addi, kSaved + i, kPointers + i, 0));
    const std::size_t head = code_.size();
    if (!walks_) {
      for (int i = 0; i < 5; ++i) emit(i_type(addi, kPointers + i, kSaved + i, 0));
      for (int i = 28; i < 31; ++i) emit(i_type(addi, i, kSaved, 8 * i - 128));
    }
    for (std::uint32_t i = 0, parts = 2 + below(6); i < parts; ++i) part();
    emit(i_type(addi, kOuter, kOuter, -1));
    emit(branch_to(bne, kOuter, 0, distance(head)));
    emit(end());
    functions();
    return code_;
  }

 private:
  std::uint32_t below(std::uint32_t bound) { return maker_.below(bound); }
  void emit(const Instruction& instruction) { code_.push_back(instruction); }
  [[nodiscard]] int distance(std::size_t to) const {
    return 4 * (static_cast<int>(to) - static_cast<int>(code_.size()));
  }

  void part() {
    const std::uint32_t kind = below(7);
    if (kind == 0) return skip();
    if (kind == 1) return counted();
    if (kind == 2) return repeated();
    if (kind == 3) return call();
    return kind == 6 ? either() : straight(1 + below(6));
  }

  /// A call by one instruction, by two, or to one of several functions.
  void call() {
    const std::uint32_t form = below(4);
    if (form == 0) {
      constexpr int kBytes = 3;  // size of a function of two instructions, as a power of two
      emit(i_type(andi, kTarget, kOuter, (1 << below(4)) - 1));
      emit(i_type(slli, kTarget, kTarget, kBytes));
      several_.push_back(code_.size());
      emit(Instruction{.mnemonic = auipc, .rd = 1});
      emit(r_type(add, kTarget, kTarget, 1));
      return emit(i_type(jalr, 1, kTarget, 0));
    }
    calls_.push_back(code_.size());
    const bool far = form == 1;
    if (far) emit(Instruction{.mnemonic = auipc, .rd = 1});
    emit(far ? i_type(jalr, 1, 1, 0) : i_type(jal, 1, 0, 0));
  }

  void straight(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!scalar_)
        emit(one());
      else if (below(3) == 0)
        access();
      else
        simple(1);
    }
  }

  Instruction one() {
    Instruction made;
    do {
      const auto m = static_cast<Mnemonic>(below(isa::kMnemonics));
      if (isa::info(m).issue == isa::IssueClass::branch || m == rpt) continue;
      made = maker_.make(m);
      if (has_rounding(m) && below(3) == 0) made.rm = below(8) == 0 ? 1 : 7;
      if (isa::info(m).format == isa::Format::u) made.imm = static_cast<int>(below(1U << 20) << 12);
    } while (made.mnemonic == Mnemonic{} || !is_straight(made));
    // Aligned in most cases.
    const auto bytes = static_cast<int>(
        std::max(isa::info(made.mnemonic).bytes_loaded, isa::info(made.mnemonic).bytes_stored));
    const isa::Format format = isa::info(made.mnemonic).format;
    const bool offset = format == isa::Format::i || format == isa::Format::s;
    if (offset && bytes > 0 && bytes < 8 && below(2) == 0)
      made.imm += bytes * static_cast<int>(below(8 / static_cast<std::uint32_t>(bytes)));
    // Pointers stay pointers in most cases.
    const std::uint32_t writes = isa::registers(made).writes_x;
    const bool pointer =
        (writes >> made.rd & 1) != 0 && made.rd >= kPointers && made.rd != made.rs1;
    if (pointer && below(50) != 0) made.rd = static_cast<std::uint8_t>(4 + below(5));
    return made;
  }

  /// Emits instructions that may be executed speculatively (by if-conversion).
  void simple(std::uint32_t count) {
    constexpr Mnemonic kSimple[] = {lui,    auipc,  addi,    andi,     slli,    srai,    add,
                                    sub,    sltu,   xor_,    mul,      mulhu,   sh2add,  fadd_s,
                                    fsub_s, fmul_s, fmadd_s, fnmsub_s, fsgnj_s, fsgnj_s, fsgnjx_s,
                                    fmin_s, fmax_s, flt_s,   feq_s,    fmv_x_w, fmv_w_x, fsgnj_d};
    for (std::uint32_t i = 0; i < count; ++i) {
      Instruction made = maker_.make(kSimple[below(std::size(kSimple))]);
      if (has_rounding(made.mnemonic)) made.rm = 7;
      const bool moves = made.mnemonic == fsgnj_s || made.mnemonic == fsgnj_d;
      if (moves && below(2) == 0) made.rs2 = made.rs1;
      if (made.mnemonic == addi && below(2) == 0) made.imm = 0;
      const bool pointer = (isa::registers(made).writes_x >> made.rd & 1) != 0 &&
                           (made.rd >= kPointers || made.rd < 4);
      if (pointer) made.rd = static_cast<std::uint8_t>(4 + below(5));
      emit(made);
      if (below(2) == 0) wide(made);
    }
  }

  /// In most cases adds the other half of a 64-bit sum or product after `made`.
  void wide(const Instruction& made) {
    const auto any = [this] { return static_cast<int>(4 + below(5)); };
    if (made.mnemonic == sltu) {
      const int to = any();
      if (below(2) == 0) emit(r_type(add, to, to, any()));
      const int sum = below(2) == 0 ? to : any();
      if (below(2) == 0)
        emit(r_type(add, sum, made.rd, to));
      else
        emit(r_type(below(2) == 0 ? add : sub, sum, to, made.rd));
    } else if (made.mnemonic == mulhu) {
      emit(r_type(mul, any(), made.rs2, made.rs1));
    } else if (made.mnemonic == mul) {
      emit(r_type(below(2) == 0 ? mulh : mulhu, any(), made.rs1, made.rs2));
    }
  }

  void access() {
    constexpr Mnemonic kAccesses[] = {lw, lhu, sw, flw, flw, fsw};
    Instruction made = maker_.make(kAccesses[below(std::size(kAccesses))]);
    if (isa::registers(made).writes_x != 0) made.rd = static_cast<std::uint8_t>(4 + below(5));
    emit(made);
  }

  void some(std::uint32_t count) { !scalar_&& below(3) == 0 ? straight(count) : simple(count); }

  void branch(std::uint32_t over) {
    constexpr Mnemonic kBranches[] = {beq, bne, blt, bge, bltu, bgeu};
    const auto first = static_cast<int>(4 + below(5));
    const int second = below(3) == 0 ? 0 : static_cast<int>(4 + below(5));
    if (below(4) == 0) {
      Instruction compares = maker_.make(below(2) == 0 ? flt_s : feq_s);
      compares.rd = static_cast<std::uint8_t>(first);
      emit(compares);
      some(below(2));
      emit(branch_to(below(2) == 0 ? beq : bne, first, 0, 4 * static_cast<int>(over + 1)));
      return;
    }
    if (below(2) == 0) {  // changes between iterations
      emit(i_type(andi, first, below(2) == 0 ? kOuter : kInner, 1 << below(3)));
      emit(branch_to(below(2) == 0 ? beq : bne, first, 0, 4 * static_cast<int>(over + 1)));
      return;
    }
    emit(branch_to(kBranches[below(6)], first, second, 4 * static_cast<int>(over + 1)));
  }

  void skip() {
    const std::uint32_t over = 1 + below(4);
    branch(over);
    some(over);
  }

  void either() {
    const std::uint32_t one = 1 + below(3);
    const std::uint32_t other = 1 + below(3);
    branch(one + 1);
    some(one);
    emit(i_type(jal, 0, 0, 4 * static_cast<int>(other + 1)));
    some(other);
  }

  void counted() {
    emit(i_type(addi, kInner, 0, 1 + static_cast<int>(below(9))));
    const std::size_t head = code_.size();
    if (below(4) == 0) return rotated();
    straight(1 + below(5));
    for (std::uint32_t i = below(3); i > 0; --i) {
      const std::uint32_t kind = below(4);
      kind == 0 ? either() : kind == 1 ? doubled() : skip();
    }
    if (below(2) == 0) {
      emit(branch_to(bdnz, kInner, 0, distance(head)));
    } else {
      emit(i_type(addi, kInner, kInner, -1));
      emit(branch_to(bne, kInner, 0, distance(head)));
    }
  }

  /// Both sides of a branch end in a branch on the same condition, one of them inverted. Both lead
  /// to the same two blocks, one after each branch.
  void doubled() {
    constexpr Mnemonic kAsked[] = {beq, bne, blt, bge, bltu, bgeu};
    constexpr int kAlternates = 9;
    const bool alternates = below(3) != 0;
    if (alternates) emit(i_type(andi, kAlternates, kOuter, 1 << below(3)));
    const std::uint32_t which = below(alternates ? 2 : 6);
    const auto first = alternates ? kAlternates : static_cast<int>(4 + below(5));
    const auto second = alternates ? 0 : static_cast<int>(4 + below(5));
    const std::uint32_t one = below(3);
    const std::uint32_t behind_one = 1 + below(3);
    const std::uint32_t other = below(3);
    const std::uint32_t behind_other = 1 + below(3);
    const auto over = [](std::uint32_t steps) { return 4 * static_cast<int>(steps + 1); };
    branch(one + 1 + behind_one + 1);
    some(one);
    emit(branch_to(kAsked[which], first, second, over(behind_one + 1 + other + 1)));
    some(behind_one);
    emit(i_type(jal, 0, 0, over(other + 1 + behind_other)));
    some(other);
    emit(branch_to(kAsked[which ^ 1U], first, second, -over(behind_one + other)));
    some(behind_other);
  }

  /// A loop as compilers emit it if its body ends with a branch: two branches lead to its top.
  void rotated() {
    emit(i_type(addi, kInner, kInner, 1));
    const std::size_t entry = code_.size();
    emit(i_type(jal, 0, 0, 0));
    const std::size_t top = code_.size();
    some(1 + below(3));
    emit(i_type(addi, kInner, kInner, -1));
    const std::size_t out = code_.size();
    emit(branch_to(beq, kInner, 0, 0));
    code_[entry].imm = 4 * static_cast<int>(code_.size() - entry);
    some(1 + below(3));
    if (below(2) == 0) below(2) == 0 ? either() : doubled();
    branch(0);
    code_.back().imm = distance(top) + 4;
    some(1 + below(3));
    emit(i_type(jal, 0, 0, distance(top)));
    code_[out].imm = 4 * static_cast<int>(code_.size() - out);
  }

  void repeated() {
    emit(i_type(addi, kInner, 0, 1 + static_cast<int>(below(9))));
    const std::uint32_t body = 1 + below(5);
    emit(branch_to(rpt, kInner, 0, 4 * static_cast<int>(body + 1)));
    straight(body);
  }

  void functions() {
    for (const std::size_t call : calls_) {
      const bool far = code_[call].mnemonic == auipc;
      code_[far ? call + 1 : call].imm = 4 * static_cast<int>(code_.size() - call);
      straight(1 + below(4));
      emit(i_type(jalr, 0, 1, 0));
    }
    for (const std::size_t call : several_) {
      code_[call + 2].imm = 4 * static_cast<int>(code_.size() - call);
      for (int i = 0; i < 8; ++i) {
        straight(1);
        emit(i_type(jalr, 0, 1, 0));
      }
    }
  }

  Maker maker_;
  bool walks_;
  bool scalar_;  ///< only loads, stores and instructions of simple()
  std::vector<Instruction> code_;
  std::vector<std::size_t> calls_;
  std::vector<std::size_t> several_;  ///< calls to one of eight functions
};

}  // namespace tessera::engine::test
