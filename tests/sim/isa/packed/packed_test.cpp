#include "sim/isa/packed/packed.h"

#include <random>

#include <doctest/doctest.h>

using namespace tessera;  // NOLINT(google-build-using-namespace)

namespace {

/// 64-bit registers with many special lanes of f16 and f32.
class Registers {
 public:
  explicit Registers(std::uint64_t seed) : random_(seed) {}
  std::uint64_t next() {
    const std::uint64_t r = random_();
    switch (r & 3) {
      case 0:
        return random_();
      case 1:
        return packed::join_s(special_s(), special_s());
      case 2:
        return packed::join_s(static_cast<std::uint32_t>(random_()), special_s());
      default:
        return packed::join_h(half(), half(), half(), half());
    }
  }

 private:
  std::uint16_t half() {
    const std::uint64_t r = random_();
    constexpr std::uint16_t kEdges[] = {0x0000, 0x0001, 0x03ff, 0x0400, 0x3c00, 0x7bff,
                                        0x7c00, 0x7c01, 0x7dff, 0x7e00, 0x7fff, 0x0002};
    const auto any = static_cast<std::uint16_t>(r);
    if ((r >> 32 & 3) != 0) return any;
    return static_cast<std::uint16_t>((any & 0x8000) | kEdges[(r >> 40) % 12]);
  }
  std::uint32_t special_s() {
    const std::uint64_t r = random_();
    constexpr std::uint32_t kEdges[] = {0,          1,          0x007fffff, 0x00800000,
                                        0x3f800000, 0x7f7fffff, 0x7f800000, 0x7f800001,
                                        0x7fbfffff, 0x7fc00000, 0x7fffffff, 0x477fefff};
    const auto any = static_cast<std::uint32_t>(r);
    if ((r >> 32 & 3) != 0) return (any & 0x807fffff) | (0x3f800000 + (any >> 8 & 0x07800000));
    return (any & 0x8000'0000) | kEdges[(r >> 40) % 12];
  }

  std::mt19937_64 random_;
};

template <class Packed, class Model>
int disagreements(int count, Packed packed, Model model) {
  fp::HostEnvironment host;
  Registers registers(7);
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t a = registers.next();
    const std::uint64_t b = registers.next();
    const std::uint64_t c = registers.next();
    const std::uint64_t got = packed(a, b, c);
    const std::uint32_t got_flags = host.take_flags();
    const std::uint64_t expected = model(a, b, c);
    if (got != expected || got_flags != host.take_flags()) ++wrong;
  }
  return wrong;
}

constexpr int kCases = 1'000'000;

#define LANES1(name)                                              \
  disagreements(                                                  \
      kCases, [](auto a, auto, auto) { return packed::name(a); }, \
      [](auto a, auto, auto) { return packed::portable::name(a); })
#define LANES2(name)                                                   \
  disagreements(                                                       \
      kCases, [](auto a, auto b, auto) { return packed::name(a, b); }, \
      [](auto a, auto b, auto) { return packed::portable::name(a, b); })
#define LANES3(name)                                                        \
  disagreements(                                                            \
      kCases, [](auto a, auto b, auto c) { return packed::name(a, b, c); }, \
      [](auto a, auto b, auto c) { return packed::portable::name(a, b, c); })

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("packed f16 lanes do what the scalar instruction does, flags included") {
    CHECK(LANES2(add_4h) == 0);
    CHECK(LANES2(sub_4h) == 0);
    CHECK(LANES2(mul_4h) == 0);
    CHECK(LANES2(min_4h) == 0);
    CHECK(LANES2(max_4h) == 0);
    CHECK(LANES2(gt_4h) == 0);
    CHECK(LANES3(fma_4h) == 0);
    CHECK(LANES3(dot2_s_h) == 0);
    CHECK(LANES2(pack_4h) == 0);
    CHECK(LANES1(unpkl_2s) == 0);
  }

  TEST_CASE("packed f32 lanes do what the scalar instruction does, flags included") {
    CHECK(LANES2(add_2s) == 0);
    CHECK(LANES2(sub_2s) == 0);
    CHECK(LANES2(mul_2s) == 0);
    CHECK(LANES2(min_2s) == 0);
    CHECK(LANES2(max_2s) == 0);
    CHECK(LANES2(gt_2s) == 0);
    CHECK(LANES3(fma_2s) == 0);
  }
}
