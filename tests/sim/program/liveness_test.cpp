#include "sim/program/liveness.h"

#include <doctest/doctest.h>

#include "tests/sim/program/samples.h"

using namespace tessera::program;
using namespace tessera::program::samples;

namespace {

Lifetime life_of(const Program& program, BufferId id) {
  return lifetimes(program, flatten(program))[static_cast<std::size_t>(id)];
}

/// Two tiles with a buffer each, and the exchange of one with the other.
struct Pair {
  Program program = with_codelet(2);
  BufferId from = add_buffer(program, 0, 8);
  BufferId to = add_buffer(program, 1, 8);
  Step copy = exchange(from, {to}, 8);
  ExchangeId pass = program.add_exchange({"pass", {{{from}, 8, {{to}}}}});
  std::vector<Step>& steps = program.main().steps;
};

/// A compute set of tile 0 that uses these; one that does nothing.
Step use(const std::vector<BufferId>& buffers) { return compute({vertex(0, buffers)}); }
Step idle() { return compute({}); }

/// Whether each step begins with a barrier.
std::vector<bool> barriers(const Program& program) {
  std::vector<bool> found;
  for (const FlatStep& step : flatten(program).steps) found.push_back(step.sync);
  return found;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a buffer lives from its first to its last use") {
    Program program = with_codelet(1);
    const BufferId a = add_buffer(program, 0, 8);
    const BufferId unused = add_buffer(program, 0, 8);
    program.main().steps = {idle(), use({a}), idle(), use({a}), idle()};
    CHECK(life_of(program, a) == Lifetime{1, 3});
    CHECK(!life_of(program, unused).used());
  }

  TEST_CASE("contents are live from before the first step, kept buffers to after the last") {
    Program program = with_codelet(1);
    const BufferId input = add_initialised(program, 0, 8);
    const BufferId output = add_kept(program, 0, 8);
    const BufferId forgotten = add_initialised(program, 0, 8);
    program.main().steps = {idle(), use({input, output}), idle()};
    CHECK(life_of(program, input) == Lifetime{-1, 1});
    CHECK(life_of(program, output) == Lifetime{1, 3});
    CHECK(!life_of(program, forgotten).used());
  }

  TEST_CASE("both ends of a copy are live during its exchange") {
    Pair of;
    of.steps = {use({of.from}), of.copy, compute({vertex(1, {of.to})})};
    CHECK(life_of(of.program, of.from) == Lifetime{0, 1});
    CHECK(life_of(of.program, of.to) == Lifetime{1, 2});
  }

  TEST_CASE("both ends of an exchange in flight live from its start to its wait") {
    Pair of;
    const Step start{Start{of.pass}}, wait{Wait{of.pass}};
    of.steps = {idle(), start, idle(), wait, idle()};
    CHECK(life_of(of.program, of.from) == Lifetime{1, 3});
    CHECK(life_of(of.program, of.to) == Lifetime{1, 3});
    // Over the end of an iteration it lives during the whole loop.
    of.steps = {start, repeat(3, {idle(), wait, start, idle()}), wait};
    CHECK(life_of(of.program, of.from) == Lifetime{0, 5});
  }

  TEST_CASE("each zone has steps of its own, in which its tiles' buffers live") {
    Pair of;
    const Step start{Start{of.pass}}, wait{Wait{of.pass}};
    of.program.part({0, 1});
    of.program.steps(0).steps = {idle(), start, wait};
    of.program.steps(1).steps = {start, idle(), idle(), wait};
    CHECK(life_of(of.program, of.from) == Lifetime{1, 2});
    CHECK(life_of(of.program, of.to) == Lifetime{3, 6});
  }

  TEST_CASE("starts and waits take no barrier, nor does what computes beside them") {
    Pair of;
    const Step start{Start{of.pass}}, wait{Wait{of.pass}};
    of.steps = {idle(),
                start,
                idle(),
                idle(),
                wait,
                idle(),
                {Start{of.pass}, false},
                {Wait{of.pass}, false}};
    CHECK(barriers(of.program) ==
          std::vector<bool>{true, false, false, true, false, false, true, false});
    of.steps = {repeat(2, {start, idle(), wait})};
    CHECK(barriers(of.program)[0]);  // the program's first
    of.steps = {idle(), repeat(2, {start, idle(), wait})};
    CHECK(!barriers(of.program)[1]);
    of.steps = {{Start{of.pass}, false}, repeat(2, {{Wait{of.pass}, false}, start}), wait};
    CHECK(barriers(of.program)[1]);  // behind the last step of the loop, which is measured
  }

  TEST_CASE("a buffer used only within one iteration does not fill the loop") {
    Program program = with_codelet(1);
    const BufferId a = add_buffer(program, 0, 8);
    program.main().steps = {repeat(3, {idle(), use({a}), use({a}), idle()})};
    CHECK(life_of(program, a) == Lifetime{1, 2});
  }

  TEST_CASE("a buffer live into a loop stays live to the loop's end") {
    Program program = with_codelet(1);
    const BufferId before = add_buffer(program, 0, 8);
    const BufferId after = add_buffer(program, 0, 8);
    const BufferId constant = add_initialised(program, 0, 8);
    const BufferId result = add_kept(program, 0, 8);
    program.main().steps = {use({before}),
                            repeat(3, {idle(), use({before, after, constant, result}), idle()}),
                            use({after})};
    CHECK(life_of(program, before) == Lifetime{0, 3});
    CHECK(life_of(program, after) == Lifetime{1, 4});
    CHECK(life_of(program, constant) == Lifetime{-1, 3});
    CHECK(life_of(program, result) == Lifetime{1, 5});
  }

  TEST_CASE("a life that crosses an inner loop's edge fills the inner loop only") {
    Program program = with_codelet(1);
    const BufferId a = add_buffer(program, 0, 8);
    const BufferId around = add_buffer(program, 0, 8);
    program.main().steps = {
        use({around}),
        repeat(2, {idle(), repeat(2, {idle(), use({a, around}), idle()}), use({a}), idle()})};
    CHECK(life_of(program, a) == Lifetime{2, 5});
    CHECK(life_of(program, around) == Lifetime{0, 6});
  }

  TEST_CASE("what passes between the test of a while and its body lives during all of it") {
    Program program = with_codelet(1);
    const BufferId flag = add_buffer(program, 0, 8);
    const BufferId in_test = add_buffer(program, 0, 8);
    const BufferId in_body = add_buffer(program, 0, 8);
    const BufferId before = add_buffer(program, 0, 8);
    const std::vector<Place> decisions = decision_words(program);
    program.main().steps = {use({before}),
                            loop_while(decisions, {idle(), use({flag}), use({in_test}), idle()},
                                       {idle(), use({flag, before}), use({in_body}), idle()}),
                            idle()};
    CHECK(life_of(program, flag) == Lifetime{1, 8});
    CHECK(life_of(program, in_test) == Lifetime{3, 3});
    CHECK(life_of(program, in_body) == Lifetime{7, 7});
    CHECK(life_of(program, before) == Lifetime{0, 8});
    CHECK(life_of(program, decisions[0].buffer) == Lifetime{4, 4});
  }

  TEST_CASE("a barrier begins a while's test, its body and what follows") {
    Pair of;
    of.steps = {
        of.copy,
        loop_while(decision_words(of.program), {idle(), of.copy, idle()}, {idle(), of.copy}),
        idle()};
    CHECK(barriers(of.program) == std::vector<bool>{true, true, true, false, true, true, true});
    const Flow flow = flatten(of.program);
    REQUIRE(flow.loops.size() == 1);
    CHECK(flow.loops[0].body == 4);
    CHECK(flow.loops[0].end == 6);
  }

  TEST_CASE("a compute set after an exchange needs no barrier of its own") {
    Pair of;
    of.steps = {idle(), of.copy, idle(), idle(), of.copy};
    CHECK(barriers(of.program) == std::vector<bool>{true, true, false, true, true});
  }

  TEST_CASE("a loop's first step and the edge of the measured region have barriers") {
    Pair of;
    Step unmeasured = of.copy;
    unmeasured.measured = false;
    of.steps = {unmeasured, idle(), of.copy, repeat(2, {idle(), of.copy}), idle()};
    CHECK(barriers(of.program) == std::vector<bool>{true, true, true, true, true, false});
  }

  TEST_CASE("loops of no iteration vanish and loops of one are flat") {
    Program program = with_codelet(1);
    program.main().steps = {repeat(0, {idle()}), repeat(1, {idle()}), repeat(5, {}),
                            repeat(2, {repeat(3, {idle()}), idle()})};
    const Flow flow = flatten(program);
    CHECK(flow.steps.size() == 3);
    REQUIRE(flow.loops.size() == 2);
    CHECK(flow.loops[0].begin == 1);
    CHECK(flow.loops[0].end == 3);
    CHECK(flow.loops[1].end == 2);
    CHECK(flow.loops[1].count == 3);
    CHECK(flow.loops[1].depth == 1);
  }
}
