#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "sim/program/liveness.h"
#include "tests/sim/program/random_program.h"

using namespace tessera;
using namespace tessera::program;
using namespace tessera::program::samples;

namespace {

/// Executes a program with an owner for each byte of SRAM. A use of a buffer takes ownership of its
/// bytes; if the buffer held a value, it must still own them.
class OwnershipCheck {
 public:
  OwnershipCheck(const Program& program, const Images& images, std::uint32_t seed)
      : program_(program), images_(images), decisions_(seed) {
    count_uses(program.main(), uses_);
  }

  /// How often a buffer had been overwritten by another one.
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
  static constexpr BufferId kNobody{~0U};

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

  /// Buffers used only in this body carry no value from one iteration to the next.
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
    const Buffer& buffer = program_.buffer(id);
    const std::uint32_t begin = images_.buffer_address[static_cast<std::size_t>(id)].count();
    std::vector<BufferId>& owners = owners_[index(buffer.tile)];
    owners.resize(std::max<std::size_t>(owners.size(), begin + buffer.bytes), kNobody);
    for (std::uint32_t i = 0; i < buffer.bytes; ++i) visit(owners[begin + i]);
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
  std::map<std::uint32_t, std::vector<BufferId>> owners_;  ///< by tile, of each byte
  std::size_t violations_ = 0;
};

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
    CHECK(sharing > 500);  // many of these programs do share memory
  }
}
