#pragma once

#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "sim/base/errors.h"
#include "sim/elf/codelet.h"
#include "sim/engine/engine.h"
#include "sim/machine/machine_config.h"

namespace tessera::test {

/// One codelet of a kernel at address 0 of its own memory, run by worker 0 alone.
class LoneCodelet {
 public:
  LoneCodelet(std::string_view kernel, std::string_view name)
      : LoneCodelet(elf::embedded_codelet(kernel, name)) {}
  explicit LoneCodelet(const program::Codelet& codelet) : memory_(kBytes) {
    std::memcpy(memory_.data(), codelet.code.data(), codelet.code.size());
    code_end_ = static_cast<std::uint32_t>(codelet.code.size());
    check(code_end_ <= kData, "lone codelet: {} bytes of code", code_end_);
    code_ = engine::predecode(std::span(memory_).first(code_end_), engine::Role::worker, {});
  }

  /// Start address of the free memory.
  static constexpr std::uint32_t kData = 0x1000;

  template <class T>
  void put(std::uint32_t address, T value) {
    std::memcpy(memory_.data() + address, &value, sizeof value);
  }

  template <class T>
  [[nodiscard]] T get(std::uint32_t address) const {
    T value;
    std::memcpy(&value, memory_.data() + address, sizeof value);
    return value;
  }

  /// Issue slots of one call with this argument, including the worker's end.
  std::uint64_t slots(std::uint32_t argument) {
    engine::Context context;
    context.workers = 1;
    context.x[kArgument] = argument;
    context.x[kReturn] = engine::kReturnAddress;
    const engine::TileMemory view{memory_.data(), kBytes, code_end_, weights_};
    const engine::Exit exit = engine::run(*code_, context, view, 1'000'000);
    check(exit.stop == engine::Stop::end_worker, "lone codelet: stopped at {:#x}", exit.pc);
    return context.slots;
  }

 private:
  static constexpr std::uint32_t kBytes = 0x40000;
  static constexpr int kReturn = 1;
  static constexpr int kArgument = 10;
  std::vector<std::byte> memory_;
  std::uint32_t code_end_ = 0;
  std::shared_ptr<const engine::Code> code_;
  std::uint64_t weights_[64] = {};
};

}  // namespace tessera::test
