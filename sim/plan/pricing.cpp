#include "sim/plan/pricing.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "sim/base/errors.h"
#include "sim/plan/aliases.h"
#include "sim/plan/round_script.h"
#include "sim/program/exchange_compiler.h"

namespace tessera::plan {

namespace {

constexpr TileId kSampleTile{0};
constexpr std::uint64_t kPieces = 16;  ///< of streams that a schedule cuts, at most
std::uint64_t entries(std::uint64_t streams) { return streams + std::min(2 * streams, kPieces); }

/// A part of `array` in a program of one tile.
program::Buffer part_of(const Array& array, Tile tile, std::uint64_t bytes, std::uint32_t moment) {
  program::Buffer part{kSampleTile, bytes, array.align, array.keep, array.category, {}, array.name};
  if (array.contents)
    part.contents = [&array, tile](std::span<std::byte> into) { array.contents(tile, into); };
  if (array.inputs)
    part.contents = [&array, tile](std::span<std::byte> into) { array.inputs(tile, into, 0); };
  if (array.expected)
    part.contents = [&array, tile, moment](std::span<std::byte> into) {
      array.expected(tile, into, moment);
    };
  return part;
}

/// Parts of one tile in a program of their own, added when they are first named.
class Parts {
 public:
  Parts(const Description& description, Tile tile, program::Program& sample,
        std::uint32_t moment = 0, const Aliases* aliases = nullptr)
      : description_(description),
        tile_(tile),
        sample_(sample),
        moment_(moment),
        aliases_(aliases) {}

  [[nodiscard]] std::uint64_t bytes(BufferId array) const {
    return description_.array(array).bytes(tile_);
  }
  /// From here on each of `arrays` means the one of `others` at its place.
  void stand_for(std::span<const BufferId> arrays, std::span<const BufferId> others) {
    others_.clear();
    for (std::size_t i = 0; i < arrays.size(); ++i) others_.emplace(arrays[i], others[i]);
  }
  Place operator()(Place place) {
    if (aliases_ != nullptr) place = (*aliases_)(place);
    if (const auto other = others_.find(place.buffer); other != others_.end())
      place.buffer = other->second;
    const auto [known, is_new] = parts_.try_emplace(place.buffer);
    if (is_new)
      known->second = sample_.add_buffer(
          part_of(description_.array(place.buffer), tile_, bytes(place.buffer), moment_));
    return {known->second, place.offset};
  }
  OuterPlace operator()(OuterPlace place) {
    const auto [known, is_new] = outers_.try_emplace(place.buffer);
    if (is_new) {
      const OuterArray& array = description_.outer(place.buffer);
      program::OuterBuffer part{array.name, array.part_bytes(tile_), kSampleTile, array.keep, {}};
      if (array.part_contents)
        part.contents = [&array, tile = tile_](std::uint64_t offset, std::span<std::byte> into) {
          array.part_contents(tile, offset, into);
        };
      known->second = sample_.add_outer(std::move(part));
    }
    return {known->second, place.offset};
  }
  program::Vertex operator()(program::Vertex vertex) {
    vertex.tile = kSampleTile;
    vertex.codelet = sample_.add_codelet(description_.codelets()[vertex.codelet]);
    for (program::Argument& argument : vertex.arguments) {
      if (auto* place = std::get_if<Place>(&argument)) *place = (*this)(*place);
      if (auto* place = std::get_if<OuterPlace>(&argument)) *place = (*this)(*place);
    }
    return vertex;
  }

 private:
  const Description& description_;
  Tile tile_;
  program::Program& sample_;
  std::uint32_t moment_;
  const Aliases* aliases_;  ///< null: there are none
  std::map<BufferId, BufferId> parts_;
  std::map<BufferId, BufferId> others_;
  std::map<OuterId, OuterId> outers_;
};

/// Whether data that are expected decide the time of some of these.
bool expects(const Description& description, const std::vector<Call>& calls) {
  return std::any_of(calls.begin(), calls.end(), [&](const Call& call) {
    const std::vector<program::Argument>& arguments = call.vertex.arguments;
    return std::any_of(arguments.begin(), arguments.end(), [&](const program::Argument& argument) {
      const auto* place = std::get_if<Place>(&argument);
      return place != nullptr && description.array(place->buffer).expected;
    });
  });
}

/// Stands for what a part is expected to hold.
std::uint64_t mark_of(const Array& array, Tile tile, std::uint32_t moment) {
  std::string bytes(array.bytes(tile), '\0');
  array.expected(tile, std::as_writable_bytes(std::span(bytes)), moment);
  return std::hash<std::string>()(bytes);
}

/// What tiles pull of one array in one exchange, the most of any.
struct Taken {
  std::uint64_t bytes = 0, pulls = 0;
};

std::map<BufferId, Taken> taken(const Pulls& pulls) {
  std::map<BufferId, Taken> all;
  for (const Pull& pull : pulls) {
    Taken& one = all[pull.source.buffer];
    one.bytes += pull.bytes;
    one.pulls += 1;
  }
  return all;
}

/// As the compiler places them.
std::vector<std::uint64_t> outer_addresses(const Description& description) {
  std::vector<std::uint64_t> addresses;
  std::uint64_t end = 0;
  for (const OuterArray& array : description.outers()) {
    addresses.push_back(end);
    end = program::end_of_outer(end, array.bytes);
  }
  return addresses;
}

Pulls pulls_of(const Exchange& exchange, Tile tile, const Aliases& aliases) {
  Pulls pulls;
  if (tile < exchange.tiles) exchange.pulls(tile, pulls);
  aliases.drop(pulls);
  std::erase_if(pulls, [](const Pull& pull) { return pull.bytes == 0; });
  return pulls;
}

/// The most that any of `tiles` takes of each array.
std::map<BufferId, Taken> most_taken(const Exchange& exchange, std::span<const Tile> tiles,
                                     const Aliases& aliases) {
  std::map<BufferId, Taken> most;
  for (const Tile tile : tiles)
    for (const auto& [array, one] : taken(pulls_of(exchange, tile, aliases))) {
      Taken& its = most[array];
      its = {std::max(its.bytes, one.bytes), std::max(its.pulls, one.pulls)};
    }
  return most;
}

std::uint64_t list_bytes(std::uint64_t sends, std::uint64_t receives) {
  return program::kListHeaderBytes + entries(sends) * program::kSendBytes +
         entries(receives) * program::kReceiveBytes;
}

}  // namespace

program::ExchangeNeeds CountedLists::needs(std::uint32_t /*exchange*/,
                                           std::span<const program::PlacedCopy> copies) const {
  struct Ends {
    std::uint64_t sends = 0, receives = 0;
  };
  std::vector<Ends> tiles;
  const auto ends = [&](TileId tile) -> Ends& {
    if (index(tile) >= tiles.size()) tiles.resize(index(tile) + std::size_t{1});
    return tiles[index(tile)];
  };
  for (const program::PlacedCopy& copy : copies) {
    ++ends(copy.source.tile).sends;
    for (const program::Port& port : copy.destinations) ++ends(port.tile).receives;
  }
  program::ExchangeNeeds needs{{}, Cycle(0), Cycle(0)};
  for (std::uint32_t tile = 0; tile < tiles.size(); ++tile)
    if (const auto [sends, receives] = tiles[tile]; sends + receives > 0)
      needs.lists.push_back({TileId(tile), list_bytes(sends, receives)});
  return needs;
}

std::uint64_t Pricing::call(const Description& description, const Function& function,
                            const Sizes& sizes) {
  const auto fitted = fitted_.try_emplace(function.name, function.axes).first;
  return fitted->second(sizes, [&](const Sizes& at) {
    return steps_.vertex([&](program::Program& sample) {
      std::vector<Place> operands;
      for (const std::uint64_t bytes : function.operand_bytes(at)) {
        program::Buffer operand{kSampleTile, std::max<std::uint64_t>(bytes, 16), 8, false, {}, {},
                                "sample"};
        if (function.contents)
          operand.contents = [&, number = operands.size()](std::span<std::byte> into) {
            function.contents(at, number, into);
          };
        operands.push_back({sample.add_buffer(std::move(operand))});
      }
      program::Vertex vertex = function.vertex(at, operands);
      vertex.tile = kSampleTile;
      vertex.codelet = sample.add_codelet(description.codelets()[vertex.codelet]);
      return vertex;
    });
  });
}

/// Calls on one tile that run in one step, with the contents of their operands.
std::uint64_t Pricing::measured(const Description& description, Tile tile,
                                const std::vector<const Call*>& calls, std::uint32_t moment) {
  std::string names;
  Kind kind;
  bool filled = false;
  std::map<BufferId, std::uint64_t> expected;
  for (const Call* call : calls) {
    const program::Vertex& vertex = call->vertex;
    names += description.codelets()[vertex.codelet].name + ' ';
    kind.push_back(static_cast<std::uint64_t>(vertex.executor));
    kind.push_back(vertex.worker);
    for (const program::Argument& argument : vertex.arguments) {
      if (const auto* place = std::get_if<Place>(&argument)) {
        const Array& array = description.array(place->buffer);
        filled = filled || (array.initialised() && !call->by_size);
        kind.insert(kind.end(), {array.bytes(tile), place->offset});
        if (array.expected && !expected.contains(place->buffer))
          kind.push_back(expected[place->buffer] = mark_of(array, tile, moment));
      } else if (const auto* outside = std::get_if<OuterPlace>(&argument)) {
        const OuterArray& array = description.outer(outside->buffer);
        filled = filled || (array.part_contents && !call->by_size);
        kind.insert(kind.end(), {array.part_bytes(tile), outside->offset});
      } else {
        kind.push_back(std::get<std::uint32_t>(argument));
      }
    }
  }
  const auto measure = [&] {
    return steps_.vertices([&](program::Program& sample) {
      Parts parts(description, tile, sample, moment);
      std::vector<program::Vertex> vertices;
      vertices.reserve(calls.size());
      for (const Call* call : calls) vertices.push_back(parts(call->vertex));
      return vertices;
    });
  };
  if (filled && expected.empty()) return measure();
  const auto [known, is_new] = known_.try_emplace({std::move(names), std::move(kind)});
  if (is_new) known->second = measure();
  return known->second;
}

class Pricing::TimeWalk {
 public:
  TimeWalk(Pricing& pricing, const Description& description, std::span<const Tile> tiles,
           const Schedules* schedules)
      : pricing_(pricing),
        description_(description),
        aliases_(description),
        tiles_(tiles),
        schedules_(schedules),
        addresses_(outer_addresses(description)) {}

  /// `behind_wait`: a compute set that comes first needs no barrier.
  void add(const Sequence& sequence, std::uint64_t times, bool behind_wait = false) {
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      const Step& step = sequence[i];
      if (const auto* repeat = std::get_if<Repeat>(&step.action)) {
        add(repeat->body, times * repeat->count);
      } else if (const auto* loop = std::get_if<While>(&step.action)) {
        add(loop->test, times + loop->turns);
        pricing_.steps_.add_branch(sum_, times + loop->turns);
        add(loop->body, loop->turns);
      } else if (!step.measured) {
        continue;
      } else if (const auto* rounds = std::get_if<Rounds>(&step.action)) {
        add_rounds(*rounds, times);
      } else if (const auto* next = std::get_if<Compute>(&step.action);
                 next != nullptr && behind_wait && i == 0 && !next->syncs) {
        pricing_.steps_.add_behind_wait(sum_, cycles_of(*next), times);
      } else if (const auto* exchange = std::get_if<Exchange>(&step.action)) {
        StepCosts::Superstep superstep{load_of(*exchange)};
        if (schedules_ != nullptr) superstep.scheduled = schedules_->at(exchange);
        const auto* set = i + 1 < sequence.size() && sequence[i + 1].measured
                              ? std::get_if<Compute>(&sequence[i + 1].action)
                              : nullptr;
        if (set != nullptr && !set->syncs) {
          superstep.vertex_cycles = cycles_of(*set);
          ++i;
        }
        pricing_.steps_.add(sum_, superstep, times);
      } else if (const auto* set = std::get_if<Compute>(&step.action)) {
        pricing_.steps_.add(sum_, {{}, cycles_of(*set)}, times);
      }
    }
  }

  /// Where loads and stores go on beside the rounds, all takes as long as the slower of both, and
  /// what cannot overlap: the first load, and the last round or store. Of the best plans the
  /// transfers are carried out.
  void add_rounds(const Rounds& rounds, std::uint64_t times) {
    if (rounds.fed()) {
      // The host's time is not priced, and so the start of a transfer a turn is not either.
      sum_ += times * rounds.passes * of(rounds.first);
      return;
    }
    const std::uint64_t passes = rounds.passes;
    const std::uint64_t turns = passes * rounds.rounds;
    const bool overlaps = !rounds.seconds.empty();
    const bool stores = rounds.stores_any();
    const std::uint64_t load = outside(rounds, true, false);
    const std::uint64_t store = stores ? outside(rounds, false, true) : 0;
    // A pass is stored while a round of the next one is brought.
    const std::uint64_t both = overlaps && stores ? outside(rounds, true, true) : load + store;
    const Prediction first = of(rounds.first);
    const Prediction again = rounds.rounds > 1 ? of(rounds.again) : Prediction{};
    const Prediction finish = of(rounds.finish);
    Prediction working = passes * first;
    working += (turns - passes) * again;
    working += passes * finish;
    const std::uint64_t control = pricing_.steps_.transfer_cycles();
    working.cycles += control * (turns + passes);
    working.compute_cycles += control * (turns + passes);
    const std::uint64_t moving = (turns - passes) * load + passes * both;
    const std::uint64_t last = (rounds.rounds == 1 ? first : again).cycles + finish.cycles;
    // A store in place ends before the next pass goes on.
    const std::uint64_t alone = overlaps && !rounds.in_place ? store : passes * store;
    std::uint64_t cycles =
        overlaps ? std::max(load + working.cycles + alone, moving + last) : working.cycles + moving;
    if (schedules_ != nullptr) {
      const RoundWork work{{first.cycles, synchronises(rounds.first)},
                           {again.cycles, synchronises(rounds.again)},
                           {finish.cycles, synchronises(rounds.finish)},
                           control / 2};
      cycles = round_cycles(rounds, work, addresses_, pricing_.costs_).value_or(cycles);
    }
    const std::uint64_t blocked = cycles - std::min(cycles, working.cycles);
    working.cycles += blocked;
    working.exchange_cycles += blocked;
    sum_ += times * working;
  }

  [[nodiscard]] const Prediction& sum() const { return sum_; }

  /// Of the slowest tile, on average over the moments.
  std::uint64_t cycles_of(const Compute& set) {
    std::vector<std::uint64_t> most(description_.moments());
    for (const Tile tile : tiles_) {
      if (tile >= set.tiles) continue;
      Calls calls;
      set.calls(tile, calls);
      const bool changes = expects(description_, calls.all());
      std::uint64_t cycles = 0;
      for (std::uint32_t moment = 0; moment < most.size(); ++moment) {
        if (changes || moment == 0) cycles = cycles_of(calls.all(), tile, moment);
        most[moment] = std::max(most[moment], cycles);
      }
    }
    return std::accumulate(most.begin(), most.end(), most.size() / 2) / most.size();
  }

 private:
  std::uint64_t cycles_of(const std::vector<Call>& calls, Tile tile, std::uint32_t moment) {
    std::uint64_t sum = 0;
    std::vector<const Call*> others;
    for (const Call& call : calls) {
      if (call.cycles)
        sum += *call.cycles;
      else if (call.function != nullptr)
        sum += pricing_.call(description_, *call.function, call.sizes);
      else
        others.push_back(&call);
    }
    return others.empty() ? sum : sum + pricing_.measured(description_, tile, others, moment);
  }

  /// Of steps behind a wait, by themselves.
  [[nodiscard]] Prediction of(const Sequence& steps) {
    const Prediction outer = std::exchange(sum_, {});
    add(steps, 1, true);
    return std::exchange(sum_, outer);
  }

  /// One turn of all tiles: what is loaded, stored, or both. Tiles come apart with time, so that
  /// channels see reads among writes: every other tile stores first.
  [[nodiscard]] std::uint64_t outside(const Rounds& rounds, bool loads, bool stores) const {
    std::vector<OuterLoad> all;
    if (loads) all = entries_of(rounds, Transfer::What::load, addresses_);
    for (OuterLoad& load : stores ? entries_of(rounds, Transfer::What::store, addresses_)
                                  : std::vector<OuterLoad>()) {
      const auto own = std::ranges::find(all, load.tile, &OuterLoad::tile);
      if (own == all.end())
        all.push_back(std::move(load));
      else
        own->entries.insert(index(own->tile) % 2 == 0 ? own->entries.end() : own->entries.begin(),
                            load.entries.begin(), load.entries.end());
    }
    return pricing_.costs_.outside(all, schedules_ != nullptr);
  }

  /// Of the tile that it asks most of; nothing moves where none receives.
  [[nodiscard]] std::optional<ExchangeLoad> load_of(const Exchange& exchange) const {
    const std::map<BufferId, Taken> most = most_taken(exchange, tiles_, aliases_);
    std::vector<ExchangeLoad> loads;
    std::uint32_t tiles = exchange.tiles;
    for (const Tile tile : tiles_) {
      ExchangeLoad& load = loads.emplace_back();
      load.sent = sent(exchange, tile, most);
      const std::vector<Taking> other = takings(pulls_of(exchange, tile ^ 1U, aliases_));
      for (const Pull& pull : pulls_of(exchange, tile, aliases_)) {
        tiles = std::max(tiles, pull.from + 1);
        const bool shared = std::binary_search(other.begin(), other.end(), taking(pull));
        (shared ? load.shared : load.received) += pull.bytes;
      }
    }
    if (std::ranges::none_of(
            loads, [](const ExchangeLoad& load) { return load.received + load.shared > 0; }))
      return {};
    for (ExchangeLoad& load : loads) load.tiles = tiles;
    return *std::ranges::max_element(
        loads, {}, [&](const ExchangeLoad& load) { return pricing_.costs_.exchange(load); });
  }

  [[nodiscard]] std::uint64_t sent(const Exchange& exchange, Tile tile,
                                   const std::map<BufferId, Taken>& most) const {
    if (exchange.sends) return exchange.sends(tile);
    std::uint64_t sum = 0;
    for (const auto& [array, one] : most)
      sum += std::min(one.bytes, description_.array(array).bytes(tile));
    return sum;
  }

  /// The bytes that a pull takes: the other tile of a pair may take the same.
  using Taking = std::tuple<Tile, BufferId, std::uint32_t, std::uint32_t>;
  static Taking taking(const Pull& pull) {
    return {pull.from, pull.source.buffer, pull.source.offset, pull.bytes};
  }
  static std::vector<Taking> takings(const Pulls& pulls) {
    std::vector<Taking> all;
    all.reserve(pulls.size());
    for (const Pull& pull : pulls) all.push_back(taking(pull));
    std::sort(all.begin(), all.end());
    return all;
  }

  Pricing& pricing_;
  const Description& description_;
  Aliases aliases_;
  std::span<const Tile> tiles_;
  const Schedules* schedules_;            ///< null: exchanges are estimated
  std::vector<std::uint64_t> addresses_;  ///< of buffers outside
  Prediction sum_;
};

Prediction Pricing::time(const Description& description, std::span<const Tile> tiles,
                         const Schedules* schedules) {
  TimeWalk walk(*this, description, tiles, schedules);
  walk.add(description.steps(), 1);
  return walk.sum();
}

std::uint64_t Pricing::calls(const Description& description, Tile tile) {
  return calls(description, description.steps(), tile, 1);
}

std::uint64_t Pricing::calls(const Description& description, const Sequence& steps, Tile tile,
                             std::uint64_t times) {
  TimeWalk walk(*this, description, std::span(&tile, 1), nullptr);
  std::uint64_t sum = 0;
  for (const Step& step : steps) {
    if (const auto* repeat = std::get_if<Repeat>(&step.action))
      sum += calls(description, repeat->body, tile, times * repeat->count);
    else if (const auto* rounds = std::get_if<Rounds>(&step.action))
      sum +=
          calls(description, rounds->first, tile, times * rounds->passes) +
          calls(description, rounds->again, tile, times * rounds->passes * (rounds->rounds - 1)) +
          calls(description, rounds->finish, tile, times * rounds->passes);
    else if (const auto* loop = std::get_if<While>(&step.action))
      sum += calls(description, loop->test, tile, times + loop->turns) +
             calls(description, loop->body, tile, loop->turns);
    else if (const auto* set = std::get_if<Compute>(&step.action); set != nullptr && step.measured)
      sum += times * walk.cycles_of(*set);
  }
  return sum;
}

/// All that one tile holds and does as a program of that tile alone. An exchange copies within the
/// tile, which keeps alive what is alive in the whole program; its lists are as long as those of
/// the tile's pulls and of its share of what others pull.
class Pricing::Sample final : public program::ExchangeSizer {
 public:
  Sample(const Description& description, std::span<const Tile> tiles, Tile tile)
      : tiles_(tiles),
        tile_(tile),
        aliases_(description),
        parts_(description, tile, sample_, 0, &aliases_) {
    sample_.main() = reduced(description.steps());
    // Parts that no step names are kept, or not there.
    for (std::uint32_t id = 0; id < description.arrays().size(); ++id) {
      const Array& array = description.arrays()[id];
      if (array.keep && array.bytes(tile) > 0) parts_({BufferId(id)});
    }
  }

  [[nodiscard]] const program::Program& program() const { return sample_; }
  /// Arguments and lists, which nothing shares.
  [[nodiscard]] program::CategoryBytes unshared() const {
    program::CategoryBytes bytes{};
    bytes[static_cast<std::size_t>(program::Category::arguments)] = argument_bytes_;
    bytes[static_cast<std::size_t>(program::Category::exchange)] =
        std::accumulate(list_bytes_.begin(), list_bytes_.end(), std::uint64_t{0});
    return bytes;
  }

  [[nodiscard]] program::ExchangeNeeds needs(
      std::uint32_t exchange, std::span<const program::PlacedCopy> /*copies*/) const override {
    return {{{kSampleTile, list_bytes_[exchange]}}, Cycle(0), Cycle(0)};
  }

 private:
  [[nodiscard]] bool holds(BufferId array) const { return parts_.bytes(array) > 0; }

  program::Sequence reduced(const Sequence& steps) {
    program::Sequence sequence;
    for (const Step& step : steps)
      std::visit([&](const auto& action) { add(sequence, action); }, step.action);
    return sequence;
  }

  void add(program::Sequence& into, const Rounds& rounds) {
    const program::Sequence steps = reduced(unrolled(rounds));
    into.steps.insert(into.steps.end(), steps.steps.begin(), steps.steps.end());
  }

  void add(program::Sequence& into, const Round& round) {
    if (round.on_seconds) parts_.stand_for(round.rounds->loaded, round.rounds->seconds);
    into.steps.push_back({program::Repeat{1, reduced(*round.steps)}});
    parts_.stand_for({}, {});
  }

  /// The compiler sizes its list; its number among the exchanges is taken here.
  void add(program::Sequence& into, const Transfer& transfer) {
    const auto [known, is_new] = transfers_.try_emplace({transfer.rounds, transfer.what});
    if (is_new) known->second = sample_.add_exchange(transfer_of(transfer));
    const program::Exchange& its = sample_.exchange(known->second);
    if (its.outside.empty() && !its.host) return;
    if (transfer.starts) into.steps.push_back({program::Start{known->second}});
    if (transfer.waits) into.steps.push_back({program::Wait{known->second}});
    if (is_new) list_bytes_.push_back(0);
  }

  program::Exchange transfer_of(const Transfer& transfer) {
    const bool stores = transfer.what == Transfer::What::store;
    if (transfer.what == Transfer::What::load_second)
      parts_.stand_for(transfer.rounds->loaded, transfer.rounds->seconds);
    program::Exchange own{transfer.rounds->name, {}};
    if (transfer.rounds->fed() && !stores) {
      own.host = given(transfer.rounds->tiles, transfer.rounds->feeds);
      parts_.stand_for({}, {});
      return own;
    }
    Loads loads;
    if (tile_ < transfer.rounds->tiles)
      (stores ? transfer.rounds->stores : transfer.rounds->loads)(tile_, loads);
    for (const Load& load : loads) {
      if (load.row_bytes == 0) continue;
      own.outside.push_back({parts_(load.place),
                             {sample_.add_outer({"outside", load.row_bytes})},
                             load.row_bytes,
                             load.rows,
                             0,
                             {},
                             stores});
    }
    parts_.stand_for({}, {});
    return own;
  }

  void add(program::Sequence& into, const Compute& compute) {
    program::ComputeSet set{compute.name, {}};
    Calls calls;
    if (tile_ < compute.tiles) compute.calls(tile_, calls);
    for (Call& call : calls.all()) {
      argument_bytes_ += call.vertex.arguments.size() * sizeof(std::uint32_t);
      set.vertices.push_back(parts_(std::move(call.vertex)));
    }
    into.steps.push_back({std::move(set)});
  }

  void add(program::Sequence& into, const Exchange& exchange) {
    program::Exchange own{exchange.name, {}};
    const Pulls pulls = pulls_of(exchange, tile_, aliases_);
    std::uint64_t sends = 0;
    std::uint64_t least = UINT64_MAX;  ///< bytes of a copy
    for (const auto& [array, most] : most_taken(exchange, tiles_, aliases_)) {
      if (!holds(array)) continue;
      const std::uint64_t each = std::max<std::uint64_t>(1, most.bytes / most.pulls);
      least = std::min(least, each);
      sends += parts_.bytes(array) / each + 1;
      own.copies.push_back({parts_({array}), 1, {parts_({array})}});
    }
    if (exchange.sends) sends = std::min(sends, exchange.sends(tile_) / least + own.copies.size());
    for (const auto& [array, bytes] : destinations(pulls))
      own.copies.push_back({parts_({array}), 1, {parts_({array})}});
    if (own.copies.empty()) return into.steps.push_back({program::ComputeSet{exchange.name, {}}});
    list_bytes_.push_back(list_bytes(sends, pulls.size()));
    into.steps.push_back({std::move(own)});
  }

  static std::map<BufferId, std::uint64_t> destinations(const Pulls& pulls) {
    std::map<BufferId, std::uint64_t> all;
    for (const Pull& pull : pulls) all[pull.into.buffer] += pull.bytes;
    return all;
  }

  program::HostTransfer given(Tile tiles, const std::function<void(Tile, HostPieces&)>& of) {
    program::HostTransfer transfer{program::HostTransfer::Direction::read, {}};
    if (tile_ < tiles) of(tile_, transfer.pieces);
    for (program::HostPiece& piece : transfer.pieces) piece.place = parts_(piece.place);
    return transfer;
  }

  void add(program::Sequence& into, const Host& host) {
    program::HostTransfer transfer = given(host.tiles, host.pieces);
    transfer.direction = host.direction;
    list_bytes_.push_back(0);  // the compiler sizes its list
    into.steps.push_back(
        {program::Exchange{host.name, {}, {}, program::kEveryStart, std::move(transfer)}});
  }

  void add(program::Sequence& into, const Repeat& repeat) {
    into.steps.push_back({program::Repeat{repeat.count, reduced(repeat.body)}});
  }

  void add(program::Sequence& into, const While& loop) {
    into.steps.push_back({program::While{
        loop.name, reduced(loop.test), reduced(loop.body), {parts_(loop.decision)}}});
  }

  std::span<const Tile> tiles_;
  Tile tile_;
  program::Program sample_{1};
  Aliases aliases_;
  Parts parts_;
  std::vector<std::uint64_t> list_bytes_;  ///< by exchange
  std::map<std::pair<const Rounds*, Transfer::What>, program::ExchangeId> transfers_;
  std::uint64_t argument_bytes_ = 0;
};

std::optional<program::CategoryBytes> Pricing::memory(const Description& description,
                                                      std::span<const Tile> tiles) {
  constexpr std::uint64_t kAddressable = std::uint64_t{1} << 31;
  for (const Tile tile : tiles)
    for (const Array& array : description.arrays())
      if (array.bytes(tile) >= kAddressable) return std::nullopt;
  const std::uint64_t room = std::uint64_t{machine().tile.sram_kib} * 1024;
  MachineConfig alone = program::compiled_for(machine());
  alone.tiles = 1;
  alone.tile.sram_kib = UINT32_MAX / 1024;
  program::CategoryBytes most{};
  for (const Tile tile : tiles) {
    const Sample sample(description, tiles, tile);
    const bool far_over = program::total(sample.unshared()) > kFarOver * room;
    const program::CategoryBytes needs =
        far_over ? sample.unshared()
                 : program::needs(sample.program(), alone, sample).memory.on_max;
    if (program::total(needs) > program::total(most)) most = needs;
  }
  return most;
}

}  // namespace tessera::plan
