#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/engine/context.h"
#include "sim/engine/engine.h"
#include "sim/engine/pipeline_transition.h"
#include "sim/isa/activity.h"
#include "sim/isa/mnemonic.h"
#include "sim/isa/packed/matrix.h"

/// Predecoded code as the handlers see it. A block is an array of Ops, executed in order; every
/// handler ends with a tail call to the next Op's handler.
namespace tessera::engine {

class AccessLog;
class Code;
class IssueTrace;
struct Block;
struct Edge;
struct Frame;
struct Op;

/// `slots` counts up to 0, where run() has to check (a limit or a full counter). `work` holds
/// instructions, pairs and flops (pack_work). Both change only at block exits.
using Handler = void (*)(const Op* op, Context* context, std::byte* memory, Frame* frame,
                         std::int64_t slots, std::uint64_t work);

/// Number of the register that takes writes to x0.
constexpr std::uint8_t kSink = 32;

struct Op {
  Handler handler = nullptr;
  const Edge* edge = nullptr;  ///< for instructions that may leave the straight line
  std::uint8_t rd = 0;         ///< kSink where the instruction writes x0
  std::uint8_t rs1 = 0;
  std::uint8_t rs2 = 0;
  std::uint8_t rs3 = 0;
  std::int32_t imm = 0;  ///< the rounding mode of floating-point arithmetic; auipc, jal: the sum
};

/// Cost of instructions: see Handler for the packing of `work`.
struct Cost {
  std::int64_t slots = 0;
  std::uint64_t work = 0;
  bool operator==(const Cost&) const = default;
};
/// Instructions, those that issued with the previous one, and flops: 19, 18 and 27 bits, enough for
/// the interval between two checks (Session::kSlice).
constexpr unsigned kPairsAt = 19;
constexpr unsigned kFlopsAt = 37;
constexpr std::uint64_t pack_work(std::uint64_t instructions, std::uint64_t pairs,
                                  std::uint64_t flops) {
  return instructions | pairs << kPairsAt | flops << kFlopsAt;
}
constexpr std::uint64_t instructions_of(std::uint64_t work) {
  return work & ((std::uint64_t{1} << kPairsAt) - 1);
}

/// Counts of instructions' activities, by isa::index(Activity): two vectors.
class Done {
 public:
  void set(const std::array<std::uint32_t, isa::kActivities>& counts) {
    for (std::size_t i = 0; i < counts.size(); ++i)
      i < kLanes ? lanes_[i] = counts[i] : rest_[i - kLanes] = counts[i];
  }
  [[nodiscard]] std::uint32_t operator[](std::size_t i) const {
    return i < kLanes ? lanes_[i] : rest_[i - kLanes];
  }
  void add(const Done& other, std::uint32_t times = 1) {
    lanes_ += other.lanes_ * times;
    rest_ += other.rest_ * times;
  }

 private:
  static constexpr std::size_t kLanes = 16;
  static constexpr std::size_t kRest = 8;
  static_assert(isa::kActivities <= kLanes + kRest);
  using Lanes [[gnu::vector_size(4 * kLanes)]] = std::uint32_t;
  using Rest [[gnu::vector_size(4 * kRest)]] = std::uint32_t;
  Lanes lanes_{};
  Rest rest_{};
};

/// A way out of a block: what was executed since the block (or its last loop) began, and the Op to
/// go on with. `target` starts as `stub`, which finds the block of `pc` and stores it here; for a
/// jalr it is an earlier target, for translators.
struct Edge {
  mutable std::atomic<const Op*> target{nullptr};
  /// Its target if it has been taken before, else null.
  [[nodiscard]] const Op* taken() const {
    const Op* const known = target.load(std::memory_order_relaxed);
    return known == &stub ? nullptr : known;
  }
  Cost cost;
  std::uint32_t pc = 0;
  Done done;
  Op stub;
  // For codes whose instructions may wait for results (Code::timed):
  const Block* block = nullptr;
  std::uint32_t first = 0;  ///< the executed stretch: Block::demands from here
  std::uint32_t last = 0;   ///< up to here
  bool branches = false;    ///< it belongs to a taken branch
  mutable std::atomic<const PipelineTransition*> transitions{nullptr};
  [[nodiscard]] inline std::span<const Demand> demands() const;     ///< block.h
  [[nodiscard]] inline std::span<const std::uint32_t> pcs() const;  ///< one for each demand
  // For instructions that leave the handlers (stop, csr), which are at pc - 4:
  Cost before;  ///< as `cost`, without the instruction itself; `done` includes it
  isa::Instruction instruction{};
  Stop stop = Stop::fault;    ///< the instruction's request to run()'s caller
  bool has_operands = false;  ///< its operands are in registers
  std::uint32_t zone = 0;     ///< the zone that `sync` names
};

/// The matrix unit of a machine.
struct AmpShapes {
  packed::AmpShape h, hs, s;
  std::uint32_t bank_sums = 0;  ///< floats of an accumulator bank
};

/// The executing handlers: quick ones, or those that record accesses and round according to frm.
enum class Path : std::uint8_t { fast, checked };

/// Why the handlers returned to run().
enum class Reason : std::uint8_t {
  due,         ///< `slots` reached 0 at a taken branch; continue at `op`
  due_inside,  ///< `slots` reached 0 at the end of an rpt body; no stop allowed
  find,        ///< no block known for `pc`; costs already added
  stop,        ///< a control instruction: `op`, costs not yet added
  csr,         ///< a CSR instruction: as `stop`, but run() continues after it
  fault        ///< at `op`
};

/// State of one call of run(): inputs of handlers beside the context, and their results.
struct Frame {
  const std::byte* next = nullptr;  ///< TileMemory::next, or the memory itself
  // Bounds, indexed by the logarithm of the access size: see memory_access.h.
  std::uint32_t load_limit[4] = {};
  std::uint32_t store_limit[4] = {};
  std::uint32_t store_base[4] = {};
  std::uint32_t loops_left = 0;       ///< iterations of the running rpt
  bool overdrawn = false;             ///< inside rpt, beyond the limit: return at the loop's end
  const AmpShapes* shapes = nullptr;  ///< those of the code's machine
  packed::WeightCache weight_rows;    ///< rows of memory->weights, constant while workers run
  const std::atomic<const Op*>* entries = nullptr;  ///< by pc / 4
  std::uint32_t entry_count = 0;
  const Code* code = nullptr;
  Path path = Path::fast;
  const TileMemory* memory = nullptr;
  std::uint32_t size = 0;      ///< size of the memory that the bounds were set for
  std::uint32_t code_end = 0;  ///< end of the code in that memory
  AccessLog* log = nullptr;
  bool timed = false;           ///< instructions may wait for results
  bool profiled = false;        ///< transitions count their uses
  IssueTrace* trace = nullptr;  ///< trace of a shared pipeline; null: own slots

  Reason reason = Reason::due;
  Fault fault = Fault::none;
  std::uint32_t address = 0;  ///< address of the access that faulted
  std::uint32_t pc = 0;
  const Op* op = nullptr;
  std::int64_t slots = 0;
  std::uint64_t work = 0;
  Done done;
  isa::ActivityCounts* activity = nullptr;  ///< run() adds activities here; null: nowhere
};

}  // namespace tessera::engine
