#include "sim/plan/sent_streams.h"

#include <map>
#include <tuple>

#include <doctest/doctest.h>

#include "sim/plan/lower.h"

using namespace tessera;
using plan::Description;
using plan::SentStreams;
using program::BufferId;

namespace {

constexpr plan::Tile kTiles = 5;

/// Tiles that pull from two arrays of their neighbours: some pull the same bytes, some parts of
/// them, and the last tile pulls most.
struct Neighbours {
  Description d{kTiles};
  BufferId first = add("first", 64);
  BufferId second = add("second", 64);
  BufferId into = add("into", 256);

  Neighbours() {
    d.exchange("all", kTiles, [this](plan::Tile tile, plan::Pulls& pulls) {
      pulls.push_back({{into}, 0, {first}, 32});
      pulls.push_back({{into, 32}, (tile + 1) % kTiles, {second, 16}, 16});
      if (tile >= 2) pulls.push_back({{into, 48}, 1, {second, (tile % 2) * 32}, 32});
      if (tile == 4) pulls.push_back({{into, 96}, 2, {first}, 4});
      if (tile == 4) pulls.push_back({{into, 100}, 2, {first}, 0});
    });
    d.repeat(3, [this] {
      d.exchange("again", 2, [this](plan::Tile tile, plan::Pulls& pulls) {
        pulls.push_back({{into, 128}, 1 - tile, {first, 8}, 8});
      });
    });
  }

  BufferId add(std::string_view name, std::uint64_t bytes) {
    return d.array({name, [bytes](plan::Tile) { return bytes; }});
  }
};

/// Number of copies in the lowered program by exchange, tile and array.
using Streams = std::map<std::tuple<std::string, plan::Tile, std::string>, std::uint64_t>;

void add_copies(const program::Program& program, const program::Sequence& sequence,
                Streams& counts) {
  for (const program::Step& step : sequence.steps) {
    if (const auto* repeat = std::get_if<program::Repeat>(&step.action))
      add_copies(program, repeat->body, counts);
    if (const auto* exchange = std::get_if<program::Exchange>(&step.action))
      for (const program::Copy& copy : exchange->copies) {
        const program::Buffer& from = program.buffer(copy.source.buffer);
        ++counts[{exchange->name, index(from.tile), std::string(from.name)}];
      }
  }
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("tiles send the streams that the program has copies") {
    const Neighbours of;
    const program::Program program = plan::lower(of.d);
    Streams lowered;
    add_copies(program, program.main(), lowered);
    const SentStreams sent(of.d);
    Streams counted;
    for (const plan::Exchange* exchange : plan::exchanges_of(of.d.steps()))
      for (plan::Tile tile = 0; tile < kTiles; ++tile)
        for (const SentStreams::Sent& its : sent.of(*exchange, tile))
          counted[{exchange->name, tile, std::string(of.d.array(its.array).name)}] = its.streams;
    CHECK(counted == lowered);
    CHECK(lowered.at({"all", 0, "first"}) == 1);
    CHECK(lowered.at({"all", 1, "second"}) == 3);
  }

  TEST_CASE("the tile of the longest lists is found") {
    CHECK(SentStreams(Neighbours().d).longest_lists() == 1);
  }
}
