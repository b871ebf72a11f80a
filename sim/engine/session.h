#pragma once

#include <cstdint>

#include "sim/engine/code.h"
#include "sim/engine/engine.h"
#include "sim/engine/op.h"
#include "sim/isa/float/host_environment.h"

namespace tessera::engine {

/// Runs guest code on one host thread, one context after the other, and keeps what seldom changes
/// between them: bounds, and the host's floating-point environment (which is the guests' as long as
/// the session lives). For callers that enter the engine often. Codes outlive the session.
class Session {
 public:
  /// See engine.h.
  Exit run(const Code& code, Context& context, const TileMemory& memory, std::uint64_t slot_limit);
  Exit run_recording(const Code& code, Context& context, const TileMemory& memory,
                     std::uint64_t slot_limit, AccessLog& log);

 private:
  /// What one call of run() works on.
  struct Call {
    Context& context;
    std::uint64_t left;  ///< slots until the limit
    const Op* op;        ///< where to go on
    Exit& exit;
  };

  void prepare(const Code& code, const Context& context, const TileMemory& memory);
  void choose_path(const Code& code, const Context& context);
  [[nodiscard]] const Op* find(std::uint32_t pc) const;
  Cost enter(const Op* op, Context& context, std::uint64_t granted);
  bool go_on(Call& call, Cost& used);
  bool look(Call& call);
  bool csr(Call& call);
  bool fault(Call& call) const;

  Frame frame_;
  fp::HostEnvironment host_;
};

}  // namespace tessera::engine
