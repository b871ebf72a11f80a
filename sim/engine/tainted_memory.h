#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/demand_zero.h"

/// The known bytes of a tile's SRAM in a proof that computes no values.
namespace tessera::engine {

/// The source that a value depends on: the program only (kKnown), results of the run (kUnknown), or
/// contents of buffers that can be looked up (the number of their set).
using Taint = std::uint16_t;
constexpr Taint kKnown = 0;
constexpr Taint kUnknown = 1;

/// Sets of buffers, numbered from kUnknown + 1.
class TaintSets {
 public:
  Taint of(std::uint32_t buffer);
  /// The taint of a value that depends on both.
  Taint join(Taint a, Taint b);
  /// Its buffers, ascending; empty for kKnown and kUnknown.
  [[nodiscard]] std::span<const std::uint32_t> buffers(Taint taint) const;

 private:
  Taint number(std::vector<std::uint32_t> buffers);
  std::vector<std::vector<std::uint32_t>> sets_;
};

/// A tile's bytes, each known or unknown. A worker's writes are known to itself until it ends, and
/// to all later workers if it ran alone; the supervisor's writes are known to the supervisor.
class TaintedMemory {
 public:
  enum class Who : std::uint8_t { worker, supervisor };

  explicit TaintedMemory(std::uint32_t size);

  /// Marks bytes as known from the start: equal on all tiles that the proof covers.
  void know(std::uint32_t address, std::span<const std::byte> bytes);
  /// A transfer writes these bytes at some time before land(): they are unknown until then.
  void receive(std::uint32_t address, std::uint32_t bytes);
  void land(std::uint32_t address, std::uint32_t bytes);
  /// After land(): sets the delivered bytes, or offers them for lookup as a buffer's contents. Has
  /// no effect on bytes that programs also write.
  void bring(std::uint32_t address, std::span<const std::byte> bytes);
  void offer_brought(std::uint32_t address, std::uint32_t bytes, std::uint32_t buffer);
  /// Offers these bytes for lookup: initial contents of `buffer`.
  void offer(std::uint32_t address, std::uint32_t bytes, std::uint32_t buffer);
  /// Forbids writes to these bytes, on which others rely.
  void keep(std::uint32_t address, std::uint32_t bytes);

  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] std::byte* bytes() { return bytes_; }
  /// Writes zeros over unknown bytes, except kept ones.
  void clear_unknown();
  /// The taint of `count` bytes for `who`, whose actions depend on them.
  Taint read(std::uint32_t address, std::uint32_t count, Who who, TaintSets& sets);
  /// Marks bytes as written; the caller writes bytes(). False if `who` may not write there.
  /// `known`: the written bytes; null: unknown.
  bool write(std::uint32_t address, std::uint32_t count, Who who, const void* known);
  /// True if known bytes that were read have been overwritten since the last call: paths that
  /// depended on them may change.
  [[nodiscard]] bool take_overwritten() { return std::exchange(overwritten_, false); }
  /// Ends the worker; its writes become unknown.
  void forget_own();
  /// Restores bytes that were known to all when workers read them and that workers have overwritten
  /// since forget_replaced(), so that a call can be executed after its walk.
  void restore_replaced();
  void forget_replaced() { replaced_.clear(); }
  /// Ends a worker that wrote known bytes to bytes(). True if any known or derived bytes lie
  /// outside its private range [begin, end).
  bool leave_own(std::uint32_t begin, std::uint32_t end);
  /// Notes that all workers have ended; `alone`: only one of them ran.
  void join(bool alone);

 private:
  struct Offer {
    std::uint32_t begin, end, buffer;
    Taint taint;  ///< kKnown: not yet looked up
  };

  void withdraw(std::uint32_t begin, std::uint32_t end);
  Taint taint_of_offer(std::uint32_t address, TaintSets& sets);
  [[nodiscard]] bool holds(std::uint32_t address, std::uint32_t count, const void* bytes) const;

  std::uint32_t size_;
  DemandZero zeros_;  ///< holds both:
  std::byte* bytes_;
  std::uint8_t* states_;
  std::vector<Offer> offers_;
  std::size_t last_ = 0;                                       ///< index of the last lookup
  std::vector<std::pair<std::uint32_t, std::uint32_t>> own_;   ///< address, bytes
  std::vector<std::pair<std::uint32_t, std::uint32_t>> left_;  ///< written by ended workers
  std::vector<std::pair<std::uint32_t, std::byte>> replaced_;  ///< address, former byte
  bool leaves_ = false;  ///< the running worker leaves something others may read
  bool overwritten_ = false;
};

}  // namespace tessera::engine
