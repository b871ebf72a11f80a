#include "sim/program/liveness.h"

#include <doctest/doctest.h>

#include "tests/sim/program/samples.h"

using namespace tessera::program;
using namespace tessera::program::samples;

namespace {

Lifetime life_of(const Program& program, BufferId id) {
  return lifetimes(program, flatten(program))[static_cast<std::size_t>(id)];
}

Program with_codelet(std::uint32_t tiles) {
  Program program(tiles);
  add_codelet(program, "work", 8);
  return program;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a buffer lives from its first to its last use") {
    Program program = with_codelet(1);
    const BufferId a = add_buffer(program, 0, 8);
    const BufferId unused = add_buffer(program, 0, 8);
    program.main().steps = {compute({}), compute({vertex(0, {a})}), compute({}),
                            compute({vertex(0, {a})}), compute({})};
    CHECK(life_of(program, a) == Lifetime{1, 3});
    CHECK(!life_of(program, unused).used());
  }

  TEST_CASE("contents are live from before the first step, kept buffers to after the last") {
    Program program = with_codelet(1);
    const BufferId input = add_initialised(program, 0, 8);
    const BufferId output = add_kept(program, 0, 8);
    const BufferId forgotten = add_initialised(program, 0, 8);
    program.main().steps = {compute({}), compute({vertex(0, {input, output})}), compute({})};
    CHECK(life_of(program, input) == Lifetime{-1, 1});
    CHECK(life_of(program, output) == Lifetime{1, 3});
    CHECK(!life_of(program, forgotten).used());
  }

  TEST_CASE("both ends of a copy are live during its exchange") {
    Program program = with_codelet(2);
    const BufferId from = add_buffer(program, 0, 8);
    const BufferId to = add_buffer(program, 1, 8);
    program.main().steps = {compute({vertex(0, {from})}), exchange(from, {to}, 8),
                            compute({vertex(1, {to})})};
    CHECK(life_of(program, from) == Lifetime{0, 1});
    CHECK(life_of(program, to) == Lifetime{1, 2});
  }

  TEST_CASE("both ends of an exchange in flight live from its start to its wait") {
    Program program = with_codelet(2);
    const BufferId from = add_buffer(program, 0, 8);
    const BufferId to = add_buffer(program, 1, 8);
    const ExchangeId pass = program.add_exchange({"pass", {{{from}, 8, {{to}}}}});
    program.main().steps = {compute({}), {Start{pass}}, compute({}), {Wait{pass}}, compute({})};
    CHECK(life_of(program, from) == Lifetime{1, 3});
    CHECK(life_of(program, to) == Lifetime{1, 3});
    // Over the end of an iteration it lives during the whole loop.
    program.main().steps = {{Start{pass}},
                            repeat(3, {compute({}), {Wait{pass}}, {Start{pass}}, compute({})}),
                            {Wait{pass}}};
    CHECK(life_of(program, from) == Lifetime{0, 5});
  }

  TEST_CASE("each zone has steps of its own, in which its tiles' buffers live") {
    Program program = with_codelet(2);
    const BufferId from = add_buffer(program, 0, 8);
    const BufferId to = add_buffer(program, 1, 8);
    program.part({0, 1});
    const ExchangeId pass = program.add_exchange({"pass", {{{from}, 8, {{to}}}}});
    program.steps(0).steps = {compute({}), {Start{pass}}, {Wait{pass}}};
    program.steps(1).steps = {{Start{pass}}, compute({}), compute({}), {Wait{pass}}};
    CHECK(life_of(program, from) == Lifetime{1, 2});
    CHECK(life_of(program, to) == Lifetime{3, 6});
  }

  TEST_CASE("starts and waits take no barrier, nor does what computes beside them") {
    Program program = with_codelet(2);
    const ExchangeId pass = program.add_exchange(
        {"pass", {{{add_buffer(program, 0, 8)}, 8, {{add_buffer(program, 1, 8)}}}}});
    program.main().steps = {compute({}),  {Start{pass}}, compute({}),          compute({}),
                            {Wait{pass}}, compute({}),   {Start{pass}, false}, {Wait{pass}, false}};
    std::vector<bool> barriers;
    for (const FlatStep& step : flatten(program).steps) barriers.push_back(step.sync);
    CHECK(barriers == std::vector<bool>{true, false, false, true, false, false, true, false});
    program.main().steps = {repeat(2, {{Start{pass}}, compute({}), {Wait{pass}}})};
    CHECK(flatten(program).steps[0].sync);  // the program's first
    program.main().steps = {compute({}), repeat(2, {{Start{pass}}, compute({}), {Wait{pass}}})};
    CHECK(!flatten(program).steps[1].sync);
    program.main().steps = {
        {Start{pass}, false}, repeat(2, {{Wait{pass}, false}, {Start{pass}}}), {Wait{pass}}};
    CHECK(flatten(program).steps[1].sync);  // behind the last step of the loop, which is measured
  }

  TEST_CASE("a buffer used only within one iteration does not fill the loop") {
    Program program = with_codelet(1);
    const BufferId a = add_buffer(program, 0, 8);
    program.main().steps = {repeat(
        3, {compute({}), compute({vertex(0, {a})}), compute({vertex(0, {a})}), compute({})})};
    CHECK(life_of(program, a) == Lifetime{1, 2});
  }

  TEST_CASE("a buffer live into a loop stays live to the loop's end") {
    Program program = with_codelet(1);
    const BufferId before = add_buffer(program, 0, 8);
    const BufferId after = add_buffer(program, 0, 8);
    const BufferId constant = add_initialised(program, 0, 8);
    const BufferId result = add_kept(program, 0, 8);
    program.main().steps = {
        compute({vertex(0, {before})}),
        repeat(3,
               {compute({}), compute({vertex(0, {before, after, constant, result})}), compute({})}),
        compute({vertex(0, {after})})};
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
        compute({vertex(0, {around})}),
        repeat(2, {compute({}),
                   repeat(2, {compute({}), compute({vertex(0, {a, around})}), compute({})}),
                   compute({vertex(0, {a})}), compute({})})};
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
    program.main().steps = {compute({vertex(0, {before})}),
                            loop_while(decisions,
                                       {compute({}), compute({vertex(0, {flag})}),
                                        compute({vertex(0, {in_test})}), compute({})},
                                       {compute({}), compute({vertex(0, {flag, before})}),
                                        compute({vertex(0, {in_body})}), compute({})}),
                            compute({})};
    CHECK(life_of(program, flag) == Lifetime{1, 8});
    CHECK(life_of(program, in_test) == Lifetime{3, 3});
    CHECK(life_of(program, in_body) == Lifetime{7, 7});
    CHECK(life_of(program, before) == Lifetime{0, 8});
    CHECK(life_of(program, decisions[0].buffer) == Lifetime{4, 4});
  }

  TEST_CASE("a barrier begins a while's test, its body and what follows") {
    Program program = with_codelet(2);
    const BufferId a = add_buffer(program, 0, 8);
    const BufferId b = add_buffer(program, 1, 8);
    const Step copy = exchange(a, {b}, 8);
    program.main().steps = {
        copy,
        loop_while(decision_words(program), {compute({}), copy, compute({})}, {compute({}), copy}),
        compute({})};
    const Flow flow = flatten(program);
    const std::vector<bool> expected = {true, true, true, false, true, true, true};
    REQUIRE(flow.steps.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(flow.steps[i].sync == expected[i]);
    REQUIRE(flow.loops.size() == 1);
    CHECK(flow.loops[0].body == 4);
    CHECK(flow.loops[0].end == 6);
  }

  TEST_CASE("a compute set after an exchange needs no barrier of its own") {
    Program program = with_codelet(2);
    const BufferId a = add_buffer(program, 0, 8);
    const BufferId b = add_buffer(program, 1, 8);
    const Step copy = exchange(a, {b}, 8);
    program.main().steps = {compute({}), copy, compute({}), compute({}), copy};
    const Flow flow = flatten(program);
    const std::vector<bool> expected = {true, true, false, true, true};
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(flow.steps[i].sync == expected[i]);
  }

  TEST_CASE("a loop's first step and the edge of the measured region have barriers") {
    Program program = with_codelet(2);
    const BufferId a = add_buffer(program, 0, 8);
    const BufferId b = add_buffer(program, 1, 8);
    Step unmeasured = exchange(a, {b}, 8);
    unmeasured.measured = false;
    program.main().steps = {unmeasured, compute({}), exchange(a, {b}, 8),
                            repeat(2, {compute({}), exchange(a, {b}, 8)}), compute({})};
    const Flow flow = flatten(program);
    const std::vector<bool> expected = {true, true, true, true, true, false};
    REQUIRE(flow.steps.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(flow.steps[i].sync == expected[i]);
  }

  TEST_CASE("loops of no iteration vanish and loops of one are flat") {
    Program program = with_codelet(1);
    program.main().steps = {repeat(0, {compute({})}), repeat(1, {compute({})}), repeat(5, {}),
                            repeat(2, {repeat(3, {compute({})}), compute({})})};
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
