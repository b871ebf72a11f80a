#include "kernels/stream/stream.h"

#include <doctest/doctest.h>

#include "tests/kernels/lone_codelet.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::stream;

namespace {

constexpr const char* kNames[] = {"copy", "scale", "add", "triad"};

using test::small_machine;

/// Slots of one worker on arrays of `bodies` loop bodies.
std::uint64_t slots(const std::string& codelet, std::uint32_t bodies) {
  test::LoneCodelet lone("stream", codelet);
  constexpr std::uint32_t kArguments = test::LoneCodelet::kData;
  constexpr std::uint32_t kArrays = kArguments + 0x1000;
  constexpr std::uint32_t kArrayBytes = 0x8000;
  for (std::uint32_t array = 0; array < 3; ++array) {
    lone.put(kArguments + 8 + 4 * array, kArrays + kArrayBytes * array);
  }
  lone.put(kArguments + 20, bodies - 1);
  return lone.slots(kArguments);
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("a body of two 64-bit words takes two slots, the rest what the prediction says") {
    for (const char* type : {"f16", "f32"}) {
      for (const char* name : kNames) {
        const std::string codelet = fmt::format("stream_{}_{}", name, type);
        CAPTURE(codelet);
        for (const std::uint32_t bodies : {2U, 3U, 100U}) {
          CHECK(slots(codelet, bodies) == kWorkerSlots + kBodySlots * (bodies - 1));
        }
        CHECK(slots(codelet, 1) == kWorkerSlots - 1);
      }
    }
  }

  TEST_CASE("every operation and type is exact in about the predicted cycles") {
    for (const program::Type type : {program::Type::f16, program::Type::f32}) {
      for (const Operation operation :
           {Operation::copy, Operation::scale, Operation::add, Operation::triad}) {
        for (const std::uint32_t elements : {1U, 8U, 9U, 500U}) {
          Options options;
          options.operation = operation;
          options.dtype = type;
          options.elements_per_worker = elements;
          CAPTURE(static_cast<int>(operation));
          CAPTURE(elements);
          const auto view = [](const RunResult& result, const Stream& stream) {
            const auto found = static_cast<double>(result.time.total().count());
            const auto predicted = static_cast<double>(stream.prediction().cycles);
            return std::abs(found - predicted) < 40 ? std::string() : fmt::format(" {}", found);
          };
          CHECK(test::run_workload<Stream>(options, small_machine(2), {view}) == "passed");
        }
      }
    }
  }

  TEST_CASE("useful bytes count the arrays that an operation touches, once a repeat") {
    Options options;
    options.elements_per_worker = 10;
    options.repeats = 3;
    CHECK(Stream(options, small_machine(2)).useful_bytes() == 3 * 10 * 4 * 6 * 2 * 3);
    options.operation = Operation::copy;
    options.dtype = program::Type::f16;
    CHECK(Stream(options, small_machine(2)).useful_bytes() == 2 * 10 * 2 * 6 * 2 * 3);
  }
}
