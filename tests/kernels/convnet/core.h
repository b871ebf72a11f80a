#pragma once

#include <cstring>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/convnet/calls.h"
#include "sim/base/errors.h"
#include "sim/elf/codelet.h"
#include "sim/engine/engine.h"
#include "sim/machine/machine_config.h"

namespace tessera::convnet::tile_code {

/// An AI Engine's core: one context, a vector unit and latencies of several cycles.
inline TileConfig core_config() {
  TileConfig tile;
  tile.issue = IssueKind::single;
  tile.contexts = 1;
  tile.dual_issue = true;
  tile.load_bytes_per_slot = 64;
  tile.store_bytes_per_slot = 32;
  tile.matrix_unit.i8.outputs = 8;
  tile.matrix_unit.i16.outputs = 4;
  tile.matrix_unit.bf16.outputs = 4;
  tile.latency.load = 7;
  tile.latency.matrix = 6;
  tile.latency.float_move = 2;
  tile.latency.integer_multiply = 2;
  tile.latency.branch_taken = 5;
  return tile;
}

/// Memory of a core, and calls of tile code on it.
class Core {
 public:
  Core() : memory_(kBytes) {}

  /// A buffer, filled; its address.
  template <class T>
  std::uint32_t put(const std::vector<T>& values) {
    const std::uint32_t at = reserve(values.size() * sizeof(T));
    std::memcpy(memory_.data() + at, values.data(), values.size() * sizeof(T));
    return at;
  }
  std::uint32_t reserve(std::uint64_t bytes) {
    const std::uint32_t at = next_;
    next_ += static_cast<std::uint32_t>((bytes + 7) / 8 * 8);
    check(next_ <= kBytes, "convnet test: {} bytes", next_);
    return at;
  }
  template <class T>
  [[nodiscard]] std::vector<T> get(std::uint32_t address, std::size_t count) const {
    std::vector<T> values(count);
    std::memcpy(values.data(), memory_.data() + address, count * sizeof(T));
    return values;
  }

  /// Runs a codelet; its slots.
  std::uint64_t call(std::string_view codelet, const std::vector<Argument>& arguments) {
    std::vector<std::uint32_t> words;
    words.reserve(arguments.size());
    for (const Argument& each : arguments) words.push_back(std::get<std::uint32_t>(each));
    const program::Codelet code = elf::embedded_codelet("convnet", codelet);
    check(code.code.size() <= kData, "convnet test: {} bytes of code", code.code.size());
    std::memcpy(memory_.data(), code.code.data(), code.code.size());
    const auto code_end = static_cast<std::uint32_t>(code.code.size());
    const auto decoded =
        engine::predecode(std::span(memory_).first(code_end), engine::Role::worker, core_config());
    engine::Context& context = context_;
    context.workers = 1;
    context.integers = &unit_;
    context.slots = 0;
    context.pc = 0;
    context.x[kReturn] = engine::kReturnAddress;
    context.x[kArgument] = put(words);
    const engine::TileMemory view{memory_.data(), kBytes, code_end, nullptr};
    const engine::Exit exit = engine::run(*decoded, context, view, 100'000'000);
    check(exit.stop == engine::Stop::end_worker, "convnet test: stopped at {:#x}, address {:#x}",
          exit.pc, exit.address);
    return context.slots;
  }

 private:
  static constexpr std::uint32_t kBytes = 0x80000;
  static constexpr std::uint32_t kData = 0x4000;
  static constexpr int kReturn = 1;
  static constexpr int kArgument = 10;
  std::vector<std::byte> memory_;
  std::uint32_t next_ = kData;
  packed::IntegerUnit unit_;
  engine::Context context_;  ///< keeps its registers from call to call
};

}  // namespace tessera::convnet::tile_code
