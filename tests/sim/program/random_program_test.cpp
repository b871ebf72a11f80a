#include <map>
#include <random>
#include <set>

#include <doctest/doctest.h>

#include "sim/program/liveness.h"
#include "tests/sim/program/control_trace.h"
#include "tests/sim/program/samples.h"

using namespace tessera;
using namespace tessera::program;
using namespace tessera::program::samples;

namespace {

constexpr std::uint32_t kTiles = 3;
constexpr std::uint32_t kBuffers = 15;
constexpr std::size_t kSram = 262144;

/// Whether the n-th decision of a run is to go on: the same for every tile.
class Decisions {
 public:
  explicit Decisions(std::uint32_t seed) : random_(seed) {}
  bool next() { return random_() % 5 < 2; }

 private:
  std::mt19937 random_;
};

/// Draws programs of nested loops, compute sets and exchanges over a few buffers.
class ProgramMaker {
 public:
  explicit ProgramMaker(std::uint32_t seed) : random_(seed) {}

  Program make() {
    Program program(kTiles);
    add_codelet(program, "work", 16);
    for (std::uint32_t i = 0; i < kBuffers; ++i) add_random_buffer(program, i % kTiles);
    program.main() = sequence(0);
    return program;
  }

 private:
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }

  void add_random_buffer(Program& program, std::uint32_t tile) {
    const std::uint32_t bytes = 4 + 4 * below(30);
    switch (below(6)) {
      case 0:
        add_initialised(program, tile, bytes);
        break;
      case 1:
        add_kept(program, tile, bytes);
        break;
      default:
        add_buffer(program, tile, bytes);
        break;
    }
  }

  BufferId on_tile(std::uint32_t tile) {
    return BufferId{tile + kTiles * below(kBuffers / kTiles)};
  }

  Sequence sequence(std::uint32_t depth) {
    Sequence made;
    const std::uint32_t steps = 1 + below(5);
    for (std::uint32_t i = 0; i < steps; ++i) {
      if (depth < 3 && below(3) == 0) {
        made.steps.push_back({Repeat{below(4), sequence(depth + 1)}, true});
      } else if (depth < 3 && below(5) == 0) {
        made.steps.push_back({loop(depth)});
      } else {
        made.steps.push_back(step());
      }
    }
    return made;
  }

  While loop(std::uint32_t depth) {
    While made{"loop", sequence(depth + 1), {}, {}};
    made.test.steps.push_back(step());  // one at least
    if (below(4) != 0) made.body = sequence(depth + 1);
    for (std::uint32_t tile = 0; tile < kTiles; ++tile) made.decisions.push_back({on_tile(tile)});
    return made;
  }

  Step step() {
    const std::uint32_t tile = below(kTiles);
    if (below(2) == 0) {
      return compute({vertex(tile, {on_tile(tile), on_tile(tile)}, Executor::supervisor)});
    }
    return exchange(on_tile(tile), {on_tile((tile + 1) % kTiles)}, 4);
  }

  std::mt19937 random_;
};

std::set<BufferId> touched_by(const Step& step) {
  std::set<BufferId> touched;
  if (const auto* set = std::get_if<ComputeSet>(&step.action)) {
    for (const Vertex& vertex : set->vertices) {
      for (const Argument& argument : vertex.arguments) {
        touched.insert(std::get<Place>(argument).buffer);
      }
    }
  } else {
    for (const Copy& copy : std::get<Exchange>(step.action).copies) {
      touched.insert(copy.source.buffer);
      for (Place destination : copy.destinations) touched.insert(destination.buffer);
    }
  }
  return touched;
}

/// Walks a program in the order of time with an owner for each byte of SRAM. Whoever touches a
/// buffer owns its bytes; if it held something, it must still own them then.
class OwnershipCheck {
 public:
  OwnershipCheck(const Program& program, const Images& images, std::uint32_t seed)
      : program_(program), images_(images), decisions_(seed) {
    count_uses(program.main(), uses_);
  }

  /// How often a buffer was found overwritten by another.
  std::size_t violations() {
    for (std::uint32_t id = 0; id < program_.buffers().size(); ++id) {
      if (program_.buffers()[id].contents && uses_.count(BufferId{id}) > 0) take(BufferId{id});
    }
    walk(program_.main());
    for (std::uint32_t id = 0; id < program_.buffers().size(); ++id) {
      if (program_.buffers()[id].keep) inspect(BufferId{id});
    }
    return violations_;
  }

 private:
  using Uses = std::map<BufferId, std::size_t>;

  static void count_uses(const Sequence& sequence, Uses& uses) {
    for (const Step& step : sequence.steps) {
      if (const auto* repeat = std::get_if<Repeat>(&step.action)) {
        if (repeat->count > 0) count_uses(repeat->body, uses);
      } else if (const auto* loop = std::get_if<While>(&step.action)) {
        count_uses(*loop, uses);
      } else {
        for (BufferId id : touched_by(step)) ++uses[id];
      }
    }
  }

  static void count_uses(const While& loop, Uses& uses) {
    count_uses(loop.test, uses);
    for (Place place : loop.decisions) ++uses[place.buffer];
    count_uses(loop.body, uses);
  }

  void walk(const Sequence& sequence) {
    for (const Step& step : sequence.steps) {
      if (const auto* repeat = std::get_if<Repeat>(&step.action)) {
        for (std::uint32_t turn = 0; turn < repeat->count; ++turn) {
          forget_local(repeat->body);
          walk(repeat->body);
        }
      } else if (const auto* loop = std::get_if<While>(&step.action)) {
        walk(*loop);
      } else {
        touch(touched_by(step));
      }
    }
  }

  void walk(const While& loop) {
    const While test{loop.name, loop.test, {}, loop.decisions};
    const While body{loop.name, {}, loop.body, {}};
    std::set<BufferId> words;
    for (Place place : loop.decisions) words.insert(place.buffer);
    do {
      forget_local(test);
      walk(loop.test);
      touch(words);
      if (!decisions_.next()) return;
      forget_local(body);
      walk(loop.body);
    } while (true);
  }

  void touch(const std::set<BufferId>& touched) {
    for (BufferId id : touched) inspect(id);
    for (BufferId id : touched) take(id);
    for (BufferId id : touched) inspect(id);
  }

  /// Buffers used in this body only carry nothing from one iteration to the next.
  template <class Part>
  void forget_local(const Part& body) {
    Uses inside;
    count_uses(body, inside);
    for (const auto& [id, count] : inside) {
      const Buffer& buffer = program_.buffer(id);
      if (count == uses_[id] && !buffer.keep && !buffer.contents) holding_.erase(id);
    }
  }

  template <class Visit>
  void for_bytes(BufferId id, Visit visit) {
    const std::uint32_t begin = images_.buffer_address[static_cast<std::size_t>(id)].count();
    for (std::uint32_t i = 0; i < program_.buffer(id).bytes; ++i) {
      visit(owner_[{index(program_.buffer(id).tile), begin + i}]);
    }
  }

  void take(BufferId id) {
    holding_.insert(id);
    for_bytes(id, [&](BufferId& owner) { owner = id; });
  }

  void inspect(BufferId id) {
    if (holding_.count(id) == 0) return;
    bool whole = true;
    for_bytes(id, [&](const BufferId& owner) { whole = whole && owner == id; });
    violations_ += whole ? 0 : 1;
  }

  const Program& program_;
  const Images& images_;
  Decisions decisions_;
  Uses uses_;
  std::set<BufferId> holding_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, BufferId> owner_;
  std::size_t violations_ = 0;
};

/// What the control code of `tile` has to do, from the program alone: calls with the address of
/// their first argument, exchanges.
void expect_events(const Program& program, const Images& images, const Sequence& sequence,
                   std::uint32_t tile, Decisions& decisions, std::vector<std::string>& events) {
  for (const Step& step : sequence.steps) {
    if (const auto* repeat = std::get_if<Repeat>(&step.action)) {
      for (std::uint32_t turn = 0; turn < repeat->count; ++turn) {
        expect_events(program, images, repeat->body, tile, decisions, events);
      }
      continue;
    }
    if (const auto* loop = std::get_if<While>(&step.action)) {
      expect_events(program, images, loop->test, tile, decisions, events);
      while (decisions.next()) {
        expect_events(program, images, loop->body, tile, decisions, events);
        expect_events(program, images, loop->test, tile, decisions, events);
      }
      continue;
    }
    if (const auto* set = std::get_if<ComputeSet>(&step.action)) {
      const Vertex& vertex = set->vertices.front();
      if (index(vertex.tile) != tile) continue;
      const BufferId first = std::get<Place>(vertex.arguments.front()).buffer;
      events.push_back(fmt::format("call work {}",
                                   images.buffer_address[static_cast<std::size_t>(first)].count()));
      continue;
    }
    const std::set<BufferId> touched = touched_by(step);
    const bool takes_part = std::any_of(touched.begin(), touched.end(), [&](BufferId id) {
      return index(program.buffer(id).tile) == tile;
    });
    if (takes_part) events.emplace_back("exch");
  }
}

std::vector<std::string> without_barriers(const std::vector<std::string>& events) {
  std::vector<std::string> kept;
  for (const std::string& event : events) {
    if (event.starts_with("exch")) kept.emplace_back("exch");
    if (event.starts_with("call")) kept.push_back(event);
  }
  return kept;
}

std::vector<std::string> barriers(const std::vector<std::string>& events) {
  std::vector<std::string> kept;
  for (const std::string& event : events) {
    if (event.starts_with("sync")) kept.push_back(event);
  }
  return kept;
}

std::uint64_t placed_bytes(const Images& images) {
  std::uint64_t bytes = 0;
  for (const TileImage& tile : images.tiles) {
    bytes += tile.memory[static_cast<std::size_t>(Category::tensors)];
  }
  return bytes;
}

std::uint64_t used_bytes(const Program& program) {
  const std::vector<Lifetime> lives = lifetimes(program, flatten(program));
  std::uint64_t bytes = 0;
  for (std::size_t id = 0; id < lives.size(); ++id) {
    bytes += lives[id].used() ? program.buffers()[id].bytes : 0;
  }
  return bytes;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("in random programs no buffer loses what it holds to another") {
    std::size_t sharing = 0;
    for (std::uint32_t seed = 0; seed < 2000; ++seed) {
      const Program program = ProgramMaker(seed).make();
      const Images images = compile(program, machine(kTiles), CountingExchanges());
      REQUIRE_MESSAGE(OwnershipCheck(program, images, seed).violations() == 0, "seed ", seed);
      sharing += placed_bytes(images) < used_bytes(program) ? 1 : 0;
    }
    CHECK(sharing > 500);  // the check above is of programs that do share
  }

  TEST_CASE("control code does in random programs what their steps say") {
    for (std::uint32_t seed = 0; seed < 1000; ++seed) {
      const Program program = ProgramMaker(seed).make();
      const Images images = compile(program, machine(kTiles), CountingExchanges());
      std::vector<std::string> first_barriers;
      for (std::uint32_t tile = 0; tile < kTiles; ++tile) {
        Decisions decisions(seed);
        const std::vector<std::string> events =
            ControlTrace(images.tiles[tile], kSram, [&] { return decisions.next(); }).run();
        Decisions same(seed);
        std::vector<std::string> expected;
        expect_events(program, images, program.main(), tile, same, expected);
        REQUIRE(without_barriers(events) == expected);
        if (tile == 0) first_barriers = barriers(events);
        REQUIRE(barriers(events) == first_barriers);
      }
    }
  }
}
