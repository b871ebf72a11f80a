#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "sim/engine/call_summary.h"
#include "sim/engine/op.h"
#include "sim/isa/mnemonic.h"

namespace tessera::engine {

/// Records one walk of a worker's call: TaintWalk reports each instruction before its execution,
/// and its accesses. Makes no summary for calls whose path depends on more numbers than a summary
/// holds (index lists), or that read parts of words they have written.
class CallRecorder {
 public:
  /// `x`: the walk's registers, which outlive this; `known`: bit mask of known ones.
  CallRecorder(const std::uint32_t* x, std::uint32_t known);

  /// Begins an instruction that reads and writes these registers (bit masks).
  void begin(std::uint32_t reads, std::uint32_t writes) {
    summary_.read_ |= reads & ~written_;
    written_ |= writes;
  }
  /// Notes that the path depends on these registers (bit mask).
  void decide(std::uint32_t registers);
  void compare(isa::Mnemonic mnemonic, std::uint32_t first, std::uint32_t second);
  /// Records an instruction on known integers; `reads`: its operands (bit mask).
  void arithmetic(isa::Mnemonic mnemonic, const Op& op, std::uint32_t reads);
  /// Records that a register gets a constant (equal in all calls) or an unknown number.
  void forget(std::uint32_t reg) { node_of_[reg] = 0; }

  /// Begins the accesses of an instruction with base registers `bases`; it also reads `others`.
  /// `moves`: it first adds `others` to each base.
  void begin_access(std::span<const std::uint8_t> bases, std::uint32_t others, bool moves = false);
  /// Records a load of unknown bytes.
  void load(std::uint32_t address, std::uint32_t bytes);
  /// Records a load of a known number; loaded() assigns it to a register.
  void load_known(std::uint32_t address, std::uint32_t bytes, bool extends_sign,
                  std::uint32_t value, bool decides);
  void loaded(std::uint32_t reg);
  /// Records a store; `reg`: the source register if its value is known.
  void store(std::uint32_t address, std::uint32_t bytes, std::optional<std::uint32_t> reg);

  /// Records that no summary can represent the call.
  void leave_out() { left_out_ = true; }
  /// Ends the walk with these known registers. Returns the summary; nothing if left out.
  std::optional<CallSummary> finish(std::uint32_t known);

 private:
  using Node = CallSummary::Node;
  /// A word that the call has written.
  struct WrittenWord {
    bool whole = false;
    std::uint16_t node = 0;
  };

  std::uint16_t add(const Node& node);
  std::uint16_t node_of(std::uint32_t reg);
  std::uint16_t sum(std::uint32_t first, std::uint32_t second);
  std::uint16_t base_of(std::uint32_t address);
  void fix_distance(std::uint16_t a, std::uint16_t b);
  void decide_node(std::uint16_t node) { summary_.nodes_[node].decides = node != 0; }
  void add_store(const CallSummary::Stores& store);
  void join_stores();
  void note(std::uint16_t base, std::uint32_t address, std::uint32_t bytes, bool stores);

  const std::uint32_t* x_;
  CallSummary summary_;
  std::uint32_t written_ = 0;  ///< registers (bit mask)
  std::array<std::uint16_t, kSink + 1> node_of_{};
  std::span<const std::uint8_t> bases_;
  std::vector<std::uint32_t> begins_;  ///< values of bases_ before the instruction
  std::uint16_t loaded_ = 0;
  std::vector<CallSummary::Stores> stores_;   ///< adjacent ones merged
  std::map<std::uint32_t, WrittenWord> own_;  ///< by address of the word
  /// Nodes of known numbers read, by base and offset, and by width and sign.
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint16_t> read_;
  std::set<std::pair<std::uint16_t, std::uint16_t>> fixed_;  ///< pairs at fixed distance
  bool left_out_ = false;
};

}  // namespace tessera::engine
