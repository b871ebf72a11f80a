#include "sim/sweep/point_ids.h"

#include <filesystem>
#include <string>
#include <unistd.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "kernels/catalogue.h"
#include "sim/base/whole_file.h"
#include "sim/config/config.h"
#include "sim/config/presets.h"

using namespace tessera;

/// A sweep knows its points by the contents of folders that a network reads.
namespace {

std::string point_id(const std::string& text) {
  const config::Layers layers(config::parse_json(text, "test"), "a.json");
  return sweep::PointIds("1").of(
      config::read_config(layers, "a", kernels::catalogue(), config::machine_presets()));
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("of a folder of weights the names and contents of its arrays count") {
    const std::string folder =
        (std::filesystem::temp_directory_path() / fmt::format("tessera-ids-{}", ::getpid()))
            .string();
    const auto named = [&](const std::string& name) {
      return point_id(
          R"({"machine": {"extends": "bow"}, "workload": {"kernel": "snn", "weights": ")" + folder +
          name + R"("}})");
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
      return point_id(R"({"machine": {"extends": "bow"}, "workload": {"kernel": "snn", "data":
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
}
