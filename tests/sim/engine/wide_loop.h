#pragma once

#include <array>
#include <memory>
#include <vector>

#include "tests/sim/engine/native_loops.h"

namespace tessera::engine::test {

/// A loop of 2,000 iterations over 64-bit operations on register pairs. In between, single words of
/// the pairs are read, changed, loaded and stored. Odd seeds use more registers than the host has.
class WideLoop {
 public:
  explicit WideLoop(std::uint32_t seed)
      : state_(seed * 2654435761U), crowded_(seed % 2 == 1), odd_(seed > 1'000'000) {
    if (seed % 4 < 2) return;
    tile_.issue = IssueKind::single;
    tile_.contexts = 1;
    tile_.latency.load = 5;
    tile_.latency.integer = 2;
  }

  std::unique_ptr<Assembled> make(Engine engine) {
    for (int r = kNoise; crowded_ && r < 32; ++r) add(r_type(add_, r, r, kNoise));
    for (int r = kFirst; r < kTemporary; ++r) add(r_type(add_, r, r, 5));
    add(i_type(sltiu, kLast, 5, 2));
    add(i_type(slli, kLast, kLast, 20));
    for (int i = 0; i < 7; ++i) one_of_all();
    add(i_type(addi, 5, 5, -1));
    add(branch_to(bne, 5, 0, -4 * static_cast<int>(code_.size())));
    for (int i = 0; i < 8; ++i) {
      add(i_type(lw, 5, kBase, 4 * i));
      add(r_type(add_, kFirst + i, kFirst + i, 5));
    }
    add(end());
    auto program = made_for(engine, code_, true, tile_);
    program->context.x[5] = 2000;
    program->context.x[kBase] = kData;
    for (std::uint32_t i = kFirst; i < kTemporary; ++i)
      program->context.x[i] = state_ * (2 * i + 1);
    for (std::uint32_t i = 0; i < 8; ++i) program->word(kData + 4 * i, state_ ^ (i * 2654435761U));
    return program;
  }

 private:
  static constexpr int kBase = 6, kLast = 7, kFirst = 8, kTemporary = 16, kNoise = 22, kData = 1024;
  static constexpr Mnemonic add_ = Mnemonic::add;
  struct Words {
    int low, high;
  };

  int below(int bound) {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<int>((state_ >> 8) % static_cast<std::uint32_t>(bound));
  }
  void add(const Instruction& is) { code_.push_back(is); }
  Words words() {
    const int low = kFirst + 2 * below(4);
    if (odd_ && below(8) == 0) return {low, low};
    if (odd_ && below(4) == 0) return {low + 1, low};
    return below(16) == 0 ? Words{low + 1, low} : Words{low, low + 1};
  }
  int temporary() { return kTemporary + below(kNoise - kTemporary); }
  int any() { return kFirst + below(kTemporary - kFirst); }

  /// Adds an instruction of the current operation, and sometimes an unrelated one.
  void part(const Instruction& is) {
    add(is);
    if (below(5) != 0) return;
    const int other = kNoise + below(2);
    switch (below(9)) {
      case 0:  // outside of the memory in the last pass
        return add(i_type(lw, other, kLast, kData + 4 * below(8)));
      case 1:
        return add(i_type(lw, other, 0, kData + 4 * below(8)));
      case 2:
        return add(i_type(lw, other, kBase, 4 * below(8)));
      case 3:
        return add(s_type(sw, any(), kBase, 4 * below(8)));
      case 4:
        return add(r_type(xor_, other, other, any()));
      case 5:
        return add(i_type(addi, any(), any(), below(9) - 4));
      case 6:
        return add(r_type(xor_, any(), other, any()));
      case 7:
        return add(branch_to(beq, any(), 5, 8)), add(i_type(addi, other, other, 1));
      default:
        return add(i_type(srli, temporary(), any(), 3));
    }
  }

  void one_of_all() {
    const Words a = words();
    const Words b = words();
    const Words to = below(2) == 0 ? a : words();
    const int t = temporary();
    const int u = t == kNoise - 1 ? kTemporary : t + 1;
    const int by = 1 + below(31);
    switch (below(11)) {
      case 0:  // sum
        if (to.low == a.low || to.low == b.low || to.low == a.high || to.low == b.high) {
          part(r_type(add_, t, a.low, b.low));
          part(r_type(sltu, u, t, b.low));
          part(r_type(add_, to.high, a.high, b.high));
          part(r_type(add_, to.high, to.high, u));
          return part(i_type(addi, to.low, t, 0));
        }
        part(r_type(add_, to.low, a.low, b.low));
        part(r_type(add_, to.high, a.high, b.high));
        part(r_type(sltu, t, to.low, a.low));
        return part(r_type(add_, to.high, to.high, t));
      case 1:  // in place
        part(r_type(add_, a.low, a.low, b.low));
        part(r_type(sltu, t, a.low, b.low));
        part(r_type(add_, a.high, a.high, t));
        return part(r_type(add_, a.high, a.high, b.high));
      case 2:
        part(r_type(sltu, t, a.low, b.low));
        part(r_type(sub, u, a.high, b.high));
        part(r_type(sub, to.high, u, t));
        return part(r_type(sub, to.low, a.low, b.low));
      case 3: {
        const Mnemonic m = std::array{and_, or_, xor_}[static_cast<std::size_t>(below(3))];
        part(r_type(m, to.low, a.low, b.low));
        return part(r_type(m, to.high, a.high, b.high));
      }
      case 4:  // exclusive or with the value shifted
        part(i_type(slli, t, a.high, 32 - by));
        part(i_type(srli, u, a.low, by));
        part(r_type(or_, t, u, t));
        part(i_type(below(2) == 0 ? srli : srai, u, a.high, by));
        part(r_type(xor_, a.low, a.low, t));
        return part(r_type(xor_, a.high, a.high, u));
      case 5:
        part(i_type(srli, t, a.low, 32 - by));
        part(i_type(slli, u, a.high, by));
        part(r_type(or_, to.high, u, t));
        return part(i_type(slli, to.low, a.low, by));
      case 6:  // rotated
        part(i_type(slli, t, a.high, 32 - by));
        part(i_type(srli, u, a.low, by));
        part(r_type(or_, t, u, t));
        part(i_type(slli, u, a.low, 32 - by));
        part(i_type(srli, to.high, a.high, by));
        part(r_type(or_, to.high, to.high, u));
        return part(i_type(addi, to.low, t, 0));
      case 7: {
        part(r_type(mulhu, t, a.low, b.low));
        part(r_type(mul, u, a.low, b.high));
        part(r_type(add_, t, t, u));
        part(r_type(mul, u, a.high, b.low));
        const int low = kNoise - 1;
        part(r_type(mul, low, a.low, b.low));
        part(r_type(add_, to.high, t, u));
        return part(i_type(addi, to.low, low, 0));
      }
      case 8:  // a sum with a product
        part(r_type(mulhu, t, a.low, b.high));
        part(r_type(mul, u, a.low, b.high));
        part(r_type(add_, to.low, to.low, u));
        part(r_type(sltu, u, to.low, u));
        part(r_type(add_, to.high, to.high, t));
        return part(r_type(add_, to.high, to.high, u));
      case 9: {
        const int at = 8 * below(4);
        part(i_type(lw, to.low, kBase, at));
        return part(i_type(lw, to.high, kBase, at + 4));
      }
      default: {
        const int at = 8 * below(4);
        part(s_type(sw, a.high, kBase, at + 4));
        return part(s_type(sw, a.low, kBase, at));
      }
    }
  }

  std::uint32_t state_;
  bool crowded_, odd_;
  TileConfig tile_ = Assembled::with_unit();
  std::vector<Instruction> code_;
};

inline std::unique_ptr<Assembled> wide(std::uint32_t seed, Engine engine) {
  return WideLoop(seed).make(engine);
}

}  // namespace tessera::engine::test
