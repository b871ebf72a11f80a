#include <algorithm>

#include "sim/base/errors.h"
#include "sim/plan/description.h"

// Unrolls rounds over external operands into single steps.
namespace tessera::plan {
namespace {

using What = Transfer::What;

class Unrolling {
 public:
  explicit Unrolling(const Rounds& rounds) : rounds_(rounds) {}

  Sequence alone() {
    Sequence pass{whole(What::load), body(rounds_.first)};
    add(pass, rounds_.rounds - 1, {whole(What::load), body(rounds_.again)});
    pass.push_back(body(rounds_.finish));
    if (rounds_.stores_any()) pass.push_back(whole(What::store));
    Sequence all;
    add(all, rounds_.passes, std::move(pass));
    return all;
  }

  /// Loads run during the previous round, into the other set.
  Sequence overlapping() {
    const std::uint32_t passes = rounds_.passes;
    const std::uint32_t rounds = rounds_.rounds;
    check(passes == 1 || rounds == 1 || rounds % 2 == 0,
          "plan: {}: passes of {} rounds do not take turns with two sets of arrays", rounds_.name,
          rounds);
    Sequence all{start(What::load)};
    if (rounds_.stores_any()) all.push_back(start(What::store));
    if (rounds == 1) {
      Sequence two;
      add_round(two, rounds_.first, false);
      add_finish(two, false);
      add_round(two, rounds_.first, true);
      add_finish(two, true);
      add(all, passes / 2, std::move(two));
      if (passes % 2 == 1) {
        add_last(all, rounds_.first);
        add_finish(all, false);
      }
    } else {
      Sequence pass;
      add_round(pass, rounds_.first, false);
      add_round(pass, rounds_.again, true);
      Sequence two;
      add_round(two, rounds_.again, false);
      add_round(two, rounds_.again, true);
      add(pass, rounds / 2 - 1, std::move(two));
      if (rounds % 2 == 1) add_last(pass, rounds_.again);
      add_finish(pass, false);
      add(all, passes, std::move(pass));
    }
    // The last started load moves nothing: its turn does not exist.
    if (rounds_.passes * std::uint64_t{rounds} % 2 == 0) all.push_back(wait(What::load));
    if (rounds_.stores_any()) all.push_back(wait(What::store));
    return all;
  }

 private:
  [[nodiscard]] Step whole(What what) const { return {Transfer{&rounds_, what}}; }
  [[nodiscard]] Step start(What what) const { return {Transfer{&rounds_, what, true, false}}; }
  [[nodiscard]] Step wait(What what) const { return {Transfer{&rounds_, what, false, true}}; }
  [[nodiscard]] Step body(const Sequence& steps, bool on_seconds = false) const {
    return {Round{&rounds_, &steps, on_seconds}};
  }

  static void add(Sequence& into, std::uint32_t times, Sequence steps) {
    if (times > 0) into.push_back({Repeat{times, std::move(steps)}});
  }

  void add_round(Sequence& into, const Sequence& steps, bool seconds) const {
    into.push_back(wait(seconds ? What::load_second : What::load));
    into.push_back(start(seconds ? What::load : What::load_second));
    wait_for_store(into, &steps == &rounds_.first);
    into.push_back(body(steps, seconds));
  }
  /// Adds a round after which no other set is filled.
  void add_last(Sequence& into, const Sequence& steps) const {
    into.push_back(wait(What::load));
    wait_for_store(into, &steps == &rounds_.first);
    into.push_back(body(steps));
  }
  void wait_for_store(Sequence& into, bool begins_pass) const {
    if (rounds_.stores_any() && rounds_.in_place && begins_pass) into.push_back(wait(What::store));
  }
  void add_finish(Sequence& into, bool seconds) const {
    if (rounds_.stores_any() && !rounds_.in_place) into.push_back(wait(What::store));
    into.push_back(body(rounds_.finish, seconds));
    if (rounds_.stores_any()) into.push_back(start(What::store));
  }

  const Rounds& rounds_;
};

}  // namespace

Sequence unrolled(const Rounds& rounds) {
  return rounds.seconds.empty() ? Unrolling(rounds).alone() : Unrolling(rounds).overlapping();
}

bool finishes_behind_wait(const Rounds& rounds) {
  const Sequence& last = rounds.rounds == 1 ? rounds.first : rounds.again;
  return last.empty() || (!rounds.seconds.empty() && rounds.stores_any() && !rounds.in_place);
}

bool begin_in_loop(const Rounds& rounds) { return rounds.seconds.empty() && rounds.passes > 1; }

namespace {

/// Number of times these steps start a transfer of this kind.
std::uint32_t starts(const Sequence& steps, What what) {
  std::uint32_t sum = 0;
  for (const Step& step : steps) {
    if (const auto* repeat = std::get_if<Repeat>(&step.action))
      sum += repeat->count * starts(repeat->body, what);
    else if (const auto* transfer = std::get_if<Transfer>(&step.action))
      sum += transfer->starts && transfer->what == what ? 1 : 0;
  }
  return sum;
}

}  // namespace

program::Turns turns_of(const Rounds& rounds, What what) {
  const bool overlaps = !rounds.seconds.empty();
  const std::uint32_t all = rounds.passes * rounds.rounds;
  // The first pass has no previous store: it waits for one that moves nothing.
  program::Turns turns = what == What::store
                             ? program::Turns{rounds.passes, 0, 1, overlaps ? 1U : 0U}
                         : what == What::load ? program::Turns{all, 0, overlaps ? 2U : 1U}
                                              : program::Turns{all, 1, 2};
  std::ranges::copy(what == What::store ? rounds.pass_radices : rounds.radices, turns.radices);
  turns.period = starts(unrolled(rounds), what);
  return turns;
}

}  // namespace tessera::plan
