#include "sim/plan/aliases.h"

#include <algorithm>
#include <optional>
#include <set>

namespace tessera::plan {

namespace {

/// Records, in order, which arrays the one tile's steps name, and where sequences end.
class Walk {
 public:
  explicit Walk(const Description& description) : description_(description) {
    for (const TensorOver& tensor : description.laid_tensors())
      if (const auto* array = std::get_if<BufferId>(&tensor.array)) named_by_host_.insert(*array);
    add(description.steps());
  }

  /// The source of `array`'s pulls, if no copy of it is needed.
  [[nodiscard]] std::optional<Place> source(BufferId array) const {
    const Array& its = description_.array(array);
    const bool plain = its.constant && !its.keep && !its.initialised() && !its.expected;
    const auto pulled = pulled_.find(array);
    if (!plain || named_by_host_.contains(array) || bound_.contains(array) ||
        pulled == pulled_.end() || pulled->second.steps != 1)
      return {};
    const std::optional<Place> from = pulled->second.source;
    if (!from || bound_.contains(from->buffer) || from->buffer == array) return {};
    const Array& other = description_.array(from->buffer);
    if (from->offset + its.bytes(0) > other.bytes(0) || other.align < its.align ||
        from->offset % its.align != 0)
      return {};
    return lasts(array, from->buffer, pulled->second) ? from : std::nullopt;
  }

 private:
  struct Pulled {
    std::size_t step = 0, sequence = 0;  ///< of the last pull
    std::uint32_t steps = 0;
    std::optional<Place> source;  ///< place of the array's first byte; none: several places
  };
  struct Named {
    std::size_t step;
    bool writes;  ///< or may
  };

  void add(const Sequence& steps) {
    const std::size_t outer = std::exchange(sequence_, sequences_.size());
    sequences_.push_back({});
    for (const Step& step : steps)
      std::visit([&](const auto& action) { add(action); }, step.action);
    sequences_[sequence_] = next_;
    sequence_ = outer;
  }
  void add(const Repeat& repeat) {
    nest([&] { add(repeat.body); });
  }
  void add(const While& loop) {
    bound_.insert(loop.decision.buffer);
    nest([&] {
      add(loop.test);
      add(loop.body);
    });
  }
  /// Marks the arrays that loads, stores and host transfers of `rounds` access.
  void add(const Rounds& rounds) {
    for (const auto* arrays : {&rounds.loaded, &rounds.seconds})
      bound_.insert(arrays->begin(), arrays->end());
    for (const auto* moves : {&rounds.loads, &rounds.stores}) {
      Loads loads;
      if (*moves && rounds.tiles > 0) (*moves)(0, loads);
      for (const Load& load : loads) bound_.insert(load.place.buffer);
    }
    HostPieces pieces;
    if (rounds.fed() && rounds.tiles > 0) rounds.feeds(0, pieces);
    for (const program::HostPiece& piece : pieces) bound_.insert(piece.place.buffer);
    nest([&] {
      for (const Sequence* steps : {&rounds.first, &rounds.again, &rounds.finish}) add(*steps);
    });
  }
  void add(const Host& host) {
    HostPieces pieces;
    if (host.tiles > 0) host.pieces(0, pieces);
    for (const program::HostPiece& piece : pieces) bound_.insert(piece.place.buffer);
  }
  void add(const Transfer& /*transfer*/) {}
  void add(const Round& /*round*/) {}
  void add(const Compute& compute) {
    Calls calls;
    if (compute.tiles > 0) compute.calls(0, calls);
    for (const Call& call : calls.all())
      for (const program::Argument& argument : call.vertex.arguments)
        if (const auto* place = std::get_if<Place>(&argument))
          name(place->buffer, !description_.array(place->buffer).constant);
    ++next_;
  }
  void add(const Exchange& exchange) {
    Pulls pulls;
    if (exchange.tiles > 0) exchange.pulls(0, pulls);
    std::set<BufferId> seen;
    for (const Pull& pull : pulls) {
      if (pull.bytes == 0) continue;
      name(pull.source.buffer, false);
      name(pull.into.buffer, true);
      add(pull, seen.insert(pull.into.buffer).second);
    }
    ++next_;
  }

  void add(const Pull& pull, bool first) {
    Pulled& pulled = pulled_[pull.into.buffer];
    std::optional<Place> source;
    if (pull.source.offset >= pull.into.offset)
      source = {pull.source.buffer, pull.source.offset - pull.into.offset};
    if (first) {
      pulled = {next_, sequence_, pulled.steps + 1, source};
    } else if (!source || !pulled.source || source->buffer != pulled.source->buffer ||
               source->offset != pulled.source->offset) {
      pulled.source.reset();
    }
  }

  /// Records a loop: an array named in one of its steps counts as named in all.
  template <class Body>
  void nest(const Body& body) {
    const std::size_t begin = next_;
    body();
    loops_.emplace_back(begin, next_);
  }
  void name(BufferId array, bool writes) { named_[array].push_back({next_, writes}); }

  /// The end of the outermost loop that begins after `after` and contains `step`, else the step's
  /// end.
  [[nodiscard]] std::size_t end_of(std::size_t step, std::size_t after) const {
    std::size_t end = step + 1;
    for (const auto& [begin, its_end] : loops_)
      if (begin > after && begin <= step && step < its_end) end = std::max(end, its_end);
    return end;
  }

  /// True if all reads of `array` come after its pull, in the same iteration of all loops, and
  /// nothing may write `from` until then.
  [[nodiscard]] bool lasts(BufferId array, BufferId from, const Pulled& pulled) const {
    std::size_t end = pulled.step + 1;
    for (const Named& use : named_.at(array)) {
      if (use.step < pulled.step || use.step >= sequences_[pulled.sequence]) return false;
      end = std::max(end, end_of(use.step, pulled.step));
    }
    return std::ranges::none_of(named_.at(from), [&](const Named& use) {
      return use.writes && use.step >= pulled.step && use.step < end;
    });
  }

  const Description& description_;
  std::set<BufferId> named_by_host_;
  std::set<BufferId> bound_;  ///< moved or written beside calls and exchanges
  std::map<BufferId, Pulled> pulled_;
  std::map<BufferId, std::vector<Named>> named_;
  std::vector<std::pair<std::size_t, std::size_t>> loops_;  ///< steps of each
  std::vector<std::size_t> sequences_;                      ///< one past the last step of each
  std::size_t sequence_ = 0, next_ = 0;
};

}  // namespace

Aliases::Aliases(const Description& description) {
  const std::vector<Array>& arrays = description.arrays();
  if (description.tiles() != 1 ||
      std::ranges::none_of(arrays, [](const Array& array) { return array.constant; }))
    return;
  const Walk walk(description);
  for (std::uint32_t id = 0; id < arrays.size(); ++id)
    if (const std::optional<Place> source = walk.source(BufferId(id)))
      of_.emplace(BufferId(id), *source);
  // Drops an alias of an alias: its source would be the array that is no longer written.
  std::erase_if(of_, [all = of_](const auto& one) { return all.contains(one.second.buffer); });
}

Place Aliases::operator()(Place place) const {
  const auto found = of_.find(place.buffer);
  if (found == of_.end()) return place;
  return {found->second.buffer, found->second.offset + place.offset};
}

void Aliases::drop(Pulls& pulls) const {
  if (of_.empty()) return;
  std::erase_if(pulls, [&](const Pull& pull) { return of_.contains(pull.into.buffer); });
}

}  // namespace tessera::plan
