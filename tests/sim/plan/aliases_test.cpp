#include "sim/plan/aliases.h"

#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "sim/plan/lower.h"
#include "sim/program/assembler.h"

using namespace tessera;
using plan::Description;
using program::BufferId;
using program::Place;

namespace {

/// One tile whose calls read `taken`, which is filled by pulls from `source`.
struct Case {
  Description d{1};
  BufferId source = add("source", false);
  BufferId other = add("other", false);
  BufferId taken = add("taken", true);

  BufferId add(std::string_view name, bool constant, std::uint64_t bytes = 64) {
    plan::Array array{name, [bytes](plan::Tile) { return bytes; }};
    array.constant = constant;
    return d.array(std::move(array));
  }
  void pull(const std::vector<plan::Pull>& pulls) {
    d.exchange("move", 1, [pulls](plan::Tile, plan::Pulls& all) {
      all.insert(all.end(), pulls.begin(), pulls.end());
    });
  }
  void pull() { pull({{{taken}, 0, {source}, 32}, {{taken, 32}, 0, {source, 32}, 32}}); }
  void call(const std::vector<Place>& places) {
    d.compute("call", 1, [places, code = code()](plan::Tile, plan::Calls& calls) {
      program::Vertex vertex{TileId{0}, code, program::Executor::all_workers, 0, {}};
      for (const Place& place : places) vertex.arguments.emplace_back(place);
      calls.add(vertex);
    });
  }
  std::uint32_t code() {
    program::Assembler end;
    end.control(0);
    return d.code()->add_codelet({"code", end.take()});
  }
  [[nodiscard]] bool aliased() const { return plan::Aliases(d).contains(taken); }
};

/// Adds a step for each word: a pull into `taken` (`pull`; `mixed` with another array; with its
/// halves `swapped`), calls that read `source`, `taken` or `both`, a pull into the source
/// (`overwrite`); `3( ... )` repeats its steps.
void add_steps(Case& of, std::istringstream& words) {
  for (std::string word; words >> word && word != ")";) {
    if (word.ends_with("("))
      of.d.repeat(static_cast<std::uint32_t>(std::stoul(word)), [&] { add_steps(of, words); });
    if (word == "pull") of.pull();
    if (word == "mixed")
      of.pull({{{of.taken}, 0, {of.source}, 32}, {{of.taken, 32}, 0, {of.other, 32}, 32}});
    if (word == "swapped")
      of.pull({{{of.taken}, 0, {of.source, 32}, 32}, {{of.taken, 32}, 0, {of.source}, 32}});
    if (word == "overwrite") of.pull({{{of.source}, 0, {of.other}, 8}});
    if (word == "source") of.call({{of.source}});
    if (word == "taken") of.call({{of.taken}});
    if (word == "both") of.call({{of.taken}, {of.source}});
  }
}

bool aliased(const std::string& steps) {
  Case of;
  std::istringstream words(steps);
  add_steps(of, words);
  return of.aliased();
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a tile alone does not copy what calls only read") {
    Case one;
    one.call({{one.source}});
    one.pull({{{one.taken}, 0, {one.source, 8}, 16}});
    one.call({{one.taken, 4}, {one.other}});
    one.d.repeat(3, [&] { one.call({{one.other}}); });
    const program::Program before = plan::lower(one.d);
    CHECK(before.buffers().size() == 3);  // 8 + 64 bytes exceed the source

    Case less;
    less.taken = less.add("less", true, 16);
    less.pull({{{less.taken}, 0, {less.source, 8}, 16}});
    less.call({{less.taken, 4}, {less.other}});
    const program::Program program = plan::lower(less.d);
    program::validate(program);
    CHECK(std::get<program::Exchange>(program.main().steps[0].action).copies.empty());
    const auto& call = std::get<program::ComputeSet>(program.main().steps[1].action).vertices.at(0);
    const Place place = std::get<Place>(call.arguments[0]);
    CHECK(program.buffer(place.buffer).name == "source");
    CHECK(place.offset == 12);
  }

  TEST_CASE("data read again in later turns are pulled again in each") {
    CHECK(aliased("3( source pull 2( taken ) source )"));
    CHECK_FALSE(aliased("3( taken pull )"));  // the first iteration reads the earlier contents
    CHECK_FALSE(aliased("3( pull ) taken"));
  }

  TEST_CASE("an array is copied to where its source is written before it is read") {
    CHECK(aliased("pull taken source"));
    CHECK_FALSE(aliased("pull source taken"));
    CHECK_FALSE(aliased("pull both"));
    CHECK_FALSE(aliased("pull 3( taken source )"));  // the next iteration reads it
    CHECK_FALSE(aliased("pull overwrite taken"));
  }

  TEST_CASE("an array is copied to where its bytes come from several places or steps") {
    for (const char* steps : {"mixed taken", "swapped taken", "pull taken pull taken"})
      CHECK_FALSE(aliased(steps));
  }

  TEST_CASE("a copy of a copy is made") {
    Case of;
    const BufferId second = of.add("second", true);
    of.pull();
    of.pull({{{second}, 0, {of.taken}, 64}});
    of.call({{second}});
    const plan::Aliases aliases(of.d);
    CHECK(aliases.contains(of.taken));
    CHECK_FALSE(aliases.contains(second));
    program::validate(plan::lower(of.d));
  }

  TEST_CASE("arrays that calls may write, or that the host reads or gives, are copied to") {
    Case of;
    of.taken = of.add("written", false);
    of.pull();
    CHECK_FALSE(of.aliased());
    Case kept;
    kept.taken = kept.d.array({"kept", [](plan::Tile) { return std::uint64_t{64}; }, true});
    kept.pull();
    CHECK_FALSE(kept.aliased());
    Case fed;
    fed.pull();
    fed.d.host("feed", program::HostTransfer::Direction::read, 1,
               [source = fed.source](plan::Tile, plan::HostPieces& pieces) {
                 pieces.push_back({{source}, 16, [](auto, std::uint64_t) {}});
               });
    CHECK_FALSE(fed.aliased());
  }

  TEST_CASE("on several tiles all is copied") {
    Description d(2);
    plan::Array array{"taken", [](plan::Tile) { return std::uint64_t{64}; }};
    array.constant = true;
    const BufferId taken = d.array(array);
    const BufferId source = d.array({"source", array.bytes});
    d.exchange("move", 2, [=](plan::Tile tile, plan::Pulls& pulls) {
      pulls.push_back({{taken}, tile, {source}, 64});
    });
    CHECK_FALSE(plan::Aliases(d).contains(taken));
  }
}
