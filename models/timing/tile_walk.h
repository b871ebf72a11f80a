#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "models/tile/call_script.h"
#include "models/tile/tile_program.h"
#include "models/tile/worker_contexts.h"
#include "sim/engine/session.h"
#include "sim/engine/taint_walk.h"
#include "sim/machine/machine_config.h"
#include "sim/program/transfer_list.h"

namespace tessera {

/// A walked call that represents equal others, with their time and activity.
struct WalkedCall {
  engine::CallSummary summary;
  CallOutcome outcome;
};
constexpr std::size_t kMostWalkedCalls = 512;  ///< by codelet and worker
/// Walked calls by codelet, worker and block of code.
using WalkedCalls =
    std::map<std::array<std::uint32_t, 3>, std::vector<std::shared_ptr<WalkedCall>>>;

/// A code image decoded for walks and for the engine, in both roles.
struct WalkedCode {
  WalkedCode(std::shared_ptr<const program::CodeImage> code, const TileConfig& tile)
      : supervisor(code->bytes, engine::Role::supervisor),
        worker(code->bytes, engine::Role::worker),
        program(std::move(code), tile, {.activity = true, .profile = false}) {}
  engine::WalkCode supervisor, worker;
  TileProgram program;
};

/// Layout of the bytes at an end of a stream.
struct StreamEnd {
  std::uint32_t address;
  std::uint32_t unit;
  std::array<program::StreamExtent, program::kStreamExtents> extents;

  std::strong_ordering operator<=>(const StreamEnd& other) const {
    return numbers() <=> other.numbers();
  }
  bool operator==(const StreamEnd& other) const { return numbers() == other.numbers(); }

 private:
  [[nodiscard]] std::vector<std::uint32_t> numbers() const {
    std::vector<std::uint32_t> all{address, unit};
    for (const program::StreamExtent& extent : extents)
      all.insert(all.end(), {extent.count, extent.pitch, extent.before, extent.after});
    return all;
  }
};
using SharedBytes = std::shared_ptr<const std::vector<std::byte>>;  ///< in the stream's order
struct Delivery {
  StreamEnd to;
  SharedBytes bytes;
  auto operator<=>(const Delivery&) const = default;
};
/// Deliveries of an exchange, by start.
using Deliveries = std::vector<std::vector<Delivery>>;

/// A tile's contents before the run that its control flow may depend on.
struct WalkedTile {
  struct Range {
    std::uint32_t address, bytes;
    auto operator<=>(const Range&) const = default;
  };
  struct Contents {
    std::uint32_t address;
    std::vector<std::byte> bytes;
    auto operator<=>(const Contents&) const = default;
  };
  std::vector<Contents> known;  ///< arguments, and looked-up buffers
  std::vector<Range> lookable;  ///< initialised buffers, by number
  std::vector<Range> kept;      ///< lists and their table
  /// A range that exchange number `exchange` writes.
  struct Received {
    std::uint32_t exchange;
    Range range;  ///< over all turns
    /// A stream's turns; its bytes may be looked up. Null: the whole range is written.
    const program::Turns* turns = nullptr;
    std::array<std::uint32_t, 3> steps = {};  ///< by digit of a turn
    std::uint32_t bytes = 0;                  ///< per turn
    auto operator<=>(const Received&) const = default;
  };
  /// The known bytes that an exchange delivers.
  struct Brought {
    std::uint32_t exchange;
    Deliveries starts;  ///< empty: unknown
    auto operator<=>(const Brought&) const = default;
  };
  std::vector<Received> received;  ///< by exchange
  std::vector<Brought> brought;    ///< by looked-up exchange
  /// The lists in table order, with the first tile's addresses.
  struct List {
    std::uint32_t exchange, address;
  };
  std::vector<List> lists;
  Contents table;  ///< of the first tile; other tiles' addresses differ
};

/// Assigns numbers from 0 to distinct values.
template <class Value>
class Numbers {
 public:
  std::uint32_t of(const Value& value) {
    const auto [entry, is_new] =
        numbers_.try_emplace(value, static_cast<std::uint32_t>(values_.size()));
    if (is_new) values_.push_back(&entry->first);
    return entry->second;
  }
  [[nodiscard]] const Value& operator[](std::uint32_t number) const { return *values_[number]; }
  [[nodiscard]] std::span<const Value* const> values() const { return values_; }

 private:
  struct Hash {
    std::size_t operator()(const Value& value) const {
      if constexpr (std::has_unique_object_representations_v<Value>)
        return of_bytes(std::span(&value, 1));
      else
        return of_bytes(std::span(value));
    }
    template <class Element, std::size_t kExtent>
    static std::size_t of_bytes(std::span<Element, kExtent> all) {
      return std::hash<std::string_view>()(
          {reinterpret_cast<const char*>(all.data()), all.size_bytes()});
    }
  };
  std::unordered_map<Value, std::uint32_t, Hash> numbers_;
  std::vector<const Value*> values_;
};

/// Walks one tile's supervisor from its entry to its end with all worker calls, and measures them:
/// once for each combination of code, arguments and known registers, on memory that holds only
/// known bytes.
class TileWalk {
 public:
  /// `known`: calls walked on tiles with the same codelets. The other arguments outlive this.
  TileWalk(const WalkedCode& code, const TileConfig& tile, const WalkedTile& holds,
           WalkedCalls known);

  /// Walks the code. Returns the reason if some unknown value affects time or control flow, else
  /// nothing.
  std::optional<std::string> run();
  /// Makes run() record the known bytes that the tile sends at each start of `exchange`; `ends`
  /// gives its streams' source ends.
  using EndsAt = std::function<std::vector<StreamEnd>(std::uint64_t start)>;
  void record(std::uint32_t exchange, EndsAt ends) {
    recorded_ = exchange;
    ends_at_ = std::move(ends);
  }
  /// The recorded bytes, by start and end; stops at the first start with unknown bytes.
  [[nodiscard]] const std::vector<std::vector<std::vector<std::byte>>>& sent() const {
    return sent_;
  }
  /// Buffers (by number) whose contents would have let run() continue; numbers after all buffers
  /// are exchanges.
  [[nodiscard]] const std::vector<std::uint32_t>& wanted() const { return wanted_; }
  /// Number of walked calls; the others equal one of them.
  [[nodiscard]] std::uint64_t followed() const { return followed_; }
  /// After run(): time and activity of all calls.
  [[nodiscard]] CallScript take_script() { return std::move(script_); }
  /// After run(): walked calls, reusable on tiles of other kinds.
  [[nodiscard]] WalkedCalls take_calls() { return std::move(summaries_); }

 private:
  using Registers = engine::KnownRegisters;
  struct Call {
    std::uint32_t pc, argument, worker, block;
    std::uint32_t registers;  ///< number in numbered_
    std::uint32_t flights;    ///< number of the set of exchanges in flight
    bool operator==(const Call&) const = default;
  };
  struct HashOfCall {
    std::size_t operator()(const Call& call) const;
  };
  struct Followed {
    std::uint32_t outcome;
    std::uint32_t registers;  ///< after the call
  };

  std::optional<std::string> serve(const engine::Exit& exit);
  std::optional<std::string> start(const engine::Exit& exit);
  void wait(const engine::Exit& exit);
  std::optional<std::string> launch(const engine::Exit& exit);
  std::optional<std::string> call(const Call& call);
  using Summaries = WalkedCalls::mapped_type;
  std::optional<Followed> summarised(const Call& call, Summaries& summaries);
  [[nodiscard]] Registers begun(const Call& call) const;
  std::optional<std::string> follow(const Call& call, Registers& registers,
                                    std::optional<engine::CallSummary>& summary);
  std::optional<std::string> measure(const Call& call, const Registers& before,
                                     CallOutcome& outcome);
  std::optional<std::string> measure(const Call& call, const Registers& before,
                                     std::uint32_t unknown, CallOutcome& outcome);
  void note_launch();
  [[nodiscard]] LaunchOutcome outcome_of(const std::vector<std::uint32_t>& calls) const;
  std::optional<std::string> why(const engine::TaintWalk& walk, const std::string& who);
  std::uint32_t number_of_flights();
  template <class Use>
  void for_each_received(std::uint32_t exchange, std::uint64_t start, const Use& use) const;

  const WalkedCode& code_;
  const WalkedTile& holds_;
  const program::CodeImage& image_;
  const TileConfig& tile_;
  engine::TaintSets sets_;
  engine::TaintedMemory memory_;
  engine::Session session_;
  packed::IntegerUnit integers_;  ///< for walks, with unknown contents
  std::optional<WorkerContexts> workers_;
  std::vector<std::uint32_t> registers_;  ///< by worker: number in numbered_
  Numbers<Registers> numbered_;
  std::unordered_map<Call, Followed, HashOfCall> calls_;
  WalkedCalls summaries_;
  std::unordered_map<const WalkedCall*, Followed> met_;  ///< by walked call: its last use
  Numbers<CallOutcome> outcomes_;
  Numbers<std::vector<std::uint32_t>> launches_;  ///< outcomes of all workers
  CallScript script_;
  void note_sent(std::uint64_t start);
  void bring(std::uint32_t exchange, std::uint64_t start);

  std::map<std::uint32_t, std::uint64_t> started_;  ///< number of starts, by exchange
  std::optional<std::uint32_t> recorded_;
  EndsAt ends_at_;
  std::vector<std::vector<std::vector<std::byte>>> sent_;
  std::set<std::uint32_t> ran_;            ///< workers since the last join
  std::vector<WalkedTile::List> flights_;  ///< started, not yet waited for, by exchange
  Numbers<std::vector<std::uint32_t>> numbered_flights_;
  std::uint64_t followed_ = 0;
  std::vector<std::uint32_t> wanted_;
  bool ended_ = false;
};

}  // namespace tessera
