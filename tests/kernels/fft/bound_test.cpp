#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using tessera::test::CommandFolder;
using tessera::test::Json;

namespace {

/// Floating-point instructions of codelets.S per two points: of a butterfly divided by its legs, of
/// a twiddle between phases, of the transposition of two rows to columns.
double pass_slots(std::uint64_t radix, bool first) {
  if (radix == 2) return (first ? 4 : 6) / 2.0;
  if (radix == 8) return 52 / 8.0;
  return (first ? 16 : 24) / 4.0;
}
constexpr double kTurnSlots = 12 / 2.0;
constexpr double kTransposeSlots = 2 / 2.0;

/// Slots per two points, summed over all phases of a one-dimensional plan.
double plan_slots(const Json& plan) {
  const auto lengths = plan.at("lengths").get<std::vector<std::uint64_t>>();
  const auto radices = plan.at("radices").get<std::vector<std::uint64_t>>();
  double slots = kTurnSlots * static_cast<double>(lengths.size() - 1);
  if (lengths.size() > 2) slots += kTransposeSlots;
  std::size_t at = 0;
  for (const std::uint64_t length : lengths) {
    for (std::uint64_t done = 1; done < length;) {
      const std::uint64_t radix = radices[at++];
      slots += pass_slots(radix, done == 1);
      done *= radix;
    }
  }
  return slots;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("2^20 points take at most half as much again as slots and exchanges must") {
    for (const char* machine : {"bow", "gc200"}) {
      const CommandFolder folder;
      const auto answer = folder.done(fmt::format(
          "run {}/configs/runs/fft.json --set machine={} --out result", TESSERA_SOURCE, machine));
      const Json report = folder.json("result/report.json");
      const Json& plan = report.at("plan");
      std::uint64_t tiles = 1;
      for (const Json& parts : plan.at("parts")) tiles *= parts.get<std::uint64_t>();
      const double counted = plan_slots(plan) * (1U << 20) / 2 / static_cast<double>(tiles);
      const Json& bound = report.at("bound");
      CHECK(bound.at("tiles") == tiles);
      CHECK(bound.at("floating_cycles").get<double>() >= counted);
      CHECK(bound.at("floating_cycles").get<double>() <= 1.1 * counted);
      CHECK(bound.at("cycles") >= bound.at("busiest_issue_cycles"));
      CHECK(bound.at("cycles").get<double>() <= bound.at("busiest_issue_cycles").get<double>() +
                                                    bound.at("exchange_cycles").get<double>());
      CHECK(bound.at("times_bound").get<double>() >= 1);
      CHECK(bound.at("times_bound").get<double>() <= 1.5);
      CHECK(answer.out.find("  bound     ") != std::string::npos);
    }
  }
}
