#include "sim/program/worker_choice.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/base/errors.h"

using namespace tessera;

namespace {

/// A machine that answers nothing but how many workers programs start.
class Costs final : public MachineCosts {
 public:
  Costs(std::uint32_t workers, bool compete) : compete_(compete) {
    machine_.tile.contexts = workers;
  }
  [[nodiscard]] const MachineConfig& machine() const override { return machine_; }
  [[nodiscard]] std::unique_ptr<MachineCosts> with_workers(std::uint32_t workers) const override {
    return compete_ ? std::make_unique<Costs>(workers, true) : nullptr;
  }
  [[nodiscard]] TileCost tile(const program::Program& /*sample*/) override { return {}; }
  [[nodiscard]] std::uint64_t exchange(const ExchangeLoad& /*load*/) const override { return 0; }
  [[nodiscard]] program::Needs needs(const program::Program& /*program*/) const override {
    return {};
  }
  [[nodiscard]] std::uint64_t barrier() const override { return 0; }

 private:
  MachineConfig machine_;
  bool compete_;
};

class Planned final : public Workload {
 public:
  Planned(std::uint64_t cycles, std::uint64_t flops) {
    summarise({.prediction = {cycles, cycles, 0, 0}, .useful_flops = flops});
  }
  [[nodiscard]] program::Program lowered() const override { return program::Program(1); }
  [[nodiscard]] CheckResult check(const TensorReader&, const CheckRequest&) const override {
    return {};
  }
};

using Cycles = std::function<std::uint64_t(std::uint32_t workers)>;

/// What starts of 24 contexts; 0: all.
std::uint32_t started(const Cycles& cycles, const Cycles& flops = {}, bool compete = true) {
  Costs costs(24, compete);
  const std::unique_ptr<Workload> workload = plan_for_workers(
      [&](MachineCosts& of) {
        const std::uint32_t workers = of.machine().tile.contexts;
        return std::make_unique<Planned>(cycles(workers), flops ? flops(workers) : 1);
      },
      costs);
  CHECK(workload->build().workers() == workload->workers());
  CHECK(workload->facts().value("started_contexts", 0U) == workload->workers());
  return workload->workers();
}

std::uint64_t none_fit(std::uint32_t workers) {
  throw UserError(fmt::format("{} do not fit", workers));
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("as many workers start as are predicted fastest") {
    CHECK(started([](std::uint32_t workers) { return workers; }) == 1);
    CHECK(started([](std::uint32_t workers) { return 100 - workers; }) == 0);
    CHECK(started([](std::uint32_t workers) { return 1000 / workers + 100 * workers; }) == 3);
    CHECK(started([](std::uint32_t workers) { return workers < 18 ? 50 - workers : 40; }) == 15);
    CHECK(started([](std::uint32_t workers) { return workers > 12 && workers < 24 ? 9 : 10; }) ==
          18);
    CHECK(started([](std::uint32_t workers) { return workers == 2 ? 7 : workers == 4 ? 8 : 9; }) ==
          2);
    CHECK(started([](std::uint32_t /*workers*/) { return 7; }) == 0);
  }

  TEST_CASE("all workers start where contexts have slots of their own") {
    CHECK(started([](std::uint32_t workers) { return workers; }, {}, false) == 0);
  }

  TEST_CASE("all workers start where fewer would do less") {
    const auto same = [](std::uint32_t workers) { return workers; };
    CHECK(started(same, same) == 0);
  }

  TEST_CASE("fewer workers start where more do not fit") {
    CHECK(started([](std::uint32_t workers) {
            return workers > 10 ? none_fit(workers) : 100 - workers;
          }) == 10);
    CHECK_THROWS_WITH_AS(started(none_fit), "24 do not fit", UserError);
  }
}
