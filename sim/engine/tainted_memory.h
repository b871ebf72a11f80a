#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/demand_zero.h"

/// The known bytes of a tile's SRAM in a proof that computes no values.
namespace tessera::engine {

/// The source that a value depends on: nothing but the program (kKnown), results of the run
/// (kUnknown), or contents of buffers that can be looked up (the number of their set).
using Taint = std::uint16_t;
constexpr Taint kKnown = 0;
constexpr Taint kUnknown = 1;

/// Sets of buffers, numbered from behind kUnknown on.
class TaintSets {
 public:
  Taint of(std::uint32_t buffer);
  /// Both together.
  Taint join(Taint a, Taint b);
  /// Its buffers, ascending; none of kKnown and kUnknown.
  [[nodiscard]] std::span<const std::uint32_t> buffers(Taint taint) const;

 private:
  Taint number(std::vector<std::uint32_t> buffers);
  std::vector<std::vector<std::uint32_t>> sets_;
};

/// A tile's bytes, and for each whether it is known. A worker's writes are known to itself until it
/// ends, and to all later workers if it has run alone; the supervisor's writes are known to the
/// supervisor.
class TaintedMemory {
 public:
  enum class Who : std::uint8_t { worker, supervisor };

  explicit TaintedMemory(std::uint32_t size);

  /// These bytes are the same on all tiles that the proof must hold for, from the beginning on.
  void know(std::uint32_t address, std::span<const std::byte> bytes);
  /// A transfer writes these bytes at some time before land(): nothing is known of them until then.
  void receive(std::uint32_t address, std::uint32_t bytes);
  void land(std::uint32_t address, std::uint32_t bytes);
  /// Behind land(): these are the bytes, or they may be looked up as a buffer's contents. Not where
  /// programs write too.
  void bring(std::uint32_t address, std::span<const std::byte> bytes);
  void offer_brought(std::uint32_t address, std::uint32_t bytes, std::uint32_t buffer);
  /// These bytes can be looked up: contents of `buffer` before the run.
  void offer(std::uint32_t address, std::uint32_t bytes, std::uint32_t buffer);
  /// Others rely on these bytes: nobody may write them.
  void keep(std::uint32_t address, std::uint32_t bytes);

  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] std::byte* bytes() { return bytes_; }
  /// Writes zeros over unknown bytes, except kept ones.
  void clear_unknown();
  /// The taint of `count` bytes for `who`, whose actions depend on them.
  Taint read(std::uint32_t address, std::uint32_t count, Who who, TaintSets& sets);
  /// False if it may not write there; bytes() are the caller's to write. `known`: what it writes;
  /// null: nobody knows.
  bool write(std::uint32_t address, std::uint32_t count, Who who, const void* known);
  /// True if known bytes that somebody has read were written since the last call: what was decided
  /// by them may be decided otherwise the next time.
  [[nodiscard]] bool take_overwritten() { return std::exchange(overwritten_, false); }
  /// The worker ends, and its writes are unknown.
  void forget_own();
  /// Puts back the bytes that were known to all when a worker read them, and that workers have
  /// written since forget_replaced(): whoever executes a call behind its walk finds what it reads.
  void restore_replaced();
  void forget_replaced() { replaced_.clear(); }
  /// The worker ends, and has written what it knew to bytes(). True if something of that, or of
  /// what is derived, lies outside of what it has for itself, from `begin` to `end`.
  bool leave_own(std::uint32_t begin, std::uint32_t end);
  /// All workers have ended; `alone`: one of them alone has run.
  void join(bool alone);

 private:
  struct Offer {
    std::uint32_t begin, end, buffer;
    Taint taint;  ///< kKnown: not asked for yet
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
  std::vector<std::pair<std::uint32_t, std::uint32_t>> left_;  ///< by workers that have ended
  std::vector<std::pair<std::uint32_t, std::byte>> replaced_;  ///< address, what stood there
  bool leaves_ = false;  ///< the worker that runs, something that others may read
  bool overwritten_ = false;
};

}  // namespace tessera::engine
