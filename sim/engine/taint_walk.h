#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine/call_recorder.h"
#include "sim/engine/engine.h"
#include "sim/engine/tainted_memory.h"
#include "sim/engine/walk_code.h"

/// Walks tile code without its data values, and refuses if one would affect a branch, a count or a
/// store address: code walked to its end takes the same path, and so the same time, for any values.
/// Contents of f registers, the matrix unit and the vector unit are never known; costs depend only
/// on the path (timing.h).
namespace tessera::engine {

class TaintWalk {
 public:
  /// Reason for refusal; `lookable`: buffers whose contents would let the walk continue.
  struct Refusal {
    std::string what;
    std::uint32_t pc = 0;
    std::vector<std::uint32_t> lookable;
  };

  /// All arguments outlive it. `memory`: shared by walks of both roles.
  TaintWalk(const WalkCode& code, Context& context, TaintedMemory& memory, TaintSets& sets);

  /// Marks all x registers except x0 as unknown; know() then sets known ones.
  void forget_registers();
  void know(std::uint32_t reg, std::uint32_t value);
  [[nodiscard]] bool knows(std::uint32_t reg) const { return taints_[reg] == kKnown; }

  /// Makes run() report to `recorder`, which outlives this.
  void record(CallRecorder& recorder) { recorder_ = &recorder; }

  /// Also refuses loads at unknown addresses, as always for supervisors: executing them without
  /// values may fault.
  void refuse_loads_anywhere() { loads_anywhere_ = false; }

  /// Walks from context.pc to the next stop other than `dma`; context.pc is then after it. Operands
  /// that affect the path are known; the operand of exchange_start and exchange_wait may be
  /// unknown.
  /// False: see refusal().
  bool run(Exit& exit);
  [[nodiscard]] const Refusal& refusal() const { return refusal_; }
  /// Number of walked instructions, without those that change no x register and no memory.
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
  bool loads_anywhere_;  ///< loads at unknown addresses are allowed
  std::array<Taint, kSink + 1> taints_{};
  std::uint32_t tainted_ = 0;  ///< unknown registers (bit mask)
  std::uint32_t pc_ = 0;
  std::uint32_t loop_begin_ = 0, loop_end_ = 0, loops_left_ = 0;
  std::uint64_t steps_ = 0;
  CallRecorder* recorder_ = nullptr;  ///< null: not recorded
  Refusal refusal_;
};

}  // namespace tessera::engine
