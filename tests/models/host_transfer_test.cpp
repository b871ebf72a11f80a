#include <algorithm>
#include <sstream>

#include <doctest/doctest.h>

#include "tests/models/sample_machine.h"

using namespace tessera;
using program::HostTransfer;
using program::Place;

namespace {

constexpr std::uint32_t kTiles = 3;
constexpr std::uint32_t kRounds = 4;

/// In each round the host gives every tile 100 x round + 10 x tile, the tile adds 1, and the host
/// takes the sum.
program::Program fed() {
  program::Program program(kTiles);
  const std::uint32_t codelet = program.add_codelet(sample::add_one());
  HostTransfer in{HostTransfer::Direction::read, {}};
  HostTransfer out{HostTransfer::Direction::write, {}};
  program::ComputeSet work{"work", {}};
  for (std::uint32_t tile = 0; tile < kTiles; ++tile) {
    const program::BufferId id =
        program.add_buffer({.tile = TileId{tile}, .bytes = 4, .contents = {}, .name = "word"});
    const auto contents = [tile](std::span<std::byte> bytes, std::uint64_t number) {
      const auto value = static_cast<std::uint32_t>(100 * number + std::uint64_t{10} * tile);
      std::memcpy(bytes.data(), &value, sizeof value);
    };
    in.pieces.push_back({{id}, 4, contents});
    out.pieces.push_back({{id}, 4});
    work.vertices.push_back({TileId{tile}, codelet, program::Executor::one_worker, 0, {Place{id}}});
  }
  const auto whole = [](const std::string& name, HostTransfer transfer) {
    return program::Exchange{name, {}, {}, program::kEveryStart, std::move(transfer)};
  };
  program::Sequence body{
      {{whole("feed", std::move(in))}, {std::move(work)}, {whole("results", std::move(out))}}};
  program.main().steps = {{program::Repeat{kRounds, std::move(body)}}};
  return program;
}

/// Latency 10 us, rate 0.01 bytes a nanosecond: 12 bytes take 11.2 us.
MachineConfig slow_link() {
  MachineConfig config = sample::machine(kTiles);
  config.host.latency_us = 10;
  config.host.gigabytes_per_second = 0.01;
  config.clock_ghz = 1;
  return config;
}

std::string run(const RunOptions& options, const sample::View& view) {
  return sample::run(slow_link(), fed(), options, view);
}

/// Tile 0 passes the host's word to tile 1, which is in another zone, works on it and ends last.
program::Program passed_on() {
  program::Program program(2);
  program.part({0, 1});
  const std::uint32_t codelet = program.add_codelet(sample::add_one());
  const auto word = [&](std::uint32_t tile) {
    return Place{program.add_buffer({TileId{tile}, 4, 4, false, {}, {}, "word"})};
  };
  const Place from = word(0), to = word(1);
  HostTransfer in{HostTransfer::Direction::read,
                  {{from, 4, [](std::span<std::byte> into, std::uint64_t /*number*/) {
                      std::ranges::fill(into, std::byte{1});
                    }}}};
  program::Sequence giving{
      {{program::Exchange{"feed", {}, {}, program::kEveryStart, std::move(in)}}}};
  const auto moved = program.add_exchange({"moved", {{from, 4, {to}}}});
  giving.steps.insert(giving.steps.end(), {{program::Start{moved}}, {program::Wait{moved}}});
  program::ComputeSet work{"work", {}};
  work.vertices.push_back({TileId{1}, codelet, program::Executor::one_worker, 0, {to}});
  program.steps(0) = std::move(giving);
  program.steps(1).steps = {{program::Start{moved}}, {program::Wait{moved}}, {std::move(work)}};
  return program;
}

struct Passed {
  std::uint64_t total = 0, host = 0, wait = 0;  ///< cycles
};
Passed passed(double latency_us, bool measure_host) {
  MachineConfig config = sample::machine(2);
  config.clock_ghz = 1;
  config.host.latency_us = latency_us;
  const std::string text =
      sample::run(config, passed_on(), {.measure_host = measure_host},
                  [](const Simulation&, const RunResult& of) {
                    return fmt::format("{} {} {}", of.time.total().count(), of.time.host.count(),
                                       of.time.wait.count());
                  });
  Passed found;
  std::istringstream(text) >> found.total >> found.host >> found.wait;
  return found;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("a zone's wait for another zone's host is host time, or none") {
    const Passed device = passed(10, false);
    CHECK(device.total == passed(0, false).total);
    CHECK(device.total < 1'000);
    CHECK(device.host == 0);
    const Passed fast = passed(10, true), slow = passed(20, true);
    CHECK(slow.total == fast.total + 10'000);
    CHECK(slow.host == fast.host + 10'000);
    CHECK(slow.wait == fast.wait);
    CHECK(fast.host >= 10'000);
  }

  TEST_CASE("transfers take the link's latency and rate where they are measured") {
    const auto view = [](const Simulation&, const RunResult& result) {
      Cycle end = result.steps.at(0).start;
      for (const SuperstepRecord& step : result.steps) {
        check(step.start == end, "gap at {}", end.count());
        end += step.time.total();
      }
      return fmt::format("{} in {} supersteps, {} bytes", result.time.host.count(),
                         result.supersteps, result.host_bytes.count());
    };
    constexpr std::uint64_t kEach = 10'000 + 1'200 - 1;  // less a cycle from start to wait
    CHECK(run({.measure_host = true}, view) ==
          fmt::format("{} in {} supersteps, 96 bytes", kEach * 2 * kRounds, 3 * kRounds));
  }

  TEST_CASE("transfers that are not measured leave the tiles' own time as it is") {
    const auto view = [](const Simulation&, const RunResult& result) {
      return fmt::format("{} in {} supersteps, {} bytes, {} cycles", result.time.host.count(),
                         result.supersteps, result.host_bytes.count(),
                         (result.time.compute + result.time.sync).count());
    };
    const std::string device = run({}, view);
    CHECK(device.starts_with("0 in 4 supersteps, 96 bytes"));
  }
}
