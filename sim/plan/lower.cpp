#include "sim/plan/lower.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "sim/base/errors.h"
#include "sim/plan/aliases.h"

namespace tessera::plan {

namespace {

class Lowering {
 public:
  Lowering(const Description& description, program::Program& program)
      : description_(description), aliases_(description), program_(program) {
    // Codelets are placed in order of their addition; the first 2 KiB have near addresses.
    for (std::uint32_t i = 0; i < description.codelets().size(); ++i) codelet(i);
    for (const Array& array : description.arrays()) add_parts(array);
    for (const OuterArray& array : description.outers()) add_outer(array);
  }

  void add_steps() { program_.main() = lowered(description_.steps()); }

  void add_tensors() {
    const std::vector<TensorOver>& laid = description_.laid_tensors();
    for (auto first = laid.begin(); first != laid.end();) {
      const auto last = std::find_if(first, laid.end(), [&](const TensorOver& other) {
        return other.tensor.name != first->tensor.name;
      });
      add_tensor({first, last});
      first = last;
    }
    for (program::Tensor tensor : description_.given_tensors()) {
      for (program::TensorPart& part : tensor.parts)
        if (auto* place = std::get_if<OuterPlace>(&part.place)) *place = placed(0, *place);
      program_.add_tensor(std::move(tensor));
    }
  }

 private:
  static constexpr BufferId kNone{UINT32_MAX};

  void add_parts(const Array& array) {
    std::vector<BufferId>& parts = parts_.emplace_back(description_.tiles(), kNone);
    const auto contents =
        array.contents ? std::make_shared<decltype(array.contents)>(array.contents) : nullptr;
    const auto inputs =
        array.inputs ? std::make_shared<decltype(array.inputs)>(array.inputs) : nullptr;
    if (aliases_.contains(BufferId(static_cast<std::uint32_t>(parts_.size() - 1)))) return;
    for (Tile t = 0; t < description_.tiles(); ++t) {
      const std::uint64_t bytes = array.bytes(t);
      if (bytes == 0) continue;
      program::Buffer part{TileId(t),      bytes, array.align, array.keep,
                           array.category, {},    array.name};
      if (contents)
        part.contents = [contents, t](std::span<std::byte> into) { (*contents)(t, into); };
      if (inputs)
        part.inputs = [inputs, t](std::span<std::byte> into, std::uint32_t run) {
          (*inputs)(t, into, run);
        };
      parts[t] = program_.add_buffer(std::move(part));
    }
  }

  /// Adds an external buffer; in the chip's memory all tiles share it.
  void add_outer(const OuterArray& array) {
    std::vector<program::OuterId>& parts =
        outers_.emplace_back(description_.tiles(), program::OuterId{UINT32_MAX});
    if (!array.part_bytes) {
      std::ranges::fill(
          parts, program_.add_outer({array.name, array.bytes, {}, array.keep, array.contents}));
      return;
    }
    const auto contents = std::make_shared<decltype(array.part_contents)>(array.part_contents);
    for (Tile t = 0; t < description_.tiles(); ++t) {
      program::OuterBuffer part{array.name, array.part_bytes(t), TileId(t), array.keep, {}};
      if (part.bytes == 0) continue;
      if (*contents)
        part.contents = [contents, t](std::uint64_t offset, std::span<std::byte> into) {
          (*contents)(t, offset, into);
        };
      parts[t] = program_.add_outer(std::move(part));
    }
  }

  [[nodiscard]] OuterPlace placed(Tile tile, OuterPlace place) const {
    return {outers_[static_cast<std::size_t>(place.buffer)][tile], place.offset};
  }
  [[nodiscard]] Place placed(Tile tile, Place place) const {
    place = aliases_(place);
    if (const auto second = seconds_.find(place.buffer); second != seconds_.end())
      place.buffer = second->second;
    return {parts_[static_cast<std::size_t>(place.buffer)][tile], place.offset};
  }

  program::Sequence lowered(const Sequence& steps) {
    program::Sequence sequence;
    for (const Step& step : steps) add(sequence, step);
    return sequence;
  }

  void add(program::Sequence& into, const Step& step) {
    const bool measured = step.measured && measured_;
    if (const auto* rounds = std::get_if<Rounds>(&step.action)) {
      add(into, *rounds, measured);
    } else if (const auto* round = std::get_if<Round>(&step.action)) {
      if (round->on_seconds) stand_for_seconds(*round->rounds);
      into.steps.push_back({program::Repeat{1, lowered(*round->steps)}, measured});
      seconds_.clear();
    } else if (const auto* transfer = std::get_if<Transfer>(&step.action)) {
      const program::ExchangeId id = transfers_.at({transfer->rounds, transfer->what});
      if (transfer->starts) into.steps.push_back({program::Start{id}, measured});
      if (transfer->waits) into.steps.push_back({program::Wait{id}, measured});
    } else {
      if (const Rounds* const first = begun_in_loop(step)) begin_before(into, *first, measured);
      std::visit(
          [&](const auto& action) {
            if constexpr (requires { lowered(action); })
              into.steps.push_back({lowered(action), measured});
          },
          step.action);
      last_measured_ = measured;
    }
  }

  void add(program::Sequence& into, const Rounds& rounds, bool measured) {
    const auto transfer = [&](Transfer::What what, const char* name) {
      program::Exchange made{rounds.name + name, {}, {}, turns_of(rounds, what)};
      if (rounds.fed() && what != Transfer::What::store)
        made.host = given(rounds, what);
      else
        made.outside = outer_copies(rounds, what);
      transfers_[{&rounds, what}] = program_.add_exchange(std::move(made));
    };
    transfer(Transfer::What::load, " load");
    if (!rounds.seconds.empty()) transfer(Transfer::What::load_second, " load");
    if (rounds.stores_any()) transfer(Transfer::What::store, " store");
    const bool outer = std::exchange(measured_, measured);
    if (begin_in_loop(rounds)) begin_before(into, rounds, measured);
    last_measured_ = measured;
    const program::Sequence steps = lowered(unrolled(rounds));
    into.steps.insert(into.steps.end(), steps.steps.begin(), steps.steps.end());
    measured_ = outer;
  }

  /// The rounds at the begin of a repeat's body; null: none.
  static const Rounds* begun_in_loop(const Step& step) {
    const auto* const repeat = std::get_if<Repeat>(&step.action);
    if (repeat == nullptr || repeat->count < 2 || repeat->body.empty()) return nullptr;
    const Step& first = repeat->body.front();
    if (!first.measured) return nullptr;
    const auto* const rounds = std::get_if<Rounds>(&first.action);
    return rounds != nullptr ? rounds : begun_in_loop(first);
  }

  /// Adds a barrier before rounds where `measured` changes: rounds begin without one, and it would
  /// otherwise lie in their loop.
  void begin_before(program::Sequence& into, const Rounds& rounds, bool measured) {
    if (last_measured_ != measured)
      into.steps.push_back({program::ComputeSet{rounds.name, {}}, measured});
    last_measured_ = measured;
  }

  void stand_for_seconds(const Rounds& rounds) {
    for (std::size_t i = 0; i < rounds.loaded.size(); ++i)
      seconds_.emplace(rounds.loaded[i], rounds.seconds[i]);
  }

  [[nodiscard]] program::HostTransfer given(const Rounds& rounds, Transfer::What what) {
    if (what == Transfer::What::load_second) stand_for_seconds(rounds);
    program::HostTransfer transfer{program::HostTransfer::Direction::read, {}};
    add_pieces(rounds.tiles, rounds.feeds, transfer);
    seconds_.clear();
    return transfer;
  }

  [[nodiscard]] std::vector<program::OuterCopy> outer_copies(const Rounds& rounds,
                                                             Transfer::What what) {
    const bool stores = what == Transfer::What::store;
    if (what == Transfer::What::load_second) stand_for_seconds(rounds);
    std::vector<program::OuterCopy> copies;
    Loads loads;
    for (Tile t = 0; t < rounds.tiles; ++t) {
      loads.clear();
      (stores ? rounds.stores : rounds.loads)(t, loads);
      for (const Load& load : loads) {
        if (load.row_bytes == 0) continue;
        program::OuterCopy copy{placed(t, load.place),
                                placed(t, OuterPlace{load.outside, load.offset}),
                                load.row_bytes,
                                load.rows,
                                load.pitch,
                                {},
                                stores};
        std::ranges::copy(load.steps, copy.steps);
        copies.push_back(copy);
      }
    }
    seconds_.clear();
    return copies;
  }

  /// The index in the program of a codelet of the description.
  std::uint32_t codelet(std::uint32_t number) {
    if (number >= codelets_.size()) codelets_.resize(number + 1);
    std::optional<std::uint32_t>& known = codelets_[number];
    if (!known) known = program_.add_codelet(description_.codelets()[number]);
    return *known;
  }

  void place_argument(Tile tile, program::Argument& argument) const {
    if (auto* place = std::get_if<Place>(&argument)) *place = placed(tile, *place);
    if (auto* place = std::get_if<OuterPlace>(&argument)) *place = placed(tile, *place);
  }

  program::ComputeSet lowered(const Compute& compute) {
    program::ComputeSet set{compute.name, {}, compute.syncs, compute.stage};
    for (Tile t = 0; t < compute.tiles; ++t) {
      Calls calls;
      compute.calls(t, calls);
      for (Call& call : calls.all()) {
        call.vertex.tile = TileId(t);
        call.vertex.codelet = codelet(call.vertex.codelet);
        for (program::Argument& argument : call.vertex.arguments) place_argument(t, argument);
        set.vertices.push_back(std::move(call.vertex));
      }
    }
    return set;
  }

  /// Bytes that a tile pulls, with their source part.
  struct PulledBytes {
    BufferId from;
    std::uint32_t offset, bytes;
    Place into;

    [[nodiscard]] bool same_source(const PulledBytes& other) const {
      return from == other.from && offset == other.offset && bytes == other.bytes;
    }
  };

  /// Bytes pulled, by tile: one list for all would be copied as it grows.
  [[nodiscard]] std::vector<std::vector<PulledBytes>> taken(const Exchange& exchange) const {
    std::vector<std::vector<PulledBytes>> all(exchange.tiles);
    Pulls pulls;
    for (Tile t = 0; t < exchange.tiles; ++t) {
      pulls.clear();
      exchange.pulls(t, pulls);
      aliases_.drop(pulls);
      all[t].reserve(pulls.size());
      for (const Pull& pull : pulls) {
        if (pull.bytes == 0) continue;
        const Place from = placed(pull.from, pull.source);
        check(from.buffer != kNone, "plan: {}: tile {} has none of what tile {} pulls",
              exchange.name, pull.from, t);
        all[t].push_back({from.buffer, from.offset, pull.bytes, placed(t, pull.into)});
      }
    }
    return all;
  }

  /// Sorts pulls by source, equal bytes by tile. Parts are many and small: a counting sort by part,
  /// then each part separately.
  [[nodiscard]] std::vector<PulledBytes> by_source(
      const std::vector<std::vector<PulledBytes>>& all) const {
    std::vector<std::size_t> begin(program_.buffers().size() + 1);
    for (const std::vector<PulledBytes>& its : all)
      for (const PulledBytes& one : its) ++begin[static_cast<std::size_t>(one.from) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<PulledBytes> sorted(begin.back());
    std::vector<std::size_t> next = begin;
    for (const std::vector<PulledBytes>& its : all)
      for (const PulledBytes& one : its) sorted[next[static_cast<std::size_t>(one.from)]++] = one;
    const auto at = [&](std::size_t i) { return sorted.begin() + static_cast<std::ptrdiff_t>(i); };
    const auto before = [](const PulledBytes& a, const PulledBytes& b) {
      return a.offset != b.offset ? a.offset < b.offset : a.bytes < b.bytes;
    };
    for (std::size_t part = 0; part + 1 < begin.size(); ++part)
      if (!std::is_sorted(at(begin[part]), at(begin[part + 1]), before))
        std::stable_sort(at(begin[part]), at(begin[part + 1]), before);
    return sorted;
  }

  /// Lowers an exchange; pulls of the same bytes become one copy.
  program::Exchange lowered(const Exchange& exchange) const {
    const std::vector<PulledBytes> sorted = by_source(taken(exchange));
    std::size_t copies = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i)
      copies += i == 0 || !sorted[i].same_source(sorted[i - 1]) ? 1 : 0;
    program::Exchange lowered{exchange.name, {}};
    lowered.copies.reserve(copies);
    for (std::size_t i = 0, end = 0; i < sorted.size(); i = end) {
      while (end < sorted.size() && sorted[end].same_source(sorted[i])) ++end;
      program::Copy& copy = lowered.copies.emplace_back(
          program::Copy{{sorted[i].from, sorted[i].offset}, sorted[i].bytes, {}});
      copy.destinations.reserve(end - i);
      for (std::size_t k = i; k < end; ++k) copy.destinations.push_back(sorted[k].into);
    }
    return lowered;
  }

  void add_pieces(Tile tiles, const std::function<void(Tile, HostPieces&)>& of,
                  program::HostTransfer& transfer) const {
    for (Tile t = 0; t < tiles; ++t) {
      HostPieces pieces;
      of(t, pieces);
      for (program::HostPiece& piece : pieces) {
        piece.place = placed(t, piece.place);
        transfer.pieces.push_back(std::move(piece));
      }
    }
  }

  program::Exchange lowered(const Host& host) const {
    program::HostTransfer transfer{host.direction, {}};
    add_pieces(host.tiles, host.pieces, transfer);
    return {host.name, {}, {}, program::kEveryStart, std::move(transfer)};
  }

  program::Repeat lowered(const Repeat& repeat) { return {repeat.count, lowered(repeat.body)}; }

  program::While lowered(const While& loop) {
    program::While lowered_loop{loop.name, lowered(loop.test), lowered(loop.body), {}};
    for (Tile t = 0; t < description_.tiles(); ++t)
      lowered_loop.decisions.push_back(placed(t, loop.decision));
    return lowered_loop;
  }

  /// A tile's part of the tensor; nothing if the tile has no part of the array.
  [[nodiscard]] std::optional<program::TensorPart> part_of(const TensorOver& over,
                                                           Tile tile) const {
    const auto* const outside = std::get_if<OuterId>(&over.array);
    const std::uint64_t all = outside != nullptr
                                  ? description_.outer(*outside).part_bytes(tile)
                                  : description_.array(std::get<BufferId>(over.array)).bytes(tile);
    const std::uint64_t bytes = over.bytes ? over.bytes(tile) : all;
    if (all == 0 || bytes == 0) return std::nullopt;
    const auto size = static_cast<std::uint32_t>(bytes);
    if (outside != nullptr) return program::TensorPart{placed(tile, OuterPlace{*outside}), size};
    return program::TensorPart{placed(tile, Place{std::get<BufferId>(over.array)}), size};
  }

  /// Adds one tensor, stored in one or several arrays.
  void add_tensor(std::span<const TensorOver> arrays) {
    struct Part {
      Tile tile;
      std::shared_ptr<const decltype(TensorOver::runs)> runs;
    };
    program::Tensor tensor = arrays.front().tensor;
    std::vector<Part> parts;
    for (const TensorOver& over : arrays) {
      const auto runs = std::make_shared<const decltype(over.runs)>(over.runs);
      for (Tile t = 0; t < description_.tiles(); ++t) {
        const std::optional<program::TensorPart> part = part_of(over, t);
        if (!part) continue;
        tensor.parts.push_back(*part);
        parts.push_back({t, runs});
      }
    }
    tensor.runs = [parts = std::move(parts)](std::size_t part, program::Runs& into) {
      (*parts[part].runs)(parts[part].tile, into);
    };
    program_.add_tensor(std::move(tensor));
  }

  const Description& description_;
  Aliases aliases_;
  program::Program& program_;
  std::vector<std::vector<BufferId>> parts_;            ///< by array and tile
  std::vector<std::vector<OuterId>> outers_;            ///< as parts_, for external memory
  std::vector<std::optional<std::uint32_t>> codelets_;  ///< by index in the description
  std::map<BufferId, BufferId> seconds_;                ///< by array: its current replacement
  std::map<std::pair<const Rounds*, Transfer::What>, program::ExchangeId> transfers_;
  bool measured_ = true;
  std::optional<bool> last_measured_;  ///< of the previous step; none before the first
};

}  // namespace

program::Program lower(const Description& description) {
  program::Program program(description.tiles());
  Lowering lowering(description, program);
  lowering.add_steps();
  lowering.add_tensors();
  return program;
}

}  // namespace tessera::plan
