#pragma once

#include <array>
#include <bit>
#include <memory>
#include <tuple>
#include <vector>

#include "tests/sim/engine/random_program.h"

/// Loops that exercise special cases of the translator.
namespace tessera::engine::test {

/// A program for `engine`; its activity is counted unless `counts` is false.
inline std::unique_ptr<Assembled> made_for(Engine engine, const std::vector<Instruction>& code,
                                           bool counts = true,
                                           const TileConfig& tile = Assembled::with_unit()) {
  return std::make_unique<Assembled>(code, Role::worker, tile, true,
                                     CodeCounts{.activity = counts, .engine = engine});
}

/// A loop of `times` iterations. The value loaded in odd iterations goes through `made`, which
/// writes f2 or x7; the value loaded in even ones does not.
inline std::unique_ptr<Assembled> every_other(const Instruction& made, float even, float odd,
                                              int times, Engine engine) {
  auto program = made_for(
      engine, {i_type(andi, 6, 5, 1), Instruction{.mnemonic = sh2add, .rd = 8, .rs1 = 6, .rs2 = 10},
               i_type(flw, 1, 8, 0), branch_to(beq, 6, 0, 8), made, i_type(addi, 5, 5, -1),
               branch_to(bne, 5, 0, -24), end()});
  program->context.x[5] = static_cast<std::uint32_t>(times);
  program->context.x[10] = 1024;
  program->word(1024, std::bit_cast<std::uint32_t>(even));
  program->word(1028, std::bit_cast<std::uint32_t>(odd));
  for (const int f : {0, 2, 3}) program->context.f[f] = fp::box<fp::F32>(0x3f80'0000);
  return program;
}

/// A loop of 30,000 iterations. Both sides of its branch load from the same address; the branch
/// depends on the bits `mask` of a counter. The last load is outside the memory.
inline std::unique_ptr<Assembled> both_load(Mnemonic load, int mask, Engine engine) {
  auto program =
      made_for(engine, {i_type(sltiu, 14, 5, 2), i_type(slli, 14, 14, 20), i_type(andi, 6, 5, 255),
                        r_type(sh2add, 8, 6, 14), i_type(andi, 6, 6, mask),
                        branch_to(beq, 6, 0, 20), i_type(addi, 11, 11, 3), i_type(addi, 12, 7, 0),
                        i_type(load, 7, 8, 1024), Instruction{.mnemonic = jal, .imm = 12},
                        i_type(addi, 12, 11, 1), i_type(load, 7, 8, 1024), r_type(add, 13, 13, 12),
                        i_type(addi, 5, 5, -1), branch_to(bne, 5, 0, -56), end()});
  program->context.x[5] = 30'000;
  for (std::uint32_t i = 0; i < 256; ++i) program->word(1024 + 4 * i, i * 2654435761U);
  return program;
}

/// A loop of `times` iterations. The last one skips an instruction and then loads from outside the
/// memory.
inline std::unique_ptr<Assembled> skips_and_faults(std::uint32_t times, Engine engine) {
  auto program =
      made_for(engine, {i_type(sltiu, 14, 5, 2), i_type(slli, 14, 14, 20), i_type(andi, 6, 5, 1),
                        branch_to(bne, 6, 0, 8), i_type(addi, 11, 11, 3), i_type(lw, 7, 14, 1024),
                        i_type(addi, 5, 5, -1), branch_to(bne, 5, 0, -28), end()});
  program->context.x[5] = times;
  return program;
}

/// Extra code in the loop of threaded().
struct Beside {
  int choices;   ///< number of branches with unequal numbers of slots
  bool crowded;  ///< uses more registers than the host has
};

/// A loop of 30,000 iterations. Both sides of a branch end in branches on the same condition, one
/// of them inverted; continuing from one of these takes one more jump.
inline std::unique_ptr<Assembled> threaded(const Beside& beside, Engine engine) {
  std::vector<Instruction> code;
  for (const auto& [shift, by] : {std::pair(slli, 13), {srli, 17}, {slli, 5}}) {
    code.push_back(i_type(shift, 8, 7, by));
    code.push_back(r_type(xor_, 7, 7, 8));
  }
  for (int r = 17; beside.crowded && r < 32; ++r) code.push_back(r_type(add, r, r, 7));
  for (int skipped = 1; skipped <= beside.choices; ++skipped) {
    code.push_back(branch_to(bltu, 17 + skipped, 7, 4 + 4 * skipped));
    for (int i = 0; i < skipped; ++i) code.push_back(i_type(addi, 18 + i, 18, i));
  }
  const std::array exits{branch_to(blt, 7, 0, 16),  i_type(addi, 11, 11, 3),
                         branch_to(bltu, 8, 7, 20), Instruction{.mnemonic = jal, .imm = 20},
                         i_type(addi, 11, 11, 5),   i_type(xori, 11, 11, 1),
                         branch_to(bgeu, 8, 7, 8),  i_type(addi, 11, 11, 7),
                         i_type(addi, 11, 11, 9)};
  code.insert(code.end(), exits.begin(), exits.end());
  code.push_back(i_type(addi, 5, 5, -1));
  code.push_back(branch_to(bne, 5, 0, -4 * static_cast<int>(code.size())));
  code.push_back(end());
  auto program = made_for(engine, code);
  program->context.x[5] = 30'000;
  program->context.x[7] = 1;
  return program;
}

/// Two branches on the same condition that lead to each other for ever.
inline std::unique_ptr<Assembled> endless(Engine engine) {
  std::vector<Instruction> code{branch_to(blt, 10, 11, 24)};
  for (const auto& [r, shift, by] :
       {std::tuple(10, slli, 13), {10, srli, 17}, {11, slli, 5}, {11, srli, 9}}) {
    code.push_back(i_type(shift, 14, r, by));
    code.push_back(r_type(xor_, r, r, 14));
    if (code.size() == 5) code.push_back(Instruction{.mnemonic = jal, .imm = -20});
  }
  code.push_back(branch_to(bge, 10, 11, -36));
  code.push_back(Instruction{.mnemonic = jal, .imm = -20});
  auto program = made_for(engine, code, false);
  program->context.x[10] = 12345;
  program->context.x[11] = 777;
  return program;
}

/// A loop of 3,000 iterations over operations of rotations and 64-bit sums on few registers, in
/// random order, between loads. Odd seeds use more registers than the host has.
inline std::unique_ptr<Assembled> dense(std::uint32_t seed, Engine engine) {
  constexpr int kFirst = 7;
  constexpr int kData = 1024;
  std::uint32_t state = seed * 2654435761U;
  const auto below = [&state](std::uint32_t bound) {
    state = state * 1664525U + 1013904223U;
    return static_cast<int>((state >> 8) % bound);
  };
  const auto any = [&] { return kFirst + below(4); };
  std::vector<Instruction> code;
  for (int r = 17; seed % 2 == 1 && r < 32; ++r) code.push_back(r_type(add, r, r, 7));
  for (int i = 0; i < 16; ++i) {
    constexpr Mnemonic kShifts[] = {slli, srli};
    constexpr Mnemonic kOthers[] = {or_, xor_, add, sub, sltu, sltu, mul, mulhu};
    const int kind = below(13);
    if (kind < 5)
      code.push_back(i_type(kShifts[below(2)], any(), any(), below(2) == 0 ? 13 : 19));
    else if (kind < 12)
      code.push_back(r_type(kOthers[below(8)], any(), any(), any()));
    else
      code.push_back(i_type(lw, any(), 0, kData + 4 * below(4)));
  }
  code.push_back(i_type(addi, 5, 5, -1));
  code.push_back(branch_to(bne, 5, 0, -4 * static_cast<int>(code.size())));
  code.push_back(end());
  auto program = made_for(engine, code);
  program->context.x[5] = 3000;
  for (std::uint32_t i = 0; i < 4; ++i) {
    program->context.x[kFirst + i] = state * (2 * i + 1);
    program->word(kData + 4 * i, state ^ (i * 2654435761U));
  }
  return program;
}

/// A loop of 3,000 iterations with branches on results of comparisons, which may be inverted or
/// separated from the branch by a change of their operands. The branches skip arithmetic, in every
/// third seed also accesses, one of which may leave the memory in the last iteration. In every
/// fifth seed an iteration is longer than a hyperblock. In every seventh seed branches may leave
/// the loop, write registers that the loop does not know, and return.
inline std::unique_ptr<Assembled> asking(std::uint32_t seed, Engine engine) {
  constexpr int kFirst = 7;
  constexpr int kData = 1024;
  std::uint32_t state = seed * 2654435761U;
  const auto below = [&state](std::uint32_t bound) {
    state = state * 1664525U + 1013904223U;
    return static_cast<int>((state >> 8) % bound);
  };
  const auto any = [&] { return below(8) == 0 ? 0 : kFirst + below(4); };
  std::vector<Instruction> code;
  const auto change = [&] {
    code.push_back(r_type(below(2) == 0 ? add : xor_, kFirst + below(4), any(), any()));
  };
  const auto access = [&] {  // and other instructions
    const int at = kData + 4 * below(8);
    const int x = below(2) == 0 ? kFirst + below(4) : 17 + below(15);
    const int f = 1 + below(4);
    switch (below(7)) {
      case 0:
        return code.push_back(s_type(sw, x, 0, at));
      case 1:
        return code.push_back(i_type(lw, x, below(4) == 0 ? 12 : 0, at));
      case 2:
        return code.push_back(r_type(fadd_s, f, 1 + below(4), 1 + below(4), 0, 7));
      case 3:
        return code.push_back(i_type(flw, f, 0, at));
      case 4:
        return code.push_back(s_type(fsw, f, 0, at));
      case 5:
        return code.push_back(i_type(addi, x, x, 4));
      default:
        return change();
    }
  };
  std::vector<std::size_t> far;  // branches to code after the loop
  const bool accesses = seed % 3 == 0;
  for (int r = 17; seed % 2 == 1 && r < 32; ++r) code.push_back(r_type(add, r, r, 7));
  code.push_back(r_type(add, kFirst, kFirst, 5));
  code.push_back(i_type(sltiu, 12, 5, 2));
  code.push_back(i_type(slli, 12, 12, 20));
  for (int i = 0; i < (seed % 5 == 0 ? 48 : 4); ++i) {
    const int found = below(2) == 0 ? 11 : kFirst + below(4);
    if (below(4) == 0)
      code.push_back(i_type(sltiu, found, any(), 1 + below(2)));
    else
      code.push_back(r_type(below(2) == 0 ? slt : sltu, found, any(), any()));
    if (below(3) == 0) change();
    const int asked = below(2) == 0 ? found : kFirst + below(4);
    if (below(3) == 0) code.push_back(i_type(xori, asked, found, 1));
    if (below(3) == 0) change();
    const int skipped = 1 + below(seed % 8 == 5 ? 12 : 3);
    code.push_back(
        branch_to(below(2) == 0 ? beq : bne, below(4) == 0 ? found : asked, 0, 4 + 4 * skipped));
    if (seed % 7 == 0 && below(2) == 0) {
      far.push_back(code.size() - 1);
      continue;
    }
    for (int each = 0; each < skipped; ++each) accesses ? access() : change();
    accesses ? access() : change();
  }
  code.push_back(i_type(addi, 5, 5, -1));
  const int back = -4 * static_cast<int>(code.size());
  if (seed % 2 == 0) {
    code.push_back(branch_to(bne, 5, 0, back));
  } else {
    code.push_back(branch_to(beq, 5, 0, 8));
    code.push_back(Instruction{.mnemonic = jal, .imm = back - 4});
  }
  code.push_back(end());
  for (const std::size_t branch : far) {
    code[branch].imm = 4 * static_cast<int>(code.size() - branch);
    code.push_back(i_type(addi, 13 + below(4), any(), below(100)));
    code.push_back(
        Instruction{.mnemonic = jal, .imm = -4 * static_cast<int>(code.size() - branch - 1)});
  }
  TileConfig tile = Assembled::with_unit();
  if (seed % 4 >= 2) {  // a comparison's result is available later than its operands
    tile.issue = IssueKind::single;
    tile.contexts = 1;
    tile.latency.integer = 3;
  }
  auto program = made_for(engine, code, true, tile);
  program->context.x[5] = 3000;
  for (std::uint32_t i = 0; i < 8; ++i)
    program->word(kData + 4 * i,
                  i % 3 == 0 ? 0x3f80'0000U + i : 0x7f80'0000U + (i % 2 << 31U) + i / 7);
  for (std::uint32_t i = 0; i < 4; ++i) program->context.x[kFirst + i] = state * (2 * i + 1);
  return program;
}

/// A loop of 3,000 iterations with accesses whose addresses are sums of bases, an index and
/// constants, in many forms. In the last iteration the index or a base leaves the memory.
inline std::unique_ptr<Assembled> indexed(std::uint32_t seed, Engine engine) {
  constexpr int kIndex = 12;  // 10, 11: bases
  constexpr int kFirst = 15;  // the first of four addresses
  std::uint32_t state = seed * 2654435761U;
  const auto below = [&state](std::uint32_t bound) {
    state = state * 1664525U + 1013904223U;
    return static_cast<int>((state >> 8) % bound);
  };
  std::vector<Instruction> code{i_type(sltiu, 14, 5, 2), r_type(sub, 14, 0, 14),
                                i_type(andi, 14, 14, 1560 + 4 * below(120))};
  const int out = below(8);
  const int form = below(7);
  for (int i = 0; i < 8; ++i) {
    const int base = 10 + (below(4) == 0 ? 1 : 0);
    const int to = kFirst + below(4);
    const int by = 4 * (below(9) - 4);
    const auto moved = [&] { return below(2) == 0 ? kIndex : base; };
    const auto sum = [&](Mnemonic m, int a, int b) { code.push_back(r_type(m, to, a, b)); };
    if (i == out) {
      const int r = moved();
      code.push_back(r_type(add, r, r, 14));
    }
    switch (below(4) == 0 ? below(7) : form) {
      case 0:
        sum(add, base, kIndex);
        break;
      case 1:
        sum(add, kIndex, base);
        break;
      case 2:
        sum(sub, base, kIndex);
        break;
      case 3:
        sum(sh1add, kIndex, base);
        break;
      case 4:
        sum(sh2add, kIndex, base);
        break;
      default:
        code.push_back(i_type(slli, 7, kIndex, 1 + form % 2));
        sum(add, base, 7);
        break;
    }
    if (below(3) == 0) {
      code.push_back(s_type(sw, 9, to, by));
    } else {
      code.push_back(i_type(below(3) == 0 ? lh : lw, 8, to, by));
      code.push_back(r_type(add, 9, 9, 8));
    }
    const int r = moved();
    code.push_back(i_type(addi, r, r, 4 * (below(17) - 8)));
  }
  for (const auto& [r, to] : {std::pair(10, 1960), {11, 2020}})
    code.push_back(i_type(addi, r, 0, to));
  code.push_back(i_type(andi, kIndex, 9, 60));
  code.push_back(i_type(addi, kIndex, kIndex, 80));
  code.push_back(i_type(addi, 5, 5, -1));
  code.push_back(branch_to(bne, 5, 0, -4 * static_cast<int>(code.size())));
  code.push_back(end());
  auto program = made_for(engine, code);
  program->context.x[5] = 3000;
  for (const auto& [r, to] : {std::pair(10, 1960U), {11, 2020U}, {kIndex, 80U}})
    program->context.x[r] = to;
  for (int r = kFirst; r < kFirst + 4; ++r) program->context.x[r] = 1800;
  for (std::uint32_t i = 0; i < 512; ++i) program->word(1024 + 4 * i, i * 2654435761U);
  return program;
}

/// A loop of `times` iterations through nodes that jump to each other, each with a branch. Each
/// quarter of adjacent nodes writes one register, which the other nodes only read.
inline std::unique_ptr<Assembled> ring(int nodes, int steps, std::uint32_t times, Engine engine) {
  constexpr int kFirst = 10, kQuarters = 4;
  std::vector<Instruction> code;
  for (int node = 0; node < nodes; ++node) {
    const int own = kFirst + node * kQuarters / nodes;
    for (int i = 0; i < steps; ++i)
      code.push_back(r_type(add, own, own, kFirst + (node + i) % kQuarters));
    code.push_back(branch_to(blt, own, 0, 16));
    for (int i = 0; i < 3; ++i) code.push_back(i_type(xori, 15, 15, 5 + node));
    code.push_back(Instruction{.mnemonic = jal, .imm = 4});
  }
  code.push_back(i_type(addi, 5, 5, -1));
  code.push_back(branch_to(beq, 5, 0, 8));
  code.push_back(Instruction{.mnemonic = jal, .imm = -4 * static_cast<int>(code.size())});
  code.push_back(end());
  auto program = made_for(engine, code);
  program->context.x[5] = times;
  for (std::uint32_t i = 0; i < kQuarters; ++i) program->context.x[kFirst + i] = 1 + i;
  return program;
}

inline constexpr std::array<std::uint8_t, 3> kOperands{
    2, 3, 14};  ///< registers of busy_loop()'s instruction

/// A loop of `times` iterations whose instruction has f2 and f3 in host registers and f14 in
/// memory, since the loop uses other registers more often than f14.
inline std::unique_ptr<Assembled> busy_loop(const Instruction& instruction,
                                            const std::array<std::uint32_t, 3>& bits, int times,
                                            Engine engine) {
  std::vector<Instruction> code;
  for (int f = 2; f < 14; ++f)
    for (int i = 0; i < (f < 4 ? 3 : 2); ++i) code.push_back(r_type(fsgnj_s, f, f, f));
  code.push_back(instruction);
  code.push_back(i_type(addi, 5, 5, -1));
  code.push_back(branch_to(bne, 5, 0, -4 * static_cast<int>(code.size())));
  code.push_back(end());
  auto program = made_for(engine, code);
  program->context.x[5] = static_cast<std::uint32_t>(times);
  for (int f = 2; f < 16; ++f) program->context.f[f] = fp::box<fp::F32>(0x3f00'0000);
  for (std::size_t i = 0; i < 3; ++i) program->context.f[kOperands[i]] = fp::box<fp::F32>(bits[i]);
  return program;
}

/// A loop of 3,001 iterations of a fused multiply-add whose operands differ in the last one.
inline std::unique_ptr<Assembled> surprised(Mnemonic fused,
                                            const std::array<std::uint32_t, 3>& last,
                                            Engine engine) {
  constexpr int kAt = 1024;
  auto program = made_for(
      engine,
      {i_type(sltiu, 6, 5, 2), Instruction{.mnemonic = sh2add, .rd = 8, .rs1 = 6, .rs2 = 10},
       i_type(flw, 1, 8, 0), i_type(flw, 2, 8, 8), i_type(flw, 3, 8, 16),
       r_type(fused, 4, 1, 2, 3, 7), i_type(addi, 5, 5, -1), branch_to(bne, 5, 0, -28), end()},
      false);
  program->context.x[5] = 3001;
  program->context.x[10] = kAt;
  for (std::uint32_t i = 0; i < 3; ++i) {
    program->word(kAt + 8 * i, 0x3f80'0000);
    program->word(kAt + 8 * i + 4, last[i]);
  }
  return program;
}

}  // namespace tessera::engine::test
