#include <cmath>
#include <cstring>
#include <initializer_list>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using tessera::config::Json;
using tessera::test::check_refused;
using tessera::test::CommandFolder;
using tessera::test::numpy_file;

/// Data sets in the files of their publishers, as inputs of networks: small ones written here by
/// the formats' specifications.
namespace {

constexpr const char* kFromFiles = R"({"machine": {"extends": "bow", "tiles": 8},
  "workload": {"kernel": "mlp", "layers": [{"outputs": 12, "activation": "relu"}, {"outputs": 4}],
               "data": {"width": 4, "height": 3, "classes": 4, "samples": 20, "test_samples": 10},
               "batch": 10, "steps": 3}})";
constexpr unsigned kValues = 12;  // of an image

unsigned value(unsigned image, unsigned at) { return (37 * image + 11 * at * at) % 256; }

std::string idx(std::initializer_list<unsigned> shape, const std::string& values) {
  std::string bytes{0, 0, 8, static_cast<char>(shape.size())};
  for (const unsigned extent : shape)
    for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(extent >> shift);
  return bytes + values;
}
std::string images(unsigned first, unsigned count) {
  std::string values;
  for (unsigned i = first; i < first + count; ++i)
    for (unsigned at = 0; at < kValues; ++at) values += static_cast<char>(value(i, at));
  return idx({count, 3, 4}, values);
}
std::string labels(unsigned first, unsigned count) {
  std::string values;
  for (unsigned i = first; i < first + count; ++i) values += static_cast<char>(i % 4);
  return idx({count}, values);
}

/// A .npy file of the images, each value as `scaled` gives it.
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
  TEST_CASE("a network is trained on IDX files as on the same values in an array") {
    const CommandFolder folder{{"a.json", kFromFiles},
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
    const CommandFolder folder{{"a.json", kFromFiles}};
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

  TEST_CASE("data sets that do not go with the config are refused") {
    const CommandFolder folder{{"a.json", kFromFiles},
                               {"x-ubyte", images(0, 30)},
                               {"y-ubyte", labels(0, 30)},
                               {"few-ubyte", images(0, 29)},
                               {"fewer-ubyte", labels(0, 29)}};
    const auto refused = [&](const std::string& set, const std::string& message) {
      check_refused(folder, "run a.json --set workload.data." + set, {message});
    };
    const std::string both = "images=x-ubyte --set workload.data.labels=y-ubyte";
    refused(both + " --set workload.data.width=5",
            "workload.data.width: found 5, allowed 4, as x-ubyte has");
    refused("images=few-ubyte --set workload.data.labels=y-ubyte",
            "workload.data.images: found 29 images in few-ubyte, allowed 30 and more");
    refused("images=x-ubyte --set workload.data.labels=fewer-ubyte",
            "workload.data.labels: found 29 labels in fewer-ubyte, allowed 30");
    refused("images=x-ubyte", "workload.data.labels: not given, but x-ubyte has no labels");
    refused(both + " --set workload.data.classes=3 --set workload.layers[1].outputs=3",
            "workload.data.labels: found 3 for sample 3 of y-ubyte, allowed 0 to 2");
    refused(both + " --set workload.data.test_labels=y-ubyte",
            "workload.data.test_labels: found without test_images");
    refused("scaling=unit", "workload.data.scaling: found \"unit\", which nothing reads");
    refused("labels=y-ubyte", "workload.data.labels: found one of images and labels");
  }
}
