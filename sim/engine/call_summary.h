#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/engine/tainted_memory.h"

/// One walk of a worker's call stands for all calls that take the same path: they differ in the
/// addresses that their arguments hold, not in what is compared, counted or indexed with.
namespace tessera::engine {

constexpr std::uint32_t kRegisters = 32;

/// The x registers of a context whose values are known between calls.
struct KnownRegisters {
  std::uint32_t known = 0;  ///< a bit each
  std::array<std::uint32_t, kRegisters> x{};
  auto operator<=>(const KnownRegisters&) const = default;
};

/// A recorded call: which known words it reads, which of them decide, and what it accesses relative
/// to those that do not. Leaves out: values, and what the call takes (its walker knows).
class CallSummary {
 public:
  /// If a call that begins with these registers takes the recorded path: memory becomes as the call
  /// leaves it before TaintedMemory::forget_own(), and the registers are returned. Else memory
  /// stays, but for what is noted of reads, or for stores where a walk would be refused too.
  std::optional<KnownRegisters> apply(const KnownRegisters& before, TaintedMemory& memory,
                                      TaintSets& sets) const;

 private:
  friend class CallRecorder;

  /// Offsets from a value; none if low > high.
  struct Hull {
    std::int64_t low = INT64_MAX, high = INT64_MIN;
    void add(std::int64_t from, std::int64_t to) {
      low = from < low ? from : low;
      high = to > high ? to : high;
    }
    [[nodiscard]] bool empty() const { return low > high; }
  };
  /// A number that the call gets from outside: other registers are this and a constant.
  struct Node {
    enum class Kind : std::uint8_t { zero, input, load, difference };
    Kind kind = Kind::zero;
    bool decides = false;       ///< the path is the recorded one for this value alone
    bool extends_sign = false;  ///< loads: sign-extends
    std::uint8_t bytes = 0;     ///< loads: width
    std::uint8_t widest = 1;    ///< widest access, in bytes: the alignment that the node needs
    std::uint16_t base = 0;     ///< register; node of a load's address; minuend
    std::uint16_t other = 0;    ///< subtrahend
    std::uint32_t offset = 0;   ///< loads: offset of the address
    std::uint32_t value = 0;    ///< in the recorded call
    Hull accessed, stored;      ///< bytes
    Hull compared;              ///< by order, with what comes from the same node or a difference
  };
  /// Ranges that it writes, evenly apart.
  struct Stores {
    std::uint16_t base = 0;
    bool known = false;
    std::uint32_t offset = 0, bytes = 0, count = 1;
    std::uint32_t stride = 0;
    /// Becomes both of them if `next` begins in this range or where it ends.
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

  // Registers, a bit each.
  std::uint32_t known_before_ = 0;
  std::uint32_t read_ = 0;  ///< before it writes them: whether they are known may not differ
  std::uint32_t kept_ = 0;  ///< neither read nor written
  std::vector<Node> nodes_{Node{}};     ///< each behind those that it comes from
  std::vector<std::uint16_t> storing_;  ///< nodes that it stores from
  std::vector<Stores> stores_;
  std::vector<Word> own_;          ///< read back behind its own stores
  std::uint32_t known_after_ = 0;  ///< registers known after the call; excludes kept_
  std::array<Left, kRegisters> left_{};
};

}  // namespace tessera::engine
