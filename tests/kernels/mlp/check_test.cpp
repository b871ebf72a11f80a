#include <limits>

#include <doctest/doctest.h>

#include "kernels/mlp/mlp.h"
#include "tests/kernels/changed_memory.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::mlp;
using test::small_machine;

namespace {

/// A training on 6 x 5 pixels with five classes and two layers.
Options training_of(LayerKind kind, Activation activation = Activation::relu) {
  LayerOptions layer{kind, 24, 3, activation};
  layer.block = 4;
  Options options;
  options.layers = {layer, {LayerKind::dense, 5, 0, Activation::none}};
  options.data = {.width = 6, .height = 5, .classes = 5, .samples = 300, .test_samples = 30};
  options.batch = 10;
  options.steps = 30;
  options.learning.rate = 0.05;
  return options;
}

std::string verdict(const CheckResult& check) {
  return check.passed ? "passed" : "wrong: " + check.problem;
}

/// The result of the check for options `claimed` on a machine that ran options `done`.
std::string judged(const Options& done, const Options& claimed) {
  return in_child([&]() -> std::string {
    const test::Finished<Mlp> run(done, small_machine(7));
    MeasuredCosts costs(small_machine(7));
    return verdict(Mlp(claimed, costs).check(run.tensors, {CheckMode::full}));
  });
}

std::string told_otherwise(std::string_view transfer, std::size_t at, float change) {
  return in_child([&]() -> std::string {
    const test::Finished<Mlp> run(training_of(LayerKind::dense), small_machine(4));
    const test::ChangedMemory altered(run.machine.memory(), transfer,
                                      test::ChangedMemory::add(change, at));
    return verdict(run.workload.check(TensorReader(run.program, altered), {CheckMode::full}));
  });
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("a training of another feed, rate, optimiser or layer is wrong, in its last step too") {
    const auto differs = [](const Options& right, const auto& change) {
      Options wrong = right;
      change(wrong);
      return judged(wrong, right).starts_with("wrong: ");
    };
    Options options = training_of(LayerKind::dense);
    options.data.test_samples = 0;
    // 29 batches of 10: the 30th batch is the first one again.
    CHECK(differs(options, [](Options& its) { its.data.samples = 290; }));
    CHECK(differs(options, [](Options& its) { its.feed = Feed::device; }));
    CHECK(differs(options, [](Options& its) { its.learning.momentum = 0.8999; }));
    CHECK(differs(options, [](Options& its) { its.learning.rate *= 1.0001; }));
    CHECK(differs(options, [](Options& its) { its.layers[0].activation = Activation::none; }));
    options.learning.schedule = training::Schedule::step;
    options.learning.decay_every = 29;
    CHECK(differs(options, [](Options& its) { its.learning.decay = 0.499; }));
    options.learning.optimiser = training::Optimiser::adam;
    options.learning.rate = 0.01;
    options.learning.epsilon = 1e-6;
    CHECK(differs(options, [](Options& its) { its.learning.epsilon = 1.1e-6; }));
    CHECK(differs(options, [](Options& its) { its.learning.beta2 = 0.9991; }));
  }

  TEST_CASE("gradients of f16 that are 0.2 percent too large are found, every layer kind") {
    for (const LayerKind kind : {LayerKind::dense, LayerKind::low_rank, LayerKind::butterfly,
                                 LayerKind::pixelfly, LayerKind::circulant, LayerKind::fastfood}) {
      Options options = training_of(kind);
      options.dtype = program::Type::f16;
      Options wrong = options;
      wrong.learning.rate *= 1.002;
      CAPTURE(static_cast<int>(kind));
      CHECK(judged(wrong, options).starts_with("wrong: "));
      CHECK(judged(options, options) == "passed");
    }
  }

  TEST_CASE("losses and right samples of every step are compared, of training and tests") {
    CHECK(told_otherwise(training::kTrainingResults, 0, 0) == "passed");
    CHECK(told_otherwise(training::kTrainingResults, 58, 1e-4F)
              .starts_with("wrong: the loss of step 30 is "));
    CHECK(told_otherwise(training::kTrainingResults, 59, 1)
              .starts_with("wrong: the number of right samples of step 30 is "));
    CHECK(told_otherwise(training::kTestResults, 4, 1e-4F)
              .starts_with("wrong: the loss of test step 3 is "));
    CHECK(told_otherwise(training::kTestResults, 5, -1)
              .starts_with("wrong: the number of right samples of test step 3 is "));
    const float none = std::numeric_limits<float>::quiet_NaN();
    CHECK(told_otherwise(training::kTrainingResults, 40, none)
              .starts_with("wrong: the loss is nan in step 21 of 30, expected "));
  }
}
