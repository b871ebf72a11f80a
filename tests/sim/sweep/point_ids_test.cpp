#include "sim/sweep/point_ids.h"

#include <filesystem>
#include <unistd.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "kernels/catalogue.h"
#include "sim/base/errors.h"
#include "sim/base/whole_file.h"
#include "sim/config/json_text.h"

using namespace tessera;

namespace {

std::string id(const std::string& text, const std::string& program = "1") {
  const config::Layers layers(config::parse_json(text, "test"), "a.json");
  return sweep::PointIds(program).of(
      config::read_config(layers, "a", kernels::catalogue(), config::machine_presets()));
}

std::string sparse(const std::string& file) {
  return R"({"machine": {"extends": "bow"}, "workload": {"kernel": "spmm_static", "matrix": ")" +
         file + R"("}})";
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a point's id depends on what can change its result and on nothing else") {
    const std::string head = R"({"machine": {"extends": "bow"}, "workload": {"kernel": "stream")";
    const std::string plain = id(head + "}}");
    CHECK(plain.size() == 32);
    CHECK(plain.find_first_not_of("0123456789abcdef") == std::string::npos);
    CHECK(id(head + R"(}, "run": {"threads": 7}, "report": {"out": "x"}})") == plain);
    CHECK(id(head + R"(, "dtype": "f32"}})") == plain);  // its default
    CHECK(id(head + R"(, "dtype": "f16"}})") != plain);
    CHECK(id(head + R"(}, "run": {"seed": 9}})") != plain);
    CHECK(id(head + "}}", "2") != plain);
  }

  TEST_CASE("of an input file its contents count and not its name") {
    const std::string folder =
        (std::filesystem::temp_directory_path() / fmt::format("tessera-ids-{}", ::getpid()))
            .string();
    create_folder(folder);
    const std::string head = "%%MatrixMarket matrix coordinate real general\n2 2 1\n";
    write_whole(folder + "/a.mtx", head + "1 1 5\n");
    write_whole(folder + "/b.mtx", head + "1 1 5\n");
    write_whole(folder + "/c.mtx", head + "2 1 5\n");
    CHECK(id(sparse(folder + "/a.mtx")) == id(sparse(folder + "/b.mtx")));
    CHECK(id(sparse(folder + "/a.mtx")) != id(sparse(folder + "/c.mtx")));
    std::filesystem::remove_all(folder);
  }

  TEST_CASE("of a folder of weights the names and contents of its arrays count") {
    const std::string folder =
        (std::filesystem::temp_directory_path() / fmt::format("tessera-ids-{}", ::getpid()))
            .string();
    const auto named = [&](const std::string& name) {
      return id(R"({"machine": {"extends": "bow"}, "workload": {"kernel": "snn", "weights": ")" +
                folder + name + R"("}})");
    };
    for (const std::string name : {"/a", "/b"}) {
      create_folder(folder + name);
      write_whole(folder + name + "/layer_0.npy", "1");
    }
    write_whole(folder + "/b/log.txt", "2");
    const std::string first = named("/a");
    CHECK(named("/b") == first);
    write_whole(folder + "/b/layer_1.npy", "1");
    CHECK(named("/b") != first);
    write_whole(folder + "/a/layer_0.npy", "3");
    CHECK(named("/a") != first);
    std::filesystem::remove_all(folder);
  }

  TEST_CASE("of a folder of recordings those of its classes count, with lists and labels") {
    const std::string folder =
        (std::filesystem::temp_directory_path() / fmt::format("tessera-ids-{}", ::getpid()))
            .string();
    const auto named = [&](const std::string& name) {
      return id(R"({"machine": {"extends": "bow"}, "workload": {"kernel": "snn", "data":
          {"recordings": ")" +
                folder + name + R"(", "step_microseconds": 1000}}})");
    };
    create_folder(folder + "/a/7");
    create_folder(folder + "/a/results");
    for (const std::string name :
         {"7/00001.bin", "user01_lab.aedat", "user01_lab_labels.csv", "trials_to_train.txt"}) {
      write_whole(fmt::format("{}/a/{}", folder, name), "1");
      const std::string first = named("/a");
      write_whole(fmt::format("{}/a/{}", folder, name), "2");
      CHECK(named("/a") != first);
    }
    const std::string first = named("/a");
    create_folder(folder + "/a/8");
    std::filesystem::rename(folder + "/a/7/00001.bin", folder + "/a/8/00001.bin");
    CHECK(named("/a") != first);
    std::filesystem::rename(folder + "/a/8/00001.bin", folder + "/a/7/00001.bin");
    write_whole(folder + "/a/results/layer_0.npy", "1");
    write_whole(folder + "/a/README.txt", "1");
    CHECK(named("/a") == first);
    std::filesystem::remove_all(folder);
  }

  TEST_CASE("the program is known by its version and the linker's build id") {
    const std::string program = sweep::program_identity();
    CHECK(program.starts_with("0."));
    const std::string build_id = program.substr(program.rfind(' ') + 1);
    CHECK(build_id.size() >= 16);
    CHECK(build_id.find_first_not_of("0123456789abcdef") == std::string::npos);
  }
}
