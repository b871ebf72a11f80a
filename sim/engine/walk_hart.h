#pragma once

#include <cstring>
#include <optional>
#include <type_traits>

#include "sim/engine/taint_walk.h"

namespace tessera::engine {

/// A walk's state for one instruction: semantics/ execute on it as on the engine's Hart.
class WalkHart {
 public:
  struct Mode {
    static constexpr bool kHostRounding = false;
    static constexpr bool kRecords = true;
    static constexpr bool kQuick = false;
  };

  WalkHart(TaintWalk& walk, const WalkCode::Step& step, bool stores_known = false)
      : walk_(walk), step_(step), context_(walk.context_), stores_known_(stores_known) {}

  [[nodiscard]] std::uint32_t imm() const { return static_cast<std::uint32_t>(step_.op.imm); }
  [[nodiscard]] std::uint32_t rs1() const { return context_.x[step_.op.rs1]; }
  [[nodiscard]] std::uint32_t rs2() const { return context_.x[step_.op.rs2]; }
  void rd(std::uint32_t value) { context_.x[step_.op.rd] = value; }
  // Contents of f registers are unknown; 0 stands in.
  [[nodiscard]] std::uint64_t fd() const { return 0; }
  [[nodiscard]] std::uint64_t fs1() const { return 0; }
  [[nodiscard]] std::uint64_t fs2() const { return 0; }
  [[nodiscard]] std::uint64_t fs3() const { return 0; }
  void fd(std::uint64_t /*value*/) {}
  void fd_f32(std::uint32_t /*value*/) {}

  [[nodiscard]] const Op& op() const { return step_.op; }
  Context& context() { return context_; }
  void advance(std::uint8_t number, std::uint32_t bytes) {
    context_.x[number] += bytes;
    context_.x[0] = 0;
  }

  template <class T>
  bool load(std::uint32_t address, T& value) {
    value = {};
    if (!within<T>(address)) return walk_.refuse(kUnknown, "a load that faults");
    const bool index = step_.loads_index && loads_++ == 0;
    const bool is_number = step_.loads_x || index;
    if (is_number) {
      std::memcpy(&value, walk_.memory_.bytes() + address, sizeof value);
      loaded_ = walk_.memory_.read(address, sizeof(T), walk_.who_, walk_.sets_);
    }
    if (walk_.recorder_ != nullptr) record_load(address, value, is_number, index);
    return !index || loaded_ == kKnown || walk_.refuse(loaded_, "an index that is a value");
  }
  template <class T>
  bool store(std::uint32_t address, T value) {
    if (!within<T>(address)) return walk_.refuse(kUnknown, "a store that faults");
    if (!walk_.memory_.write(address, sizeof(T), walk_.who_, stores_known_ ? &value : nullptr))
      return walk_.refuse(kUnknown, "a store over what has decided");
    if (stores_known_) std::memcpy(walk_.memory_.bytes() + address, &value, sizeof value);
    if (walk_.recorder_ != nullptr)
      walk_.recorder_->store(
          address, sizeof(T),
          stores_known_ ? std::optional<std::uint32_t>(step_.stored) : std::nullopt);
    return true;
  }
  template <class T>
  bool may_store(std::uint32_t address) {
    return within<T>(address) || walk_.refuse(kUnknown, "a store that faults");
  }
  [[nodiscard]] Taint loaded() const { return loaded_; }

 private:
  template <class T>
  void record_load(std::uint32_t address, T value, bool is_number, bool index) {
    CallRecorder& recorder = *walk_.recorder_;
    if (is_number && loaded_ == kKnown)
      recorder.load_known(address, sizeof(T), std::is_signed_v<T>,
                          static_cast<std::uint32_t>(static_cast<std::int32_t>(value)), index);
    else
      recorder.load(address, sizeof(T));
    if (index) recorder.begin_access(std::span(step_.bases).subspan(1), 0);
  }
  template <class T>
  [[nodiscard]] bool within(std::uint32_t address) const {
    return address % sizeof(T) == 0 && std::uint64_t{address} + sizeof(T) <= walk_.memory_.size();
  }

  TaintWalk& walk_;
  const WalkCode::Step& step_;
  Context& context_;
  bool stores_known_;
  int loads_ = 0;
  Taint loaded_ = kKnown;
};

}  // namespace tessera::engine
