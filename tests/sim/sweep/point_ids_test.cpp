#include "sim/sweep/point_ids.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "kernels/catalogue.h"
#include "sim/config/json_text.h"
#include "tests/cli/command.h"

using namespace tessera;

namespace {

std::string id(const std::string& text, const std::string& program = "1") {
  const config::Layers layers(config::parse_json(text, "test"), "a.json");
  return sweep::PointIds(program).of(
      config::read_config(layers, "a", kernels::catalogue(), config::machine_presets()));
}

std::string of_file(const std::string& file) {
  return test::product_config(8, fmt::format(R"("a": "{}")", file));
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a point's id depends on what can change its result and on nothing else") {
    const std::string head =
        test::with_kernel(R"({"machine": {"extends": "bow"}, "workload": {"kernel": "KERNEL")");
    const std::string plain = id(head + "}}");
    CHECK(plain.size() == 32);
    CHECK(plain.find_first_not_of("0123456789abcdef") == std::string::npos);
    CHECK(id(head + R"(}, "run": {"threads": 7}, "report": {"out": "x"}})") == plain);
    CHECK(id(head + R"(, "dtype": "f32"}})") == plain);  // the default value
    CHECK(id(head + R"(, "dtype": "f16"}})") != plain);
    CHECK(id(head + R"(}, "run": {"seed": 9}})") != plain);
    CHECK(id(head + "}}", "2") != plain);
  }

  TEST_CASE("an input file is identified by its contents, not its name") {
    const test::Folder folder{{"a.npy", "1 1 5"}, {"b.npy", "1 1 5"}, {"c.npy", "2 1 5"}};
    CHECK(id(of_file(folder.file("a.npy"))) == id(of_file(folder.file("b.npy"))));
    CHECK(id(of_file(folder.file("a.npy"))) != id(of_file(folder.file("c.npy"))));
  }

  TEST_CASE("the program is known by its version and the linker's build id") {
    const std::string program = sweep::program_identity();
    CHECK(program.starts_with("0."));
    const std::string build_id = program.substr(program.rfind(' ') + 1);
    CHECK(build_id.size() >= 16);
    CHECK(build_id.find_first_not_of("0123456789abcdef") == std::string::npos);
  }
}
