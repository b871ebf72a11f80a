#include <limits>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "kernels/mlp/mlp.h"
#include "tests/kernels/changed_memory.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::mlp;
using test::small_machine;

namespace {

/// 6 x 5 pixels to five classes, in two layers.
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

/// What the check of `claimed` says of a machine that has done `done`.
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

/// Lines that a diverged training comes with, and what its check compares.
std::string said_of(const Options& options) {
  return in_child([&]() -> std::string {
    const test::Finished<Mlp> run(options, small_machine(4));
    const CheckResult check = run.workload.check(run.tensors, {CheckMode::full});
    const auto results = run.workload.results(run.tensors);
    std::string text = verdict(check) + ";";
    for (const auto& line : results.value("warnings", nlohmann::ordered_json::array()))
      text += " " + line.get<std::string>() + ";";
    return text + " " + check.note;
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
    // The 30th batch is the first again.
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

  TEST_CASE("a training that diverges is right and says so; what is not compared is said") {
    Options options = training_of(LayerKind::dense);
    options.learning.rate = 1e10;
    CHECK(said_of(options) ==
          "passed; training diverges: the loss is no number in step 3 of 30; plain training "
          "diverges too: nothing is compared from step 3 of 30 on");
    options.dtype = program::Type::f16;
    options.learning.rate = 0.05;
    options.scaling.scale = 1U << 20;
    CHECK(said_of(options).starts_with(
        "passed; gradients overflow f16 in step 1 of 30 at a loss scale of 1048576, which skips "
        "it"));
    options = training_of(LayerKind::dense);
    options.steps = 200;
    options.learning.rate = 0.1;
    const std::string chaotic = said_of(options);
    CAPTURE(chaotic);
    CHECK(chaotic.starts_with("passed; losses after step 1"));
    CHECK(
        chaotic.ends_with("of 200 have no significant digit; changes of parameters of map 0, 1 "
                          "have no significant digit"));
  }

  /// Rounding to f32 first moves one logit of test step 41 by a unit in the last place.
  TEST_CASE("factors of f16 multiply and add with one rounding") {
    Options options;
    LayerOptions factors{LayerKind::butterfly, 64, 0, Activation::relu};
    factors.parameters = butterfly::Parameters::rotation;
    options.layers = {factors, {LayerKind::dense, 10, 0, Activation::none}};
    options.data.width = options.data.height = 8;
    options.dtype = program::Type::f16;
    options.seed = 113;
    options.batch = 5;
    options.steps = 2;
    CHECK(in_child([&] {
            const test::Finished<Mlp> run(options, small_machine(1));
            const CheckResult check = run.workload.check(run.tensors, {CheckMode::full});
            return fmt::format("{}, {}", verdict(check), check.max_error < 0.5);
          }) == "passed, true");
  }
}
