#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/cli/command.h"

using tessera::test::Answer;
using tessera::test::check_refused;
using tessera::test::CommandFolder;
using tessera::test::numpy_file;

/// Options of training.
namespace {

constexpr const char* kMlp = R"({"machine": {"extends": "bow", "tiles": 8},
  "workload": {"kernel": "mlp", "layers": [{"outputs": 12, "activation": "relu"}, {"outputs": 4}],
               "data": {"width": 4, "height": 3, "classes": 4, "samples": 20, "test_samples": 10},
               "batch": 10, "steps": 3}})";

/// A .npy file of bytes.
std::string npy(const std::string& shape, int count, int modulus) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(i % modulus);
  return numpy_file("|i1", shape, bytes);
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("images and labels come from files; the report has the losses") {
    const CommandFolder folder;
    folder.write("a.json", kMlp);
    folder.write("x.npy", npy("30, 3, 4", 360, 7));
    folder.write("y.npy", npy("30,", 30, 4));
    const Answer answer = folder.call(
        "run a.json --out result --set workload.data.images=x.npy --set workload.data.labels=y.npy "
        "--set run.measure=host");
    CAPTURE(answer.err);
    REQUIRE(answer.code == 0);
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

  TEST_CASE("samples that are in no batch are counted and said, and only those") {
    const CommandFolder folder;
    folder.write("a.json", kMlp);
    const auto said = [&](const std::string& options) {
      const Answer answer =
          folder.call("run a.json --out result --set workload.steps=null " + options);
      CAPTURE(answer.err);
      REQUIRE(answer.code == 0);
      std::vector<std::string> lines;
      std::istringstream out(answer.out);
      for (std::string line; std::getline(out, line);)
        if (line.find("not used") != std::string::npos) lines.push_back(line);
      const auto results = folder.json("result/report.json").at("results");
      lines.push_back(results.at("samples_not_used").dump() + " " +
                      results.at("test_samples_not_used").dump());
      return lines;
    };
    using Lines = std::vector<std::string>;
    CHECK(said("") == Lines{"0 0"});
    CHECK(said("--set workload.batch=6") ==
          Lines{"  samples not used: 2 of 20 (batch 6 does not divide)",
                "  test samples not used: 4 of 10 (batch 6 does not divide)", "2 4"});
    CHECK(said("--set workload.batch=6 --set workload.epochs=2") ==
          Lines{"  test samples not used: 4 of 10 (batch 6 does not divide)", "0 4"});
    CHECK(said("--set workload.steps=1 --set workload.data.test_samples=0") ==
          Lines{"  samples not used: 10 of 20 (1 batch of 10)", "10 0"});
    CHECK(said("--set workload.batch=5 --set workload.feed=device --set workload.replicas=5") ==
          Lines{"  samples not used: 15 of 20 (1 batch of 5)", "15 0"});
    REQUIRE(folder.call("sweep a.json workload.batch=5,6 --set workload.steps=null --out s").code ==
            0);
    CHECK(folder.read("s/results.csv")
              .find(",results.samples_not_used,results.test_samples_not_used,") !=
          std::string::npos);
  }

  TEST_CASE("a training whose Adam follows gradients of their rounding's size passes its check") {
    const CommandFolder folder;
    folder.write("a.json", R"({"machine": {"extends": "gc200", "tiles": 3},
      "workload": {"kernel": "mlp", "layers": [
          {"kind": "low_rank", "outputs": 45, "activation": "relu", "rank": 3},
          {"outputs": 12, "activation": "gelu"}, {"kind": "butterfly", "outputs": 6}],
        "data": {"width": 4, "height": 4, "classes": 6, "samples": 61, "test_samples": 0, "noise": 0.5},
        "batch": 12, "feed": "device", "seed": 97, "steps": 6,
        "optimiser": {"kind": "adam", "schedule": "step", "learning_rate": 0.01, "decay_every": 2}}})");
    const Answer answer = folder.call("run a.json --out result");
    CAPTURE(answer.err);
    CHECK(answer.code == 0);
  }

  TEST_CASE("a layer's activation is none unless it is given, whichever layer it is") {
    const CommandFolder folder;
    folder.write("a.json", kMlp);
    REQUIRE(folder
                .call("run a.json --out result --set "
                      "'workload.layers=[{\"outputs\": 5}, {\"outputs\": 6}, {\"outputs\": 4}]'")
                .code == 0);
    const auto config = folder.json("result/report.json").at("config");
    for (const auto& layer : config.at("workload").at("layers"))
      CHECK(layer.at("activation") == "none");
  }

  TEST_CASE("mistakes about training are refused") {
    const CommandFolder folder;
    folder.write("a.json", kMlp);
    folder.write("x.npy", npy("30, 4", 120, 7));
    folder.write("x12.npy", npy("30, 12", 360, 7));
    folder.write("y.npy", npy("30,", 30, 5));
    const std::vector<std::pair<const char*, const char*>> mistakes{
        {"batch=21", "workload.batch: found 21, allowed 1 to 20, the samples to train on"},
        {"replicas=3", "workload.replicas: found 3, allowed what divides workload.batch 10"},
        {"replicas=10", "workload.replicas: found 10, allowed at most one for each of 8 tiles"},
        {"layers[1].outputs=5", "workload.layers: found 5 outputs of the last one, allowed 4"},
        {"layers=[]", "workload.layers: found none, allowed one or more"},
        {"layers[0].rank=2", "rank: found with kind dense, allowed with low_rank and pixelfly"},
        {"layers[0].parameters=rotation",
         "parameters: found with kind dense, allowed with butterfly"},
        {"layers[0].kind=circulant --set workload.layers[0].parameters=free",
         "workload.layers[0].parameters: found with kind circulant, allowed with butterfly"},
        {"layers[0].kind=fastfood --set workload.layers[0].rank=2",
         "rank: found with kind fastfood, allowed with low_rank and pixelfly"},
        {"layers[0].kind=fastfood --set "
         "'workload.plan.products=[{\"factors\":{\"fused\":2}}]'",
         "workload.layers[0]: its butterfly factors: workload.plan.fused: found 2, allowed 1 to 1"},
        {"layers[0].kind=pixelfly --set workload.layers[0].block=6",
         "block: found 6, allowed 4, 8 or 16"},
        {"layers[0].kind=pixelfly --set workload.layers[0].butterfly_size=6",
         "butterfly_size: found 6, allowed 0 or a power of two from 2 on"},
        {"layers[0].gamma=0.5", "gamma: found with kind dense, allowed with pixelfly"},
        {"layers[0].kind=pixelfly --set workload.layers[0].gamma=1.1",
         "workload.layers[0].gamma: found 1.1, allowed a number from 0 to 1"},
        {"layers[0].kind=pixelfly --set workload.layers[0].learn_gamma=true",
         "workload.layers[0].learn_gamma: found true without gamma, allowed with gamma, the number "
         "that it begins with"},
        {"layers[0].kind=butterflies", "kind: found \"butterflies\""},
        {"plan.padding=32", "workload.plan.padding: found 32, allowed 16, 8, 4"},
        {"optimiser.learning_rate=-1", "workload.optimiser.learning_rate: found -1"},
        {"optimiser.learning_rate=NaN", "workload.optimiser.learning_rate: found \"NaN\""},
        {"optimiser.beta1=0.5", "workload.optimiser.beta1: found with kind sgd, allowed with adam"},
        {"optimiser.decay=0.5",
         "workload.optimiser.decay: found with schedule constant, allowed with step"},
        {"optimiser.schedule=step --set workload.optimiser.lowest=0.5",
         "workload.optimiser.lowest: found with schedule step, allowed with cosine"},
        {"optimiser.schedule=cosin", "workload.optimiser.schedule: found \"cosin\""},
        {"loss_scale=128",
         "workload.loss_scale: found 128, which nothing reads as workload.dtype stands"},
        {"dtype=f16 --set workload.loss_scale=0",
         "workload.loss_scale: found 0, allowed a number from 5.960464477539063e-08 to 16777216, "
         "or dynamic"},
        {"dtype=f16 --set workload.loss_scale=64 --set workload.loss_scale_window=5",
         "workload.loss_scale_window: found 5, which nothing reads as workload.loss_scale stands"},
        {"dtype=f8", "workload.dtype: found \"f8\", allowed f16, f32"},
        {"data.test_samples=5", "data.test_samples: found 5, allowed 0 or at least a batch of 10"},
        {"epochs=3", "workload.epochs: found 3, which nothing reads as workload.steps stands"},
        {"train=false --set workload.optimiser.learning_rate=1",
         "workload.optimiser: found {\"learning_rate\":1}, which nothing reads as workload.train "
         "stands; leave it out"},
        {"dtype=f16 --set workload.train=false --set workload.loss_scale=64",
         "workload.loss_scale: found 64, which nothing reads as workload.train stands"},
        {"dtype=f16 --set workload.train=false --set workload.loss_scale_window=64",
         "workload.loss_scale_window: found 64, which nothing reads as workload.train stands"},
        {"steps=0 --set workload.batch=1 --set workload.epochs=838861",
         "workload.epochs: found 838861 of 20 samples in batches of 1, allowed up to 16777216 "
         "steps"},
        {"data.width=4096 --set workload.data.height=4096 --set workload.data.channels=4096",
         "workload.data.width: found 4096 x 4096 x 4096 values an image, allowed up to 16777216"},
        {"layers[0].kind=pixelfly --set workload.layers[0].block=4 --set "
         "workload.layers[0].factors=2",
         "workload.layers[0].factors: found 2, allowed 0 (all) to 1: log2 of butterfly_size 2"},
        {"data.images=x.npy", "workload.data.labels: found one of images and labels"},
        {"data.images=x.npy --set workload.data.labels=y.npy",
         "workload.data.images: found x.npy of shape [30, 4], allowed [30, ...] with 12 values"},
        {"data.images=x12.npy --set workload.data.labels=y.npy",
         "workload.data.labels: found 4 for sample 4 of y.npy, allowed 0 to 3"}};
    for (const auto& [option, message] : mistakes) {
      check_refused(folder, std::string("run a.json --set workload.") + option, {message});
    }
  }

  TEST_CASE("in f16 each step's loss scale is told, masters are counted, overflow is said") {
    const CommandFolder folder;
    folder.write("a.json", kMlp);
    const std::string run = "run a.json --out result --set workload.dtype=f16";
    const Answer answer = folder.call(run);
    CAPTURE(answer.err);
    REQUIRE(answer.code == 0);
    CHECK(folder.read("result/loss.csv").starts_with("step,loss,accuracy,loss_scale,skipped\n"));
    const auto report = folder.json("result/report.json");
    CHECK(report.at("config").at("workload").at("loss_scale") == "dynamic");
    CHECK(report.at("results").at("skipped_steps") == 0);
    const auto& memory = report.at("workload").at("memory");
    const auto bytes = [&](const char* of) { return memory.at(of).at("total_bytes").get<int>(); };
    CHECK(bytes("masters") == 2 * bytes("weights"));
    const Answer over = folder.call(run + " --set workload.loss_scale=1048576");
    CHECK(over.code == 0);
    CHECK(over.out.find("gradients overflow f16 in step 1 of 3") != std::string::npos);
  }

  TEST_CASE(
      "a loss that is no number is told with its step, and is right where it should be none") {
    const CommandFolder folder;
    folder.write("a.json", kMlp);
    const Answer answer = folder.call(
        "run a.json --out result --set workload.optimiser.learning_rate=1e6 --set "
        "workload.steps=30");
    CHECK(answer.code == 0);
    CHECK(answer.out.find("training diverges: the loss is ") != std::string::npos);
    const auto report = folder.json("result/report.json");
    CHECK(report.at("results").at("warnings").size() == 1);
    CHECK(report.at("check").at("note").get<std::string>().starts_with("plain training diverges"));
  }

  TEST_CASE("a sweep of trainings that was stopped and goes on leaves the same rows") {
    const CommandFolder folder;
    folder.write("a.json", kMlp);
    const std::string sweep =
        "sweep a.json workload.layers[0].kind=dense,butterfly,pixelfly,low_rank,circulant,fastfood "
        "--out ";
    REQUIRE(folder.call(sweep + "whole").code == 0);
    REQUIRE(folder.call(sweep + "parts --shard 1/2").code == 0);
    const Answer rest = folder.call(sweep + "parts");
    CAPTURE(rest.out);
    CHECK(rest.code == 0);
    CHECK(folder.read("parts/results.csv") == folder.read("whole/results.csv"));
  }

  TEST_CASE("a layer that fits no tile is named, not the product that its planner makes of it") {
    const CommandFolder folder;
    folder.write("a.json", R"({"machine": {"extends": "bow", "tiles": 4, "tile": {"sram_kib": 64}},
      "workload": {"kernel": "mlp", "layers": [{"outputs": 8}, {"outputs": 1024}, {"outputs": 10}],
                   "data": {"samples": 100}, "batch": 50}})");
    const std::pair<const char*, std::string> kinds[] = {
        {"dense",
         "workload.layers[0]: the product that makes its outputs, 52 x 1028 times 1028 x 12 with "
         "padding: no plan of gemm for m=52"},
        {"butterfly", "workload.layers[1]: its butterfly factors: "},
        {"circulant", "workload.layers[1]: its butterfly factors: "},
        {"fastfood", "workload.layers[1]: its butterfly factors: "},
        {"pixelfly", "workload.layers[1]: its pixelfly: "}};
    for (const auto& [kind, message] : kinds)
      check_refused(folder, std::string("check a.json --set workload.layers[1].kind=") + kind,
                    {message});
  }
}
