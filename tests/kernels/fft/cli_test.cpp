#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/cli/command.h"

using tessera::test::check_refused;
using tessera::test::CommandFolder;
using tessera::test::numpy_file;

/// Options of Fourier transforms.
namespace {

constexpr const char* kTransform = R"({"machine": {"extends": "bow", "tiles": 8},
  "workload": {"kernel": "fft", "points": 64}})";

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("mistakes about a Fourier transform are refused") {
    const CommandFolder folder;
    folder.write("a.json", kTransform);
    folder.write("x.npy", numpy_file("<f4", "1, 64", std::string(256, '\0')));
    const std::vector<std::pair<const char*, const char*>> mistakes{
        {"points=100", "workload.points: found 100, allowed a power of two"},
        {"rows=3", "workload.rows: found 3, allowed a power of two"},
        {"points=16777216 --set workload.rows=2",
         "workload.rows: found 2 x 16777216 points, allowed 16777216 in all"},
        {"x=x.npy", "workload.x: found x.npy of shape [1, 64], allowed [1, 128]"},
        {R"('plan={"lengths":[8,4],"parts":[1],"radices":[4,2,4]}')",
         "workload.plan.lengths: found [8, 4], allowed powers of two"},
        {R"('plan={"lengths":[8,8],"parts":[5],"radices":[4,2,4,2]}')",
         "workload.plan.parts: found [5], allowed 1 to 4"},
        {R"('plan={"lengths":[8,8],"parts":[2],"radices":[4,4,4]}')",
         "workload.plan.radices: found [4, 4, 4], allowed 2 and 4, and 8 as a phase's first, whose "
         "products are [8, 8] in turn"},
        {R"('plan={"lengths":[8,8],"parts":[2],"radices":[8,2,8]}')",
         "workload.plan.radices: found [8, 2, 8], allowed 2 and 4, and 8 as a phase's first"},
        {R"('plan={"lengths":[16,4],"parts":[2],"radices":[2,8,4]}')",
         "workload.plan.radices: found [2, 8, 4], allowed 2 and 4, and 8 as a phase's first"},
        {R"('plan={"lengths":[8,8],"parts":[2],"radices":[8,6,2]}')",
         "workload.plan.radices: found [8, 6, 2], allowed 2 and 4, and 8 as a phase's first"},
        {"points=4194304", "no plan of fft for rows=1 points=4194304 fits 8 tiles"},
    };
    for (const auto& [option, message] : mistakes)
      check_refused(folder, std::string("run a.json --set workload.") + option, {message});
  }
}
