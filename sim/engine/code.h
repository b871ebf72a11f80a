#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "sim/engine/block.h"
#include "sim/engine/engine.h"
#include "sim/engine/op.h"
#include "sim/engine/profile.h"
#include "sim/engine/timing.h"

namespace tessera::engine {

namespace native {
class Translator;
struct Continuation;
}  // namespace native
struct HandlerSet;

/// Blocks of one code, decoded when first entered. Thread-safe: lookups take no lock once a block
/// is known.
class Code {
 public:
  /// `streams`: executes matrix-unit loops as a whole and hot code natively (off in comparison
  /// tests).
  Code(std::span<const std::byte> bytes, Role role, const TileConfig& tile, bool streams,
       CodeCounts counts = {});
  ~Code();
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  /// The first Op of the block at `pc`; for a pc outside the code, one that faults.
  [[nodiscard]] const Op* entry(Path path, std::uint32_t pc) const;
  /// Position of `op`; for an edge's stub, the edge's target.
  [[nodiscard]] Site locate(const Op* op) const;
  /// Activities of the instructions counted in `op`'s Site::before.
  [[nodiscard]] Done done_before(const Op* op) const;

  [[nodiscard]] const Timing& timing() const { return timing_; }
  /// True if instructions may have to wait; then blocks hold their demands.
  [[nodiscard]] bool timed() const { return timed_; }
  [[nodiscard]] PipelineTransitions& transitions() const { return transitions_; }
  /// True if transitions count their uses, and mergers of traces report issues (add_issue).
  [[nodiscard]] bool profiled() const { return profiled_; }
  void each_edge(const std::function<void(const Edge&)>& visit) const;
  /// Adds the profile of one issue on a shared pipeline to issues().
  void add_issue(std::uint32_t pc, const InstructionProfile& what) const;
  [[nodiscard]] Profile issues() const;
  /// The instruction at `pc`, which must be a valid one.
  [[nodiscard]] isa::Instruction instruction(std::uint32_t pc) const;
  /// Finds the block that an edge leads to, and links the edge directly to it.
  const Op* link(const Edge& edge, Path path) const;
  /// Counts a sample of `op`, where a context with `pipeline_state` continues; often sampled code
  /// is translated. Returns the Op to continue with.
  [[nodiscard]] native::Continuation met(const Op* op, const PipelineState* pipeline_state,
                                         const Frame& frame) const;
  /// True if met() may translate.
  [[nodiscard]] bool translates() const { return translator_ != nullptr; }
  [[nodiscard]] const std::atomic<const Op*>* entries(Path path) const {
    return table(path).entries.get();
  }
  [[nodiscard]] std::uint32_t words() const { return static_cast<std::uint32_t>(words_.size()); }

 private:
  struct Table {
    std::unique_ptr<std::atomic<const Op*>[]> entries;  ///< by pc / 4
    std::map<std::uint32_t, const Op*> strays;          ///< by pc, outside the code
  };
  [[nodiscard]] Table& table(Path path) const { return tables_[static_cast<std::size_t>(path)]; }
  const Op* build(Path path, std::uint32_t pc) const;
  [[nodiscard]] const Block& block_of(const Op* op) const;
  [[nodiscard]] const HandlerSet& handlers(Path path) const;
  void replace(const Op* op, const Op* entry) const;

  std::vector<std::uint32_t> words_;
  Timing timing_;
  bool streams_;
  bool counts_;
  bool profiled_;
  bool timed_;
  mutable PipelineTransitions transitions_;
  mutable Table tables_[2];
  mutable Profile issues_;
  mutable std::mutex issues_mutex_;
  mutable std::mutex mutex_;  ///< guards blocks_, strays and the writing of entries
  mutable std::map<const Op*, std::unique_ptr<Block>> blocks_;  ///< by their first Op
  mutable std::unique_ptr<native::Translator> translator_;      ///< null: not translated
  /// By Op: the edges that lead to it, for the translator.
  mutable std::map<const Op*, std::vector<const Edge*>> incoming_;
};

}  // namespace tessera::engine
