#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/engine/block.h"
#include "sim/engine/handlers.h"
#include "sim/engine/timing.h"
#include "sim/isa/mnemonic.h"

namespace tessera::engine {

/// Decodes one block: chooses a handler for each instruction and sums costs.
class BlockBuilder {
 public:
  /// `streams`: matrix-unit loops are executed as a whole.
  BlockBuilder(std::span<const std::uint32_t> words, const Timing& timing,
               const HandlerSet& handlers, bool streams, bool timed);

  /// The block at `pc`; for a pc outside the code, a block that faults.
  [[nodiscard]] std::unique_ptr<Block> build(std::uint32_t pc);

 private:
  bool append(std::uint32_t pc);  ///< false: the block ends here
  bool append_branch(const isa::Instruction& instruction, std::uint32_t pc);
  bool append_jump(const isa::Instruction& instruction, std::uint32_t pc);
  bool append_stop(const isa::Instruction& instruction, std::uint32_t pc);
  void append_straight(const isa::Instruction& instruction, std::uint32_t pc);
  bool append_loop(const isa::Instruction& instruction, std::uint32_t pc);
  void recognise_stream(std::uint32_t begin, std::uint32_t end, std::size_t first,
                        const Edge& again);
  bool append_fault(Fault fault, std::uint32_t pc);
  void append_fall_through(std::uint32_t pc);

  [[nodiscard]] std::optional<isa::Instruction> fetch(std::uint32_t pc) const;
  [[nodiscard]] bool may_cut(std::uint32_t pc) const;
  [[nodiscard]] bool is_loop_body(std::uint32_t begin, std::uint32_t end) const;
  [[nodiscard]] std::optional<Fault> forbidden(const isa::Instruction& instruction) const;
  [[nodiscard]] Handler handler_of(const isa::Instruction& instruction) const;

  Op& push(Handler handler, std::uint32_t pc);
  Edge& leave(Op& op, std::uint32_t pc);
  void add(const isa::Instruction& instruction, std::uint32_t pc);
  void restart();
  void close(Edge& edge);
  void close_taken(Edge& edge);

  std::span<const std::uint32_t> words_;
  const Timing* timing_;
  const HandlerSet* handlers_;
  bool streams_;
  bool timed_;
  CostCounter cost_;
  std::size_t first_ = 0;  ///< index of the first demand since the last restart()
  std::optional<isa::Instruction> previous_;
  std::unique_ptr<Block> block_;
};

}  // namespace tessera::engine
