#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine/call_recorder.h"
#include "sim/engine/engine.h"
#include "sim/engine/tainted_memory.h"
#include "sim/engine/walk_code.h"

/// Follows tile code without its values, and refuses where one of them would decide a branch, a
/// count or the address of a store: what it follows to the end takes the same path, and so the same
/// time, whatever values there are. Numbers of f registers, of the matrix unit and of the int8 unit
/// are never known; what costs depend on is the path alone (timing.h).
namespace tessera::engine {

class TaintWalk {
 public:
  /// Why it refuses; `lookable`: buffers whose contents would let it go on.
  struct Refusal {
    std::string what;
    std::uint32_t pc = 0;
    std::vector<std::uint32_t> lookable;
  };

  /// All outlive it. `memory` holds what both roles leave there.
  TaintWalk(const WalkCode& code, Context& context, TaintedMemory& memory, TaintSets& sets);

  /// Every register of x becomes unknown but those given.
  void forget_registers();
  void know(std::uint32_t reg, std::uint32_t value);
  [[nodiscard]] bool knows(std::uint32_t reg) const { return taints_[reg] == kKnown; }

  /// run() tells `recorder`, which outlives it, what it does from now on.
  void record(CallRecorder& recorder) { recorder_ = &recorder; }

  /// Refuses loads by addresses that are values, too, as it does of supervisors: whoever executes
  /// them without values may fault.
  void refuse_loads_anywhere() { loads_anywhere_ = false; }

  /// From context.pc to the next stop that is not `dma`; context.pc is then behind it. Operands
  /// that decide are known; that of exchange_start and exchange_wait is whatever it is.
  /// False: see refusal().
  bool run(Exit& exit);
  [[nodiscard]] const Refusal& refusal() const { return refusal_; }
  /// Instructions that it has followed, without those that change no x register and no memory.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

 private:
  friend class WalkHart;
  using Step = WalkCode::Step;

  [[nodiscard]] Taint taint_of(std::uint32_t registers);
  bool require_known(std::uint32_t registers, const char* what);
  bool refuse(Taint taint, const char* what);
  bool arithmetic(const Step& step);
  bool access(const Step& step);
  bool load_anywhere(const Step& step, Taint address);
  bool control(const Step& step);
  void link(const Step& step);
  bool csr(const Step& step);
  bool stop(const Step& step, Exit& exit, bool& stopped);
  bool transfer(const Step& step);
  void set_taint(std::uint32_t reg, Taint taint);

  const WalkCode& code_;
  Context& context_;
  TaintedMemory& memory_;
  TaintSets& sets_;
  TaintedMemory::Who who_;
  bool loads_anywhere_;  ///< are let through
  std::array<Taint, kSink + 1> taints_{};
  std::uint32_t tainted_ = 0;  ///< registers that are not known, a bit each
  std::uint32_t pc_ = 0;
  std::uint32_t loop_begin_ = 0, loop_end_ = 0, loops_left_ = 0;
  std::uint64_t steps_ = 0;
  CallRecorder* recorder_ = nullptr;  ///< null: nobody asks
  Refusal refusal_;
};

}  // namespace tessera::engine
