#include "sim/sweep/point_ids.h"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "kernels/catalogue.h"
#include "sim/base/whole_file.h"
#include "sim/config/config.h"
#include "sim/config/presets.h"
#include "tests/folder.h"

using namespace tessera;

/// A sweep's point ids depend on the contents of the folders that a network reads.
namespace {

std::string point_id(const std::string& text) {
  const config::Layers layers(config::parse_json(text, "test"), "a.json");
  return sweep::PointIds("1").of(
      config::read_config(layers, "a", kernels::catalogue(), config::machine_presets()));
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a folder of weights is identified by the names and contents of its arrays") {
    const test::Folder folder;
    const auto named = [&](const std::string& name) {
      return point_id(
          R"({"machine": {"extends": "bow"}, "workload": {"kernel": "snn", "weights": ")" +
          folder.file(name) + R"("}})");
    };
    for (const char* file : {"a/layer_0.npy", "b/layer_0.npy"}) folder.write(file, "1");
    folder.write("b/log.txt", "2");
    const std::string first = named("a");
    CHECK(named("b") == first);
    folder.write("b/layer_1.npy", "1");
    CHECK(named("b") != first);
    folder.write("a/layer_0.npy", "3");
    CHECK(named("a") != first);
  }

  TEST_CASE("a folder of recordings is identified by its classes' files, lists and labels") {
    const test::Folder folder;
    const auto named = [&](const std::string& name) {
      return point_id(R"({"machine": {"extends": "bow"}, "workload": {"kernel": "snn", "data":
          {"recordings": ")" +
                      folder.file(name) + R"(", "step_microseconds": 1000}}})");
    };
    for (const std::string name :
         {"7/00001.bin", "user01_lab.aedat", "user01_lab_labels.csv", "trials_to_train.txt"}) {
      folder.write("a/" + name, "1");
      const std::string first = named("a");
      folder.write("a/" + name, "2");
      CHECK(named("a") != first);
    }
    const std::string first = named("a");
    create_folder(folder.file("a/8"));
    std::filesystem::rename(folder.file("a/7/00001.bin"), folder.file("a/8/00001.bin"));
    CHECK(named("a") != first);
    std::filesystem::rename(folder.file("a/8/00001.bin"), folder.file("a/7/00001.bin"));
    folder.write("a/results/layer_0.npy", "1");
    folder.write("a/README.txt", "1");
    CHECK(named("a") == first);
  }
}
