#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sim/plan/calls.h"
#include "sim/program/program.h"

/// A kernel's program, stated once: arrays over tiles, and for each step the calls and pulls of a
/// tile. lower.h evaluates it for all tiles to make the program; pricing.h evaluates it for a few
/// representative tiles to price plans.
namespace tessera::plan {

using program::BufferId;
using Tile = std::uint32_t;

/// An array over tiles. Its handle is a BufferId that denotes the current tile's part; a Place in
/// it is a place in that part.
struct Array {
  std::string_view name;                     ///< for the memory table; a literal
  std::function<std::uint64_t(Tile)> bytes;  ///< size of a tile's part; 0: none
  bool keep = false;                         ///< read by the host after the run
  /// Writes a part's contents before the run; absent: undefined. Called from any host thread.
  std::function<void(Tile, std::span<std::byte>)> contents = {};
  std::uint32_t align = 8;
  program::Category category = program::Category::tensors;
  /// Instead of `contents`: writes them before run number `run`.
  std::function<void(Tile, std::span<std::byte>, std::uint32_t run)> inputs = {};
  /// A part's expected contents at a moment of the run (Description::expect), if data determine the
  /// time of calls: samples hold them. A step's calls then depend on no other contents.
  std::function<void(Tile, std::span<std::byte>, std::uint32_t moment)> expected = {};
  /// No call writes it. On a machine of one tile calls read such an array in place, at the source
  /// of its pull (aliases.h).
  bool constant = false;
  Tile tiles = ~Tile{0};  ///< 0 to this - 1 may have a part; the others have none

  [[nodiscard]] bool initialised() const { return contents || inputs; }
};

/// Contents of an array: zeros.
inline void zeros(Tile /*tile*/, std::span<std::byte> into) {
  std::fill(into.begin(), into.end(), std::byte{});
}

/// `bytes` at `source` on tile `from` are copied to `into` on the current tile. Tiles that pull the
/// same bytes of a tile in one step share a multicast.
struct Pull {
  Place into;
  Tile from;
  Place source;
  std::uint32_t bytes;
};
using Pulls = std::vector<Pull>;
using HostPieces = std::vector<program::HostPiece>;  ///< places: of arrays on the current tile

/// A buffer in external memory: the chip's, or a part of each tile's own.
struct OuterArray {
  std::string_view name;  ///< a literal
  std::uint64_t bytes;
  bool keep = false;  ///< read by the host after the run
  /// Writes the contents from byte `offset` on before the run; absent: zero.
  std::function<void(std::uint64_t offset, std::span<std::byte>)> contents = {};
  /// Instead of `bytes`, if each tile has its own memory: bytes of a tile's part; 0: none.
  std::function<std::uint64_t(Tile)> part_bytes = {};
  /// Instead of `contents`: of a tile's part.
  std::function<void(Tile, std::uint64_t offset, std::span<std::byte>)> part_contents = {};
};
using program::OuterId;
using program::OuterPlace;  ///< in a call: in the current tile's part

/// A transfer of the current tile between its own place and external memory, in one turn: `rows`
/// rows of `row_bytes`, `pitch` bytes apart in external memory. `steps` bytes are added to `offset`
/// per digit of the turn.
struct Load {
  Place place;
  OuterId outside;
  std::uint64_t offset = 0;
  std::uint32_t row_bytes = 0;
  std::uint32_t rows = 1;
  std::uint64_t pitch = 0;
  std::uint64_t steps[3] = {0, 0, 0};
};
using Loads = std::vector<Load>;

struct Step;
using Sequence = std::vector<Step>;

/// Tiles 0 to `tiles` - 1 take part.
struct Compute {
  std::string name;
  Tile tiles;
  std::function<void(Tile, Calls&)> calls;
  bool syncs = false;  ///< as in program::ComputeSet, like `stage`
  std::string stage = {};
};
struct Exchange {
  std::string name;
  Tile tiles;
  std::function<void(Tile, Pulls&)> pulls;
  /// Bytes that a tile sends, for estimates; absent: its whole part of each pulled array, capped by
  /// what a tile receives of it.
  std::function<std::uint64_t(Tile)> sends = {};
};
struct Host {
  std::string name;
  program::HostTransfer::Direction direction;
  Tile tiles;
  std::function<void(Tile, HostPieces&)> pieces;
};
struct Repeat {
  std::uint32_t count;
  Sequence body;
};
/// As program::While; every tile branches on the word at `decision`.
struct While {
  std::string name;
  std::uint64_t turns;  ///< expected iterations of the body in a whole run, for the predicted time
  Sequence test, body;
  Place decision;
};
/// Work on operands in external memory, in rounds. Each round moves `loads` into `loaded` and
/// executes `first` (in the first round of a pass) or `again`; after `rounds` rounds `finish` ends
/// the pass, and `stores` move to external memory. With `overlap` a round's loads run during the
/// previous round, into a second set of the loaded arrays, and a pass's stores during the next
/// pass.
struct Rounds {
  std::string name;
  std::uint32_t passes = 1;
  std::uint32_t rounds = 1;  ///< per pass; with overlap and several passes 1 or an even number
  Tile tiles = 0;            ///< 0 to this - 1 take part
  bool overlap = false;
  std::vector<BufferId> loaded;
  /// The loads of round r of pass p, turn p * rounds + r; its digits count to `radices`.
  std::function<void(Tile, Loads&)> loads;
  std::function<void(Tile, HostPieces&)> feeds = {};  ///< instead: pieces from the host in a turn
  std::uint32_t radices[2] = {1, 1};
  /// True: all rounds of the next pass use the stored data and wait for the store; else only
  /// `finish`.
  bool in_place = false;
  /// The stores of pass p, turn p; absent: nothing is stored.
  std::function<void(Tile, Loads&)> stores;
  std::uint32_t pass_radices[2] = {1, 1};

  Sequence first, again, finish;
  std::vector<BufferId> seconds;  ///< second set of the loaded arrays, with overlap

  [[nodiscard]] bool stores_any() const { return bool(stores); }
  [[nodiscard]] bool fed() const { return bool(feeds); }
};
/// One transfer of rounds: its start, its wait or both.
struct Transfer {
  enum class What : std::uint8_t { load, load_second, store };
  const Rounds* rounds;
  What what;
  bool starts = true, waits = true;
};
/// Steps of rounds; `on_seconds`: on the second set of the loaded arrays.
struct Round {
  const Rounds* rounds;
  const Sequence* steps;
  bool on_seconds = false;
};

struct Step {
  std::variant<Compute, Exchange, Host, Repeat, While, Rounds, Transfer, Round> action;
  bool measured = true;
};

/// The steps of `rounds`, in a tile's order (rounds.cpp); they refer to `rounds`.
Sequence unrolled(const Rounds& rounds);
/// True if tiles wait for a transfer directly before `finish`; otherwise a barrier precedes it.
bool finishes_behind_wait(const Rounds& rounds);
/// True if the first of these steps lies in a loop.
bool begin_in_loop(const Rounds& rounds);
/// The turns of such a transfer's starts; rounds in a loop start from turn 0 each time.
program::Turns turns_of(const Rounds& rounds, Transfer::What what);

/// A tensor stored in an array, on tiles or in external parts: the numbers in each tile's part.
struct TensorOver {
  program::Tensor tensor;  ///< without parts and runs
  std::variant<BufferId, OuterId> array;
  std::function<void(Tile, program::Runs&)> runs;
  std::function<std::uint64_t(Tile)> bytes = {};  ///< size of the part; absent: the array's
};

/// `count` consecutive groups of `tiles` tiles, which all do the same.
struct Copies {
  Tile tiles;
  std::uint32_t count = 1;

  /// Extends one group's array or step to all groups (copies.cpp).
  [[nodiscard]] Array spread(Array array) const;
  [[nodiscard]] Compute spread(Compute compute) const;
  [[nodiscard]] Exchange spread(Exchange exchange) const;
  [[nodiscard]] Host spread(Host host) const;
};

class Description {
 public:
  explicit Description(Tile tiles)
      : tiles_(tiles), copies_{tiles}, codelets_(std::make_shared<program::Program>(1)) {}

  BufferId array(Array array) {
    if (array.tiles < tiles_)
      array.bytes = [tiles = array.tiles, bytes = std::move(array.bytes)](Tile tile) {
        return tile < tiles ? bytes(tile) : 0;
      };
    arrays_.push_back(copies_.spread(std::move(array)));
    return BufferId(static_cast<std::uint32_t>(arrays_.size() - 1));
  }
  void compute(std::string name, Tile tiles, std::function<void(Tile, Calls&)> calls) {
    add(copies_.spread(Compute{std::move(name), tiles, std::move(calls), false, stage_}));
  }
  /// A barrier of all tiles: later steps may read other tiles' stores in external memory.
  void barrier(std::string name) { add(Compute{std::move(name), 0, {}, true}); }
  void exchange(std::string name, Tile tiles, std::function<void(Tile, Pulls&)> pulls,
                std::function<std::uint64_t(Tile)> sends = {}) {
    add(copies_.spread(Exchange{std::move(name), tiles, std::move(pulls), std::move(sends)}));
  }
  void host(std::string name, program::HostTransfer::Direction direction, Tile tiles,
            std::function<void(Tile, HostPieces&)> pieces) {
    add(copies_.spread(Host{std::move(name), direction, tiles, std::move(pieces)}));
  }
  /// `body` adds the steps of the loop.
  template <class Body>
  void repeat(std::uint32_t count, const Body& body) {
    add(Repeat{count, within(body)});
  }
  /// `times` iterations of `body`, before each of which the host fills `arrays` as `fed` describes.
  /// With `ahead` it does so during the previous iteration, into a second set of these arrays.
  template <class Body>
  void fed_turns(std::uint32_t times, Host fed, std::vector<BufferId> arrays, bool ahead,
                 const Body& body) {
    if (!ahead || times < 2)
      return repeat(times, [&] {
        add(std::move(fed));
        body();
      });
    Rounds turns;
    turns.name = std::move(fed.name);
    turns.passes = times;
    turns.tiles = fed.tiles;
    turns.overlap = true;
    turns.loaded = std::move(arrays);
    turns.feeds = std::move(fed.pieces);
    rounds(
        std::move(turns), [&](bool /*first*/) { body(); }, [] {});
  }
  /// `body` adds the steps of a loop that iterates while the aligned 32-bit word `flag` is not zero
  /// on any of `tiles` (ascending, at least one): a test combines the words and leaves the result
  /// on every tile. Many words are combined in about sqrt(n) groups, each on the tile of its first
  /// word; in estimates the first of `tiles` represents these.
  template <class Body>
  void while_any(std::string name, std::vector<Tile> tiles, Place flag, std::uint64_t turns,
                 const Body& body) {
    Place decision{};
    Sequence test = within([&] { decision = any_raised(name, std::move(tiles), flag); });
    add(While{std::move(name), turns, std::move(test), within(body), decision});
  }
  /// Adds a buffer in external memory.
  OuterId outside(OuterArray array) {
    outers_.push_back(std::move(array));
    return OuterId(static_cast<std::uint32_t>(outers_.size() - 1));
  }
  /// `body(first)` adds the steps of a pass's first round (`first` true) and of its other rounds,
  /// if any; `finish` adds those after a pass. The arrays in `rounds.loaded` must have no initial
  /// contents.
  template <class Body, class Finish>
  void rounds(Rounds rounds, const Body& body, const Finish& finish) {
    rounds.first = within([&] { body(true); });
    if (rounds.rounds > 1) rounds.again = within([&] { body(false); });
    rounds.finish = within(finish);
    if (rounds.overlap && rounds.passes * std::uint64_t{rounds.rounds} > 1)
      for (const BufferId array : rounds.loaded) {
        arrays_.push_back(arrays_[static_cast<std::size_t>(array)]);
        rounds.seconds.push_back(BufferId(static_cast<std::uint32_t>(arrays_.size() - 1)));
      }
    add(std::move(rounds));
  }
  /// `body` adds arrays, calls, exchanges and host transfers of one group, for tiles 0 to
  /// `copies.tiles` - 1; every group gets its own. Group g takes number n * copies.count + g as its
  /// n-th transfer from the host.
  template <class Body>
  void in_copies(Copies copies, const Body& body) {
    const Copies outer = std::exchange(copies_, copies);
    body();
    copies_ = outer;
  }
  /// Predicted times are means over `moments` moments, for which arrays have expected contents.
  void expect(std::uint32_t moments) { moments_ = moments; }
  /// The stage (e.g. a layer) of later supersteps in reports; empty: none.
  void stage(std::string name) { stage_ = std::move(name); }
  /// True: later steps are in the measured region.
  void measure(bool measured) { measured_ = measured; }

  void tensor(TensorOver tensor) { laid_.push_back(std::move(tensor)); }
  /// Adds a tensor outside arrays: provided by the host, or brought by a transfer.
  void tensor(program::Tensor tensor) { given_.push_back(std::move(tensor)); }

  /// Holds the codelets, which vertices name by index; functions of steps may add some. Its address
  /// is stable when the description is moved.
  [[nodiscard]] const std::shared_ptr<program::Program>& code() const { return codelets_; }
  /// Stores a function for calls and returns it, or the earlier one of its name. Makes a vertex
  /// once, so that its codelet is added.
  const Function& function(Function function);

  [[nodiscard]] Tile tiles() const { return tiles_; }
  [[nodiscard]] std::uint32_t moments() const { return moments_; }
  [[nodiscard]] const std::vector<program::Codelet>& codelets() const {
    return codelets_->codelets();
  }
  [[nodiscard]] const std::vector<Array>& arrays() const { return arrays_; }
  [[nodiscard]] const Array& array(BufferId id) const {
    return arrays_[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] const std::vector<OuterArray>& outers() const { return outers_; }
  [[nodiscard]] const OuterArray& outer(OuterId id) const {
    return outers_[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] const Sequence& steps() const { return steps_; }
  [[nodiscard]] const std::vector<TensorOver>& laid_tensors() const { return laid_; }
  [[nodiscard]] const std::vector<program::Tensor>& given_tensors() const { return given_; }

 private:
  /// Adds the test of a loop on flags; returns the place of its result on every tile
  /// (while_any.cpp).
  Place any_raised(const std::string& name, std::vector<Tile> tiles, Place flag);

  template <class Action>
  void add(Action action) {
    steps_.push_back({std::move(action), measured_});
  }
  template <class Body>
  Sequence within(const Body& body) {
    Sequence outer = std::exchange(steps_, {});
    body();
    return std::exchange(steps_, std::move(outer));
  }

  Tile tiles_;
  Copies copies_;
  std::uint32_t moments_ = 1;
  bool measured_ = true;
  std::string stage_;
  std::shared_ptr<program::Program> codelets_;
  std::map<std::string, Function> functions_;
  std::vector<Array> arrays_;
  std::vector<OuterArray> outers_;
  Sequence steps_;
  std::vector<TensorOver> laid_;
  std::vector<program::Tensor> given_;
};

}  // namespace tessera::plan
