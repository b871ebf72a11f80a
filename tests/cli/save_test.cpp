#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/saved.h"
#include "tests/kernels/points.h"

using namespace tessera;
using namespace tessera::test;

/// Tests of input and result files.
namespace {

/// Keys of the product: C is [40, 20].
const std::string kProduct = R"("m": 40, "n": 20, "k": 48, "dtype": "f16")";

std::string saving_config(const Json& workload) {
  return Json{{"machine", {{"extends", "bow"}, {"tiles", 8}}},
              {"workload", workload},
              {"report", {{"tensors", "all"}}}}
      .dump();
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("one, two and three threads save the same bytes") {
    const CommandFolder folder;
    for (const test::Point& point : test::small_points()) {
      CAPTURE(point.describe());
      const auto all = [&](int threads) {
        run_saving(folder, saving_config(point.workload()), fmt::format("--threads {}", threads));
        std::map<std::string, std::string> bytes;
        for (const auto& entry :
             std::filesystem::directory_iterator(folder.path() / "result/tensors")) {
          const std::string name = entry.path().filename();
          bytes[name] = folder.read("result/tensors/" + name);
        }
        return bytes;
      };
      const auto one = all(1);
      CHECK(!one.empty());
      CHECK(all(2) == one);
      CHECK(all(3) == one);
    }
  }

  TEST_CASE("--save writes single files beside the results, and says so; check lists the names") {
    const CommandFolder folder{{"a.json", product_config(8, kProduct)}};
    const Answer answer =
        folder.done("run a.json --out result --save C=c.npy --save A=a.npy --save C=again.npy");
    CHECK(holds(answer.out, "  tensor    C [40, 20] f16, c.npy\n"));
    CHECK(folder.read("c.npy") == folder.read("again.npy"));
    CHECK_FALSE(folder.has("result/tensors"));
    CHECK(data::read_numpy(folder.path() / "a.npy").shape == std::vector<std::uint64_t>{40, 48});
    const std::string listed = folder.call("check a.json").out;
    check_holds(listed,
                {"  tensors   C  [40, 20] f16 result\n", "            A  [40, 48] f16 input\n"});
  }

  TEST_CASE("tensors that another run left in the folder of the results go") {
    const CommandFolder folder;
    run_saving(folder, product_config(8, kProduct), "--set report.tensors=all");
    CHECK(folder.has("result/tensors/A.npy"));
    run_saving(folder, product_config(8, kProduct), "--set report.tensors=C");
    CHECK(folder.has("result/tensors/C.npy"));
    CHECK_FALSE(folder.has("result/tensors/A.npy"));
    run_saving(folder, product_config(8, kProduct), "--set report.tensors=null");
    CHECK_FALSE(folder.has("result/tensors"));
  }
}
