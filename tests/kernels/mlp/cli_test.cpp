#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using tessera::config::Json;
using tessera::test::Answer;
using tessera::test::CommandFolder;
using tessera::test::idx_file;
using tessera::test::numpy_counting;
using tessera::test::numpy_file;

/// Command-line tests of training, with small data sets written here by the specifications of the
/// published file formats.
namespace {

constexpr const char* kMlp = R"({"machine": {"extends": "bow", "tiles": 8},
  "workload": {"kernel": "mlp", "layers": [{"outputs": 12, "activation": "relu"}, {"outputs": 4}],
               "data": {"width": 4, "height": 3, "classes": 4, "samples": 20, "test_samples": 10},
               "batch": 10, "steps": 3}})";

constexpr unsigned kValues = 12;  // values of an image

unsigned value(unsigned image, unsigned at) { return (37 * image + 11 * at * at) % 256; }

std::string images(unsigned first, unsigned count) {
  std::string values;
  for (unsigned i = first; i < first + count; ++i)
    for (unsigned at = 0; at < kValues; ++at) values += static_cast<char>(value(i, at));
  return idx_file({count, 3, 4}, values);
}
std::string labels(unsigned first, unsigned count) {
  std::string values;
  for (unsigned i = first; i < first + count; ++i) values += static_cast<char>(i % 4);
  return idx_file({count}, values);
}

/// A .npy file of all images as f32, with scaled(byte) for each byte.
template <class Scaled>
std::string array(const Scaled& scaled) {
  std::string bytes(sizeof(float) * 30 * kValues, '\0');
  for (unsigned i = 0; i < 30 * kValues; ++i) {
    const float number = scaled(value(i / kValues, i % kValues));
    std::memcpy(bytes.data() + i * sizeof number, &number, sizeof number);
  }
  return numpy_file("<f4", "30, 3, 4", bytes);
}

Json results(const CommandFolder& folder, const std::string& data) {
  folder.done("run a.json --out result --set workload.data." + data);
  return folder.json("result/report.json").at("results");
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("images and labels come from files; the report has the losses") {
    const CommandFolder folder{{"a.json", kMlp},
                               {"x.npy", numpy_counting({30, 3, 4}, 7)},
                               {"y.npy", numpy_counting({30}, 4)}};
    const Answer answer = folder.done(
        "run a.json --out result --set workload.data.images=x.npy --set workload.data.labels=y.npy "
        "--set run.measure=host");
    const auto report = folder.json("result/report.json");
    CHECK(report.at("check").at("passed") == true);
    CHECK(report.at("results").at("loss").size() == 3);
    CHECK(report.at("workload").at("parameters") == 13 * 12 + 13 * 4);
    CHECK(report.at("time").at("host_cycles") > 0);
    CHECK(report.at("workload").at("memory").at("weights").at("total_bytes") > 0);
    const std::string loss = folder.read("result/loss.csv");
    CHECK(loss.starts_with("step,loss,accuracy\n1,"));
    CHECK(std::count(loss.begin(), loss.end(), '\n') == 4);
    CHECK(answer.out.find("  training  weights ") != std::string::npos);
    const Answer plot = folder.call("plot result --kind training --out curve --name it");
    CAPTURE(plot.err);
    if (std::system("command -v gnuplot > /dev/null 2>&1") == 0) CHECK(plot.code == 0);
    CHECK(folder.read("curve/it.csv") == loss);
  }

  TEST_CASE("in f16 each step's loss scale is told, masters are counted") {
    const CommandFolder folder{{"a.json", kMlp}};
    folder.done("run a.json --out result --set workload.dtype=f16");
    CHECK(folder.read("result/loss.csv").starts_with("step,loss,accuracy,loss_scale,skipped\n"));
    const auto memory = folder.json("result/report.json").at("workload").at("memory");
    const auto bytes = [&](const char* of) { return memory.at(of).at("total_bytes").get<int>(); };
    CHECK(bytes("masters") == 2 * bytes("weights"));
  }

  TEST_CASE("a network is trained on IDX files as on the same values in an array") {
    const CommandFolder folder{{"a.json", kMlp},
                               {"all-images-idx3-ubyte", images(0, 30)},
                               {"all-labels-idx1-ubyte", labels(0, 30)},
                               {"train-images-idx3-ubyte", images(0, 20)},
                               {"train-labels-idx1-ubyte", labels(0, 20)},
                               {"t10k-images-idx3-ubyte", images(20, 15)},
                               {"t10k-labels-idx1-ubyte", labels(20, 15)}};
    double sum = 0;
    double squares = 0;
    for (unsigned i = 0; i < 20 * kValues; ++i) sum += value(i / kValues, i % kValues);
    const double mean = sum / (20 * kValues);
    for (unsigned i = 0; i < 20 * kValues; ++i)
      squares += std::pow(value(i / kValues, i % kValues) - mean, 2);
    const double deviation = std::sqrt(squares / (20 * kValues));
    folder.write("unit.npy", array([](unsigned v) { return static_cast<float>(v) / 255.0F; }));
    folder.write("standard.npy", array([&](unsigned v) {
                   return static_cast<float>((static_cast<float>(v) - mean) / deviation);
                 }));
    const std::string all =
        "images=all-images-idx3-ubyte --set workload.data.labels=all-labels-idx1-ubyte";
    const std::string apart =
        "images=train-images-idx3-ubyte --set workload.data.labels=train-labels-idx1-ubyte --set "
        "workload.data.test_images=t10k-images-idx3-ubyte --set "
        "workload.data.test_labels=t10k-labels-idx1-ubyte";
    for (const std::string scaling : {"unit", "standard"}) {
      const std::string set = " --set workload.data.scaling=" + scaling;
      const Json expected = results(
          folder,
          fmt::format("images={}.npy --set workload.data.labels=all-labels-idx1-ubyte", scaling));
      CHECK(expected.at("loss").size() == 3);
      CHECK(results(folder, all + set) == expected);
      const Json parts = results(folder, apart + set);
      CHECK(parts.at("loss") == expected.at("loss"));
      CHECK(parts.at("test_accuracy") == expected.at("test_accuracy"));
      CHECK(parts.at("dropped").dump().find(
                "images not used: 5 of 15 in t10k-images-idx3-ubyte (workload.data)") !=
            std::string::npos);
    }
  }

  TEST_CASE("a network is trained on the binary files of CIFAR-10") {
    const CommandFolder folder{{"a.json", kMlp}};
    std::string records;
    for (unsigned i = 0; i < 40; ++i) {
      records += static_cast<char>(i % 4);
      for (unsigned at = 0; at < 3072; ++at) records += static_cast<char>(value(i, at));
    }
    folder.write("data_batch_1.bin", records);
    folder.write("test_batch.bin", records);
    const Json found = results(
        folder,
        "images=. --set workload.data.test_images=test_batch.bin --set workload.data.width=32 "
        "--set workload.data.height=32 --set workload.data.channels=3 --set "
        "workload.data.scaling=standard");
    CHECK(found.at("loss").size() == 3);
    CHECK(found.at("dropped").dump().find("images not used: 20 of 40 in .") != std::string::npos);
  }
}
