#include "sim/engine/semihosting.h"

#include <algorithm>
#include <cstring>

namespace tessera::engine {
namespace {

constexpr std::uint32_t kBefore = 0x01f01013;  // slli x0, x0, 31
constexpr std::uint32_t kEbreak = 0x00100073;
constexpr std::uint32_t kAfter = 0x40705013;  // srai x0, x0, 7
constexpr std::uint32_t kEcall = 0x00000073;

enum Operation : std::uint32_t {
  kOpen = 0x01,
  kClose = 0x02,
  kWriteCharacter = 0x03,
  kWriteText = 0x04,
  kWrite = 0x05,
  kRead = 0x06,
  kIsTerminal = 0x09,
  kLength = 0x0c,
  kExit = 0x18,
  kExitExtended = 0x20
};

constexpr std::uint32_t kFailed = ~std::uint32_t{0};
constexpr std::uint32_t kApplicationExit = 0x20026;  // the only reason that is not a failure

constexpr std::uint32_t kOutput = 1, kError = 2, kFeatures = 3;  // handles
/// SHFB, then bits for SYS_EXIT_EXTENDED and a separate error output.
constexpr std::string_view kFeatureBytes = "SHFB\x03";

}  // namespace

Semihosting::Semihosting(std::span<std::byte> memory, std::uint32_t code_end, const Write& write)
    : memory_(memory), write_(write) {
  for (std::uint64_t pc = 4; pc + 8 <= std::min<std::uint64_t>(code_end, memory.size()); pc += 4) {
    if (word(pc) != kEbreak || word(pc - 4) != kBefore || word(pc + 4) != kAfter) continue;
    std::memcpy(memory_.data() + pc, &kEcall, sizeof kEcall);
    calls_.insert(static_cast<std::uint32_t>(pc));
  }
}

Semihosting::Answer Semihosting::answer(std::uint32_t operation, std::uint32_t argument) {
  switch (operation) {
    case kOpen:
      return {open(argument)};
    case kClose:
      return {0};
    case kWriteCharacter:
      put(kOutput, bytes(argument, 1).value_or(""));
      return {argument};
    case kWriteText:
      put(kOutput, text(argument));
      return {argument};
    case kWrite:
      return {write(argument)};
    case kRead:
      return {read(argument)};
    case kIsTerminal:
      return {word(argument) == kFeatures ? 0U : 1U};
    case kLength:
      return {word(argument) == kFeatures ? static_cast<std::uint32_t>(kFeatureBytes.size()) : 0U};
    case kExit:
      return {0, argument == kApplicationExit ? 0U : 1U};
    case kExitExtended:
      return {0, word(argument) == kApplicationExit ? word(std::uint64_t{argument} + 4) : 1U};
    default:
      return {kFailed};
  }
}

/// {name, mode, length}: ":tt" is the terminal, read in modes 0 to 3, written in 4 to 7, for errors
/// from 8 on.
std::uint32_t Semihosting::open(std::uint32_t block) {
  const std::string name = bytes(word(block), word(std::uint64_t{block} + 8)).value_or("");
  if (name == ":semihosting-features") {
    features_read_ = 0;
    return kFeatures;
  }
  if (name != ":tt") return kFailed;
  constexpr std::uint32_t kFirstWrite = 4, kFirstAppend = 8;
  const std::uint32_t mode = word(std::uint64_t{block} + 4);
  if (mode < kFirstWrite) return 0;
  return mode < kFirstAppend ? kOutput : kError;
}

/// {handle, address, length}: returns the number of bytes not written.
std::uint32_t Semihosting::write(std::uint32_t block) const {
  const std::uint32_t handle = word(block);
  const std::uint32_t size = word(std::uint64_t{block} + 8);
  const auto text = bytes(word(std::uint64_t{block} + 4), size);
  if (!text || (handle != kOutput && handle != kError)) return size;
  put(static_cast<int>(handle), *text);
  return 0;
}

/// {handle, address, length}: returns the number of bytes not read.
std::uint32_t Semihosting::read(std::uint32_t block) {
  const std::uint32_t address = word(std::uint64_t{block} + 4);
  const std::uint32_t size = word(std::uint64_t{block} + 8);
  if (word(block) != kFeatures || !bytes(address, size)) return size;
  const std::string_view rest = kFeatureBytes.substr(features_read_).substr(0, size);
  std::memcpy(memory_.data() + address, rest.data(), rest.size());
  features_read_ += static_cast<std::uint32_t>(rest.size());
  return size - static_cast<std::uint32_t>(rest.size());
}

void Semihosting::put(int descriptor, std::string_view text) const {
  if (write_ && !text.empty()) write_(descriptor, text);
}

/// The word at `address`; 0 outside memory.
std::uint32_t Semihosting::word(std::uint64_t address) const {
  std::uint32_t value = 0;
  if (address + sizeof value <= memory_.size())
    std::memcpy(&value, memory_.data() + address, sizeof value);
  return value;
}

std::optional<std::string> Semihosting::bytes(std::uint32_t address, std::uint32_t size) const {
  if (std::uint64_t{address} + size > memory_.size()) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(memory_.data()) + address, size);
}

/// The zero-terminated text at `address`.
std::string Semihosting::text(std::uint32_t address) const {
  std::string text;
  for (std::uint64_t at = address; at < memory_.size() && memory_[at] != std::byte{0}; ++at)
    text += static_cast<char>(memory_[at]);
  return text;
}

}  // namespace tessera::engine
