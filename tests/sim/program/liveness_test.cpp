#include "sim/program/liveness.h"

#include <map>
#include <sstream>

#include <doctest/doctest.h>

#include "tests/sim/program/samples.h"

using namespace tessera::program;
using namespace tessera::program::samples;

namespace {

/// A program of two tiles from words, one for each step. Letters are the buffers that a compute set
/// of tile 0 uses, `.` uses none; `copy` copies from f to t, `start` and `wait` do it in flight;
/// `3( ... )` repeats, `while( ... do ... )` has a test and a body. A step with `!` is not
/// measured. Buffers i and j have contents, k is kept, t is on tile 1.
class Steps {
 public:
  explicit Steps(const std::string& words) { program.main().steps = read(words); }

  std::vector<Step> read(const std::string& words) {
    std::istringstream in(words);
    return read(in);
  }
  [[nodiscard]] Lifetime life(BufferId id) const {
    return lifetimes(program, flatten(program))[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] Lifetime life(char name) { return life(buffer(name)); }
  /// By step: true if it starts with a barrier.
  [[nodiscard]] std::vector<bool> barriers() const {
    std::vector<bool> found;
    for (const FlatStep& step : flatten(program).steps) found.push_back(step.sync);
    return found;
  }

  Program program = with_codelet(2);
  std::vector<Place> decisions = decision_words(program);

 private:
  BufferId buffer(char name) {
    if (const auto known = buffers_.find(name); known != buffers_.end()) return known->second;
    const BufferId made = name == 'i' || name == 'j' ? add_initialised(program, 0, 8)
                          : name == 'k'              ? add_kept(program, 0, 8)
                                                     : add_buffer(program, name == 't' ? 1 : 0, 8);
    return buffers_[name] = made;
  }
  std::vector<Step> read(std::istringstream& in) {
    std::vector<Step> steps;
    for (std::string word; in >> word && word != ")" && word != "do";) {
      const bool measured = word.back() != '!';
      if (!measured) word.pop_back();
      steps.push_back(step(word, in));
      steps.back().measured = measured;
    }
    return steps;
  }
  Step step(const std::string& word, std::istringstream& in) {
    if (word == ".") return compute({});
    if (word == "copy") return exchange(buffer('f'), {buffer('t')}, 8);
    if (word == "start") return {Start{pass_}};
    if (word == "wait") return {Wait{pass_}};
    if (word == "while(") {
      std::vector<Step> test = read(in);
      return loop_while(decisions, std::move(test), read(in));
    }
    if (word.ends_with("(")) return repeat(static_cast<std::uint32_t>(std::stoul(word)), read(in));
    std::vector<BufferId> used;
    for (const char name : word) used.push_back(buffer(name));
    return compute({vertex(word == "t" ? 1 : 0, used)});
  }

  std::map<char, BufferId> buffers_;
  ExchangeId pass_ = program.add_exchange({"pass", {{{buffer('f')}, 8, {{buffer('t')}}}}});
};

std::vector<bool> barriers(const std::string& words) { return Steps(words).barriers(); }

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a buffer lives from its first to its last use") {
    Steps of(". a . a .");
    CHECK(of.life('a') == Lifetime{1, 3});
    CHECK(!of.life('u').used());
  }

  TEST_CASE("contents are live from before the first step, kept buffers to after the last") {
    Steps of(". ik .");
    CHECK(of.life('i') == Lifetime{-1, 1});
    CHECK(of.life('k') == Lifetime{1, 3});
    CHECK(!of.life('j').used());
  }

  TEST_CASE("both ends of a copy are live during its exchange") {
    Steps of("f copy t");
    CHECK(of.life('f') == Lifetime{0, 1});
    CHECK(of.life('t') == Lifetime{1, 2});
  }

  TEST_CASE("both ends of an exchange in flight live from its start to its wait") {
    Steps of(". start . wait .");
    CHECK(of.life('f') == Lifetime{1, 3});
    CHECK(of.life('t') == Lifetime{1, 3});
    // Across the end of an iteration it lives during the whole loop.
    CHECK(Steps("start 3( . wait start . ) wait").life('f') == Lifetime{0, 5});
  }

  TEST_CASE("each zone has steps of its own, in which its tiles' buffers live") {
    Steps of("");
    of.program.part({0, 1});
    of.program.steps(0).steps = of.read(". start wait");
    of.program.steps(1).steps = of.read("start . . wait");
    CHECK(of.life('f') == Lifetime{1, 2});
    CHECK(of.life('t') == Lifetime{3, 6});
  }

  TEST_CASE("starts and waits take no barrier, nor does what computes beside them") {
    CHECK(barriers(". start . . wait . start! wait!") ==
          std::vector<bool>{true, false, false, true, false, false, true, false});
    CHECK(barriers("2( start . wait )")[0]);  // the program's first
    CHECK(!barriers(". 2( start . wait )")[1]);
    CHECK(barriers("start! 2( wait! start ) wait")[1]);  // after the loop's last, measured step
  }

  TEST_CASE("a buffer used only within one iteration does not fill the loop") {
    CHECK(Steps("3( . a a . )").life('a') == Lifetime{1, 2});
  }

  TEST_CASE("a buffer live into a loop stays live to the loop's end") {
    Steps of("b 3( . baik . ) a");
    CHECK(of.life('b') == Lifetime{0, 3});
    CHECK(of.life('a') == Lifetime{1, 4});
    CHECK(of.life('i') == Lifetime{-1, 3});
    CHECK(of.life('k') == Lifetime{1, 5});
  }

  TEST_CASE("a life that crosses an inner loop's edge fills the inner loop only") {
    Steps of("o 2( . 2( . ao . ) a . )");
    CHECK(of.life('a') == Lifetime{2, 5});
    CHECK(of.life('o') == Lifetime{0, 6});
  }

  TEST_CASE("buffers passed between the test of a while and its body are live during all of it") {
    Steps of("b while( . a c . do . ab d . ) .");
    CHECK(of.life('a') == Lifetime{1, 8});
    CHECK(of.life('c') == Lifetime{3, 3});
    CHECK(of.life('d') == Lifetime{7, 7});
    CHECK(of.life('b') == Lifetime{0, 8});
    CHECK(of.life(of.decisions[0].buffer) == Lifetime{4, 4});
  }

  TEST_CASE("a barrier begins a while's test, its body and what follows") {
    const Steps of("copy while( . copy . do . copy ) .");
    CHECK(of.barriers() == std::vector<bool>{true, true, true, false, true, true, true});
    const Flow flow = flatten(of.program);
    REQUIRE(flow.loops.size() == 1);
    CHECK(flow.loops[0].body == 4);
    CHECK(flow.loops[0].end == 6);
  }

  TEST_CASE("a compute set after an exchange needs no barrier of its own") {
    CHECK(barriers(". copy . . copy") == std::vector<bool>{true, true, false, true, true});
  }

  TEST_CASE("a loop's first step and the edge of the measured region have barriers") {
    CHECK(barriers("copy! . copy 2( . copy ) .") ==
          std::vector<bool>{true, true, true, true, true, false});
  }

  TEST_CASE("loops of no iteration vanish and loops of one are flat") {
    const Flow flow = flatten(Steps("0( . ) 1( . ) 5( ) 2( 3( . ) . )").program);
    CHECK(flow.steps.size() == 3);
    REQUIRE(flow.loops.size() == 2);
    CHECK(flow.loops[0].begin == 1);
    CHECK(flow.loops[0].end == 3);
    CHECK(flow.loops[1].end == 2);
    CHECK(flow.loops[1].count == 3);
    CHECK(flow.loops[1].depth == 1);
  }
}
