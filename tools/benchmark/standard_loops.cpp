#include <bit>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "tools/benchmark/guest_loop.h"

namespace tessera::benchmark {
namespace {

using Floats = std::vector<float>;
using Words = std::vector<std::uint32_t>;

constexpr double kMillion = 1e6;
constexpr double kPlainBar = 500 * kMillion;
constexpr double kIndexedBar = 400 * kMillion;

/// Seeded data; the same on every host.
class Source {
 public:
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(engine_() % bound); }
  Floats floats(std::size_t count) {
    constexpr std::uint32_t kSteps = 2048;
    Floats values(count);
    for (float& value : values) value = static_cast<float>(below(kSteps)) / kSteps - 0.5F;
    return values;
  }

 private:
  std::mt19937 engine_{1};  // NOLINT(bugprone-random-generator-seed): the same data every time
};

template <class T>
std::string difference(const std::vector<T>& found, const std::vector<T>& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(found[i]) != std::bit_cast<std::uint32_t>(wanted[i]))
      return fmt::format("element {} is {}, the host has {}", i, found[i], wanted[i]);
  }
  return {};
}

GuestLoop saxpy(GuestMemory& memory, Source& source) {
  constexpr std::uint32_t kCount = 4096;
  constexpr float kFactor = 0.5F;
  const Floats x = source.floats(kCount);
  Floats y = source.floats(kCount);
  const std::uint32_t x_at = memory.place(x);
  const std::uint32_t y_at = memory.place(y);
  for (std::size_t i = 0; i < kCount; ++i) y[i] = std::fma(kFactor, x[i], y[i]);
  return {"saxpy",
          "saxpy",
          kPlainBar,
          {kCount, x_at, y_at},
          {kFactor},
          [y, y_at](const GuestMemory& after, std::uint32_t) {
            return difference(after.read<float>(y_at, kCount), y);
          }};
}

GuestLoop matmul(GuestMemory& memory, Source& source) {
  constexpr std::size_t kSide = 48;
  const Floats a = source.floats(kSide * kSide);
  const Floats b = source.floats(kSide * kSide);
  Floats c(kSide * kSide);
  const std::uint32_t a_at = memory.place(a);
  const std::uint32_t b_at = memory.place(b);
  const std::uint32_t c_at = memory.place(c);
  for (std::size_t i = 0; i < kSide; ++i) {
    for (std::size_t j = 0; j < kSide; ++j) {
      float sum = 0;
      for (std::size_t k = 0; k < kSide; ++k) {
        sum = std::fma(a[i * kSide + k], b[k * kSide + j], sum);
      }
      c[i * kSide + j] = sum;
    }
  }
  return {"matmul",
          "matmul",
          kPlainBar,
          {kSide, a_at, b_at, c_at},
          {},
          [c, c_at](const GuestMemory& after, std::uint32_t) {
            return difference(after.read<float>(c_at, c.size()), c);
          }};
}

GuestLoop spmv(GuestMemory& memory, Source& source) {
  constexpr std::uint32_t kRows = 1024;
  constexpr std::uint32_t kLongestRow = 32;
  Words starts = {0};
  Words columns;
  for (std::uint32_t row = 0; row < kRows; ++row) {
    const std::uint32_t count = source.below(kLongestRow);
    for (std::uint32_t i = 0; i < count; ++i) columns.push_back(source.below(kRows));
    starts.push_back(static_cast<std::uint32_t>(columns.size()));
  }
  const Floats values = source.floats(columns.size());
  const Floats x = source.floats(kRows);
  Floats y(kRows);
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t i = starts[row]; i < starts[row + 1]; ++i) {
      y[row] = std::fma(values[i], x[columns[i]], y[row]);
    }
  }
  const std::uint32_t y_at = memory.place(Floats(kRows));
  return {"CSR SpMV",
          "spmv",
          kIndexedBar,
          {kRows, memory.place(starts), memory.place(columns), memory.place(values),
           memory.place(x), y_at},
          {},
          [y, y_at](const GuestMemory& after, std::uint32_t) {
            return difference(after.read<float>(y_at, kRows), y);
          }};
}

GuestLoop lif(GuestMemory& memory, Source& source) {
  constexpr std::uint32_t kNeurons = 4096;
  constexpr float kDecay = 0.9F;
  constexpr float kThreshold = 0.4F;
  Floats potential = source.floats(kNeurons);
  const Floats current = source.floats(kNeurons);
  const std::uint32_t potential_at = memory.place(potential);
  const std::uint32_t fired_at = memory.place(Words(kNeurons));
  Words fired;
  for (std::uint32_t i = 0; i < kNeurons; ++i) {
    potential[i] = std::fma(kDecay, potential[i], current[i]);
    if (potential[i] < kThreshold) continue;
    potential[i] -= kThreshold;
    fired.push_back(i);
  }
  return {"LIF",
          "lif",
          kIndexedBar,
          {kNeurons, potential_at, memory.place(current), fired_at},
          {kDecay, kThreshold},
          [potential, potential_at, fired, fired_at](const GuestMemory& after,
                                                     std::uint32_t count) -> std::string {
            if (count != fired.size()) return fmt::format("{} fired, not {}", count, fired.size());
            std::string wrong = difference(after.read<std::uint32_t>(fired_at, count), fired);
            if (!wrong.empty()) return wrong;
            return difference(after.read<float>(potential_at, kNeurons), potential);
          }};
}

GuestLoop crc32(GuestMemory& memory, Source& source) {
  constexpr std::uint32_t kBytes = 16384;
  constexpr std::uint32_t kPolynomial = 0xedb88320;
  std::vector<std::uint8_t> data(kBytes);
  for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(source.below(256));
  Words table(256);
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit) table[i] = table[i] >> 1 ^ (table[i] & 1U) * kPolynomial;
  }
  // Bit by bit, so that the guest's table is checked too.
  std::uint32_t crc = ~0U;
  for (const std::uint8_t byte : data) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1U) * kPolynomial;
  }
  return {"crc32",
          "crc32",
          0,
          {kBytes, memory.place(data), memory.place(table)},
          {},
          [crc](const GuestMemory&, std::uint32_t found) -> std::string {
            if (found == ~crc) return {};
            return fmt::format("{:#x}, the host has {:#x}", found, ~crc);
          }};
}

}  // namespace

std::vector<GuestLoop> standard_loops(GuestMemory& memory) {
  Source source;
  std::vector<GuestLoop> loops;
  loops.push_back(saxpy(memory, source));
  loops.push_back(matmul(memory, source));
  loops.push_back(spmv(memory, source));
  loops.push_back(lif(memory, source));
  loops.push_back(crc32(memory, source));
  return loops;
}

}  // namespace tessera::benchmark
