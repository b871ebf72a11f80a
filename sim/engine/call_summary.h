#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/engine/tainted_memory.h"

/// One walk of a worker's call represents all calls that take the same path: they differ in the
/// addresses in their arguments, not in values used to compare, count or index.
namespace tessera::engine {

constexpr std::uint32_t kRegisters = 32;

/// The x registers of a context whose values are known between calls.
struct KnownRegisters {
  std::uint32_t known = 0;  ///< bit mask
  std::array<std::uint32_t, kRegisters> x{};
  auto operator<=>(const KnownRegisters&) const = default;
};

/// A recorded call: the known words it reads, which of them affect the path, and its accesses
/// relative to the others. Leaves out: values, and the call's time (kept by the walker).
class CallSummary {
 public:
  /// If a call that begins with `before` takes the recorded path: updates memory to its state after
  /// the call (before TaintedMemory::forget_own()) and returns the registers. Otherwise returns
  /// nothing; memory is unchanged except for noted reads, and for stores where a walk would be
  /// refused too.
  std::optional<KnownRegisters> apply(const KnownRegisters& before, TaintedMemory& memory,
                                      TaintSets& sets) const;

 private:
  friend class CallRecorder;

  /// A range of offsets from a value; empty if low > high.
  struct Hull {
    std::int64_t low = INT64_MAX, high = INT64_MIN;
    void add(std::int64_t from, std::int64_t to) {
      low = from < low ? from : low;
      high = to > high ? to : high;
    }
    [[nodiscard]] bool empty() const { return low > high; }
  };
  /// A number that the call gets from outside; other registers are such a number plus a constant.
  struct Node {
    enum class Kind : std::uint8_t { zero, input, load, difference };
    Kind kind = Kind::zero;
    bool decides = false;       ///< the recorded path requires exactly this value
    bool extends_sign = false;  ///< loads: sign-extends
    std::uint8_t bytes = 0;     ///< loads: width
    std::uint8_t widest = 1;    ///< widest access, in bytes: the alignment that the node needs
    std::uint16_t base = 0;     ///< register; node of a load's address; minuend
    std::uint16_t other = 0;    ///< subtrahend
    std::uint32_t offset = 0;   ///< loads: offset of the address
    std::uint32_t value = 0;    ///< in the recorded call
    Hull accessed, stored;      ///< bytes
    Hull compared;              ///< in order comparisons with the same node or a difference
  };
  /// Evenly spaced ranges that the call writes.
  struct Stores {
    std::uint16_t base = 0;
    bool known = false;
    std::uint32_t offset = 0, bytes = 0, count = 1;
    std::uint32_t stride = 0;
    /// Extends this range by `next` if that begins in it or at its end; true if so.
    bool takes(const Stores& next) {
      const std::uint32_t from = next.offset - offset;
      if (base != next.base || known != next.known || from > bytes) return false;
      bytes = std::max(bytes, from + next.bytes);
      return true;
    }
  };
  struct Word {
    std::uint16_t base = 0;
    std::uint8_t bytes = 0;
    std::uint32_t offset = 0;
  };
  struct Left {
    std::uint16_t node = 0;
    std::uint32_t offset = 0;
  };
  static constexpr std::size_t kMostNodes = 4096;
  using Values = std::vector<std::uint32_t>;  ///< by node

  [[nodiscard]] bool evaluate(const KnownRegisters& before, TaintedMemory& memory, TaintSets& sets,
                              Values& values) const;
  [[nodiscard]] bool load(const Node& node, std::uint32_t address, TaintedMemory& memory,
                          TaintSets& sets, std::uint32_t& value) const;
  [[nodiscard]] bool reads_what_it_stores(const Values& values) const;
  [[nodiscard]] bool store(const Stores& stores, std::uint32_t base, TaintedMemory& memory) const;

  // Bit masks of registers:
  std::uint32_t known_before_ = 0;
  std::uint32_t read_ = 0;              ///< read before written: known-ness must match
  std::uint32_t kept_ = 0;              ///< neither read nor written
  std::vector<Node> nodes_{Node{}};     ///< each after the nodes it depends on
  std::vector<std::uint16_t> storing_;  ///< base nodes of stores
  std::vector<Stores> stores_;
  std::vector<Word> own_;          ///< words read back after its own stores
  std::uint32_t known_after_ = 0;  ///< registers known after the call; excludes kept_
  std::array<Left, kRegisters> left_{};
};

}  // namespace tessera::engine
