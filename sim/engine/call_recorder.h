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

/// Records one walk of a worker's call: a TaintWalk tells it of each instruction before it
/// executes, and of its accesses. Leaves out, and then there is no summary: calls that decide by
/// more numbers than a summary holds (lists of indices), or read parts of words they have written.
class CallRecorder {
 public:
  /// `x` holds the walk's registers, and outlives it; the mask is of those that are known.
  CallRecorder(const std::uint32_t* x, std::uint32_t known);

  /// An instruction that reads and writes these registers, a bit each, comes next.
  void begin(std::uint32_t reads, std::uint32_t writes) {
    summary_.read_ |= reads & ~written_;
    written_ |= writes;
  }
  /// The path depends on these registers, a bit each.
  void decide(std::uint32_t registers);
  void compare(isa::Mnemonic mnemonic, std::uint32_t first, std::uint32_t second);
  /// An instruction on known integers; `reads`: its operands, a bit each.
  void arithmetic(isa::Mnemonic mnemonic, const Op& op, std::uint32_t reads);
  /// A register gets a number that is the same in all calls, or one that is not known.
  void forget(std::uint32_t reg) { node_of_[reg] = 0; }

  /// An instruction that addresses by these registers, and reads `others`, begins to access;
  /// `moves`: it adds them to each of the former before.
  void begin_access(std::span<const std::uint8_t> bases, std::uint32_t others, bool moves = false);
  /// It reads bytes that are not known.
  void load(std::uint32_t address, std::uint32_t bytes);
  /// It reads a known number; loaded() takes it into a register.
  void load_known(std::uint32_t address, std::uint32_t bytes, bool extends_sign,
                  std::uint32_t value, bool decides);
  void loaded(std::uint32_t reg);
  /// The call stores; `reg` names the source register if its value is known.
  void store(std::uint32_t address, std::uint32_t bytes, std::optional<std::uint32_t> reg);

  /// It does what no summary holds.
  void leave_out() { left_out_ = true; }
  /// The walk has ended with these known registers. Nothing if it is left out.
  std::optional<CallSummary> finish(std::uint32_t known);

 private:
  using Node = CallSummary::Node;
  /// A word that the call has written.
  struct Own {
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
  std::uint32_t written_ = 0;  ///< registers, a bit each
  std::array<std::uint16_t, kSink + 1> node_of_{};
  std::span<const std::uint8_t> bases_;
  std::vector<std::uint32_t> begins_;  ///< bases_' values before the instruction moves them
  std::uint16_t loaded_ = 0;
  std::vector<CallSummary::Stores> stores_;  ///< near ones joined
  std::map<std::uint32_t, Own> own_;         ///< by address of the word
  /// Nodes of known numbers that it has read, by base and offset, and by width and sign.
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint16_t> read_;
  std::set<std::pair<std::uint16_t, std::uint16_t>> fixed_;  ///< nodes whose distance decides
  bool left_out_ = false;
};

}  // namespace tessera::engine
