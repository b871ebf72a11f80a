#pragma once

#include <asmjit/x86.h>
#include <cstddef>

#include "sim/engine/native/hyperblock.h"
#include "sim/engine/op.h"

/// Offsets and registers that translated code uses.
namespace tessera::engine::native {

namespace context_at {
constexpr int x(std::size_t number) { return static_cast<int>(offsetof(Context, x) + 4 * number); }
constexpr int f(std::size_t number) { return static_cast<int>(offsetof(Context, f) + 8 * number); }
inline constexpr int kPipelineState = offsetof(Context, pipeline_state);
inline constexpr int kWaits = offsetof(Context, waits);
}  // namespace context_at

namespace frame_at {
inline constexpr int kNext = offsetof(Frame, next);
inline constexpr int kLoopsLeft = offsetof(Frame, loops_left);
inline constexpr int kOverdrawn = offsetof(Frame, overdrawn);
inline constexpr int kSize = offsetof(Frame, size);
inline constexpr int kCodeEnd = offsetof(Frame, code_end);
inline constexpr int kTrace = offsetof(Frame, trace);
inline constexpr int kDone = offsetof(Frame, done);
}  // namespace frame_at

namespace op_at {
inline constexpr int kHandler = offsetof(Op, handler);
}  // namespace op_at

namespace stack {
inline constexpr int kFrame = 0;
inline constexpr int kNext = 8;
inline constexpr int kLoopsLeft = 16;
inline constexpr int kSlots = 24;  // in crowded regions
inline constexpr int kWork = 32;
inline constexpr int kShadows = 40;
inline constexpr int kFlags = 96;  // before and after a product
inline constexpr int kOperand = 112;
inline constexpr int kWide = 120;       // 64-bit values whose lower words have no turn
inline constexpr int kKept = 376;       // kept operands of 64-bit operations
inline constexpr int kEvaluated = 536;  // results computed when the region is left
inline constexpr int kBytes = 920;      // keeps calls aligned: six registers and the return address
static_assert(kShadows + 4 * int{native::kShadows + 1} <= kFlags, "with kLink");
}  // namespace stack

/// Callee-saved host registers.
inline constexpr asmjit::x86::Gp kSaved[] = {asmjit::x86::rbx, asmjit::x86::rbp, asmjit::x86::r12,
                                             asmjit::x86::r13, asmjit::x86::r14, asmjit::x86::r15};
/// Host registers that hold guest registers; the first survive calls.
inline constexpr asmjit::x86::Gp kPool[] = {asmjit::x86::r12d, asmjit::x86::r13d, asmjit::x86::ecx,
                                            asmjit::x86::esi, asmjit::x86::edi, asmjit::x86::r8d,
                                            asmjit::x86::r9d, asmjit::x86::r10d, asmjit::x86::r11d,
                                            // Taken by crowded regions, which count in memory:
                                            asmjit::x86::r14d, asmjit::x86::r15d};
inline constexpr unsigned kCounters = 2;
inline constexpr unsigned kHosts = std::size(kPool) - kCounters;
inline constexpr unsigned kSurviving = 2;
inline constexpr unsigned kFirstHostF =
    5;  ///< xmm registers from here on; those before are scratch
inline constexpr asmjit::x86::Xmm kMask = asmjit::x86::xmm4;  ///< choice mask: ones if taken
inline constexpr unsigned kHostsF = 16 - kFirstHostF;
inline constexpr unsigned kDoneVectors = 3;  ///< the last of them: activities (Done)
static_assert(sizeof(Done) / 32 >= kDoneVectors &&
              isa::kActivities <= 8 * std::size_t{kDoneVectors});
inline constexpr unsigned kFirstDone = 16 - kDoneVectors;

}  // namespace tessera::engine::native
