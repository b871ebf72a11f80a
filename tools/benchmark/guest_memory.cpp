#include <algorithm>
#include <cstring>

#include "sim/base/errors.h"
#include "sim/base/types.h"

#include "tools/benchmark/guest_loop.h"

namespace tessera::benchmark {
namespace {

constexpr std::uint32_t kMemory = 1U << 20;
constexpr std::uint32_t kAlign = 8;

}  // namespace

GuestMemory::GuestMemory(const elf::Program& loops) : bytes_(kMemory) {
  for (const elf::Segment& segment : loops.segments) {
    std::memcpy(bytes_.data() + segment.address, segment.bytes.data(), segment.bytes.size());
    code_end_ = std::max(code_end_, segment.address + segment.memory_bytes);
  }
  code_end_ = round_up(code_end_, kAlign);
  used_ = code_end_;
}

std::uint32_t GuestMemory::append(std::span<const std::byte> values) {
  const std::uint32_t address = used_;
  check(address + values.size() <= bytes_.size(), "benchmark: {} bytes do not fit", values.size());
  std::memcpy(bytes_.data() + address, values.data(), values.size());
  used_ = round_up(address + static_cast<std::uint32_t>(values.size()), kAlign);
  return address;
}

}  // namespace tessera::benchmark
