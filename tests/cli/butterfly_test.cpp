#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/cli/command.h"

using tessera::test::Answer;
using tessera::test::check_refused;
using tessera::test::CommandFolder;
using tessera::test::numpy_file;

/// Options of butterfly products and Fourier transforms.
namespace {

constexpr const char* kButterfly = R"({"machine": {"extends": "bow", "tiles": 8},
  "workload": {"kernel": "butterfly", "features": 4, "n": 6}})";
constexpr const char* kFft = R"({"machine": {"extends": "bow", "tiles": 8},
  "workload": {"kernel": "fft", "points": 64}})";

/// A .npy file of f32 of this shape, all elements alike.
std::string npy_of(const std::string& shape, std::size_t elements, float value) {
  std::string bytes;
  for (std::size_t i = 0; i < elements; ++i)
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);  // NOLINT(*-cast)
  return numpy_file("<f4", shape, bytes);
}

/// With JSON in quotes, for the shell.
std::string quoted(const std::string& option) {
  const std::size_t begin = option.find('{');
  if (begin == std::string::npos) return option;
  const std::size_t end = option.rfind('}') + 1;
  return option.substr(0, begin) + "'" + option.substr(begin, end - begin) + "'" +
         option.substr(end);
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("twiddles and columns from files are multiplied") {
    const CommandFolder folder;
    folder.write("a.json", kButterfly);
    folder.write("t.npy", npy_of("2, 2, 2, 2", 16, 0.5F));
    folder.write("x.npy", npy_of("4, 6", 24, 2.0F));
    const Answer answer =
        folder.call("run a.json --out result --set workload.twiddles=t.npy --set workload.x=x.npy");
    CAPTURE(answer.err);
    REQUIRE(answer.code == 0);
    const auto report = folder.json("result/report.json");
    CHECK(report.at("check").at("passed") == true);
    CHECK(report.at("check").at("max_error") == 0);
    CHECK(report.at("workload").at("parameters") == 16);
  }

  TEST_CASE("mistakes about a butterfly product are refused") {
    const CommandFolder folder;
    folder.write("a.json", kButterfly);
    folder.write("nan.npy", npy_of("2, 2, 2, 2", 16, std::nanf("")));
    folder.write("small.npy", npy_of("2, 2, 2", 8, 1.0F));
    const std::vector<std::pair<const char*, const char*>> mistakes{
        {"features=1000", "workload.features: found 1000, allowed a power of two"},
        {"features=1", "workload.features: found 1, allowed an integer from 2"},
        {"dtype=f8", "workload.dtype: found \"f8\", allowed f16, f32, complex_f32"},
        {"twiddles=nan.npy", "nan.npy: element [0, 0, 0, 0]: found nan, allowed finite numbers"},
        {"twiddles=small.npy",
         "workload.twiddles: found small.npy of shape [2, 2, 2], allowed [2, 2, 2, 2]"},
        {"twiddles=small.npy --set workload.parameters=rotation",
         "workload.twiddles: found small.npy of shape [2, 2, 2], allowed [2, 2]"},
        {"x=small.npy", "workload.x: found small.npy of shape [2, 2, 2], allowed [4, 6]"},
        {"layout=natural", "workload.layout: found \"natural\", allowed planned, blocked"},
        {"plan={\"rounds\":2}",
         "workload.plan.rounds: found 2, allowed 1 but in layout blocked and passes forward and "
         "grad_input"},
        {"layout=blocked --set workload.plan={\"rounds\":4}",
         "workload.plan.rounds: found 4, allowed 1 to 3 (words of n columns over split_n)"},
        {"gradient=small.npy", "workload.gradient: is used by pass grad_twiddles only"},
        {"dtype=f16 --set workload.partials=f32",
         "workload.partials: found f32, allowed f16 with block 1"},
        {"block=4",
         "workload.block: found 4, allowed a power of two up to 2, half of the features"},
        {"block=2 --set workload.parameters=rotation",
         "workload.block: found 2, allowed 1 with rotations"},
        {"plan.split_features=3", "workload.plan.split_features: found 3, allowed a power of two"},
        {"plan.split_features=4", "allowed a power of two up to 2, the pairs of a factor"},
        {"plan.split_n=4", "workload.plan.split_n: found 4, allowed 1 to 3"},
        {"plan.workers_n=4", "workload.plan.workers_n: found 4, allowed divisors of 6"},
        {"plan={\"split_features\":2,\"split_n\":3} --set machine.tiles=4",
         "workload.plan: found 2 x 3 parts, allowed at most one for each of 4 tiles"},
        {"features=1048576 --set workload.n=1000",
         "no plan of butterfly for features=1048576 n=1000 fits 8 tiles"},
    };
    for (const auto& [option, message] : mistakes)
      check_refused(folder, "run a.json --set workload." + quoted(option), {message});
  }

  TEST_CASE("mistakes about a Fourier transform are refused") {
    const CommandFolder folder;
    folder.write("a.json", kFft);
    folder.write("x.npy", npy_of("1, 64", 64, 1.0F));
    const std::vector<std::pair<const char*, const char*>> mistakes{
        {"points=100", "workload.points: found 100, allowed a power of two"},
        {"rows=3", "workload.rows: found 3, allowed a power of two"},
        {"points=16777216 --set workload.rows=2",
         "workload.rows: found 2 x 16777216 points, allowed 16777216 in all"},
        {"x=x.npy", "workload.x: found x.npy of shape [1, 64], allowed [1, 128]"},
        {"plan={\"lengths\":[8,4],\"parts\":[1],\"radices\":[4,2,4]}",
         "workload.plan.lengths: found [8, 4], allowed powers of two"},
        {"plan={\"lengths\":[8,8],\"parts\":[5],\"radices\":[4,2,4,2]}",
         "workload.plan.parts: found [5], allowed 1 to 4"},
        {"plan={\"lengths\":[8,8],\"parts\":[2],\"radices\":[4,4,4]}",
         "workload.plan.radices: found [4, 4, 4], allowed 2 and 4, and 8 as a phase's first, whose "
         "products are [8, 8] in turn"},
        {"plan={\"lengths\":[8,8],\"parts\":[2],\"radices\":[8,2,8]}",
         "workload.plan.radices: found [8, 2, 8], allowed 2 and 4, and 8 as a phase's first"},
        {"plan={\"lengths\":[16,4],\"parts\":[2],\"radices\":[2,8,4]}",
         "workload.plan.radices: found [2, 8, 4], allowed 2 and 4, and 8 as a phase's first"},
        {"plan={\"lengths\":[8,8],\"parts\":[2],\"radices\":[8,6,2]}",
         "workload.plan.radices: found [8, 6, 2], allowed 2 and 4, and 8 as a phase's first"},
        {"points=4194304", "no plan of fft for rows=1 points=4194304 fits 8 tiles"},
    };
    for (const auto& [option, message] : mistakes)
      check_refused(folder, "run a.json --set workload." + quoted(option), {message});
  }
}
