#include <functional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/sim/engine/xtile_trials.h"

namespace tessera::engine::test {
namespace {

/// Injected faults: swapped 32-bit halves or 16-bit lanes, one lane not written, the lowest bit
/// wrong, a part of the state not written, a pointer advanced not at all or twice.
std::vector<std::pair<const char*, Spoil>> faults() {
  const auto on_f = [](const std::function<std::uint64_t(std::uint64_t, std::uint64_t)>& change) {
    return [change](const Plain& before, const Instruction& i, Plain& after) {
      const std::uint32_t written = isa::registers(i).writes_f;
      for (std::size_t r = 0; r < 32; ++r)
        if ((written >> r & 1U) != 0) after.f[r] = change(before.f[r], after.f[r]);
    };
  };
  const auto on_x = [](std::uint32_t times) {
    return [times](const Plain& before, const Instruction& i, Plain& after) {
      const std::uint32_t written = isa::registers(i).writes_x;
      for (std::size_t r = 0; r < 32; ++r)
        if ((written >> r & 1U) != 0) after.x[r] = before.x[r] + times * (after.x[r] - before.x[r]);
    };
  };
  constexpr std::uint64_t kTop = std::uint64_t{0xffff} << 48, kLow = 0xffff;
  return {
      {"halves exchanged", on_f([](auto, auto a) { return a << 32 | a >> 32; })},
      {"neighbours exchanged", on_f([](auto, auto a) {
         constexpr std::uint64_t kEven = 0x0000'ffff'0000'ffff;
         return (a & kEven) << 16 | (a >> 16 & kEven);
       })},
      {"top lane kept", on_f([](auto b, auto a) { return (a & ~kTop) | (b & kTop); })},
      {"low lane kept", on_f([](auto b, auto a) { return (a & ~kLow) | (b & kLow); })},
      {"last place", on_f([](auto, auto a) { return a ^ 1; })},
      {"no write", on_f([](auto b, auto) { return b; })},
      {"no integer write", on_x(0)},
      {"advanced twice", on_x(2)},
      {"no store",
       [](const Plain& before, const Instruction&, Plain& after) { after.memory = before.memory; }},
      {"no flags",
       [](const Plain& before, const Instruction&, Plain& after) { after.flags = before.flags; }},
      {"banks kept",
       [](const Plain& before, const Instruction&, Plain& after) {
         after.acc = before.acc;
         after.exc = before.exc;
       }},
      {"vectors kept", [](const Plain& before, const Instruction&,
                          Plain& after) { after.vectors = before.vectors; }},
      {"sums kept",
       [](const Plain& before, const Instruction&, Plain& after) { after.sums = before.sums; }},
      {"mode kept",
       [](const Plain& before, const Instruction&, Plain& after) { after.mode = before.mode; }}};
}

/// A fused multiply-add that rounds the product before the sum.
template <class F, bool kScalar>
void unfused(const Plain& before, const Instruction& i, Plain& after) {
  using namespace reference;  // NOLINT(google-build-using-namespace)
  after.f[i.rd] = word_of<F>([&](unsigned l) {
    const std::uint32_t factor = lane<F>(before.f[i.rs1], kScalar ? 0 : l);
    const std::uint32_t product = mul_of<F>(factor, lane<F>(before.f[i.rs2], l)).bits;
    return add_of<F>(product, lane<F>(before.f[i.rs3], l)).bits;
  });
}

/// On programs of this instruction alone: {the fault changes a result, the test notices it}.
std::pair<bool, bool> noticed(Mnemonic m, const Spoil& spoil) {
  std::pair<bool, bool> result{};
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    Maker maker(seed);
    bool changed = false;
    const Spoil watched = [&](const Plain& before, const Instruction& i, Plain& after) {
      const Plain right = after;
      spoil(before, i, after);
      changed = right.f != after.f || right.x != after.x || right.memory != after.memory ||
                right.flags != after.flags || right.acc != after.acc || right.exc != after.exc ||
                right.vectors != after.vectors || right.sums != after.sums ||
                right.mode != after.mode;
    };
    const auto right = agrees({Trial::once, {maker.make(m)}}, kForms[0], seed, watched);
    if (!right) continue;
    result.first |= changed;
    if (*right == changed) return {true, false};
    result.second |= changed;
    if (result.second && seed > 20) break;
  }
  return result;
}

TEST_SUITE("unit") {
  TEST_CASE("a fault in any instruction is noticed") {
    std::size_t found = 0;
    for (const Reference& each : references()) {
      if (!is_xtile(each.mnemonic)) continue;
      for (const auto& fault : faults()) {
        const auto [acts, seen] = noticed(each.mnemonic, fault.second);
        CAPTURE(name_of(each.mnemonic));
        CAPTURE(std::string(fault.first));
        CHECK(acts == seen);
        found += seen ? 1 : 0;
      }
    }
    CHECK(noticed(fma_4h, unfused<fp::F16, false>).second);
    CHECK(noticed(fma_2s, unfused<fp::F32, false>).second);
    CHECK(noticed(axpy_4h, unfused<fp::F16, true>).second);
    CHECK(noticed(axpy_2s, unfused<fp::F32, true>).second);
    MESSAGE(found, " faults");
    CHECK(found > 300);
  }
}

}  // namespace
}  // namespace tessera::engine::test
