#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"
#include "tests/sim/data/recordings_writer.h"

using tessera::config::Json;
using namespace tessera::test;

/// Spiking networks on small files written by the specifications of published data sets.
namespace {

constexpr const char* kRecorded = R"({"machine": {"extends": "bow", "tiles": 16},
  "workload": {"kernel": "snn", "layers": [6, 10], "time_steps": 4, "batch": 2,
               "data": {"kind": "nmnist", "samples": 2, "recordings": "Train", "step_microseconds": 1000}}})";

/// Writes a file, and creates its parent folder.
void write_in(const CommandFolder& folder, const std::string& name, const std::string& bytes) {
  const std::filesystem::path path = folder.path() / name;
  std::filesystem::create_directories(path.parent_path());
  folder.write(name, bytes);
}

/// A run's results and its input events, one a line: sample step input.
struct StreamRun {
  Json results;
  std::string events;
};
StreamRun run(const CommandFolder& folder, const std::string& data, unsigned inputs,
              unsigned samples = 2, unsigned time_steps = 4) {
  const Answer answer =
      folder.done("run a.json --out result --save raster=r.npy --set workload.data." + data);
  const std::string raster = folder.read("r.npy");
  const std::size_t size = std::size_t{samples} * time_steps * inputs;
  REQUIRE(raster.size() > size);
  const std::size_t begin = raster.size() - size;
  StreamRun result{folder.json("result/report.json").at("results"), ""};
  CHECK(folder.json("result/report.json").at("check").at("passed") == true);
  for (std::size_t i = 0; i < size; ++i)
    if (raster[begin + i] != 0)
      result.events +=
          fmt::format("{} {} {}, ", i / inputs / time_steps, i / inputs % time_steps, i % inputs);
  if (result.results.contains("dropped"))
    for (const Json& line : result.results.at("dropped"))
      CHECK(answer.out.find(line.get<std::string>()) != std::string::npos);
  return result;
}

std::string dropped(const StreamRun& result) {
  return result.results.value("dropped", Json()).dump();
}

void write_nmnist(const CommandFolder& folder) {
  write_in(folder, "Train/3/00001.bin",
           nmnist_file({{0, 0, 0, false},
                        {999, 0, 0, true},
                        {1000, 33, 33, true},
                        {1500, 33, 33, true},
                        {3999, 1, 2, false},
                        {4000, 5, 5, true}}));
  write_in(folder, "Train/1/00002.bin", nmnist_file({{2000, 2, 0, true}}));
  write_in(folder, "Train/1/00003.bin", nmnist_file({{2000, 4, 0, true}}));
  write_in(folder, "Test/0/00001.bin", nmnist_file({{3000, 6, 0, false}}));
  write_in(folder, "Test/0/00002.bin", nmnist_file({{3000, 8, 0, false}}));
  write_in(folder, "Test/0/00003.bin", "");
}

void write_gestures(const CommandFolder& folder) {
  const std::string heading = "class,startTime_usec,endTime_usec\n";
  write_in(folder, "dvs/trials_to_train.txt", "user01_lab.aedat\n");
  write_in(folder, "dvs/trials_to_test.txt", "user24_led.aedat\n");
  write_in(folder, "dvs/user01_lab.aedat",
           aedat_header() + aedat_packet({{5000, 0, 0, false}, {6500, 127, 127}, {9000, 64, 4}}));
  write_in(folder, "dvs/user01_lab_labels.csv", heading + "11,5000,8000\n1,8000,9500\n");
  write_in(folder, "dvs/user24_led.aedat", aedat_header() + aedat_packet({{10, 4, 0}, {20, 8, 0}}));
  write_in(folder, "dvs/user24_led_labels.csv", heading + "2,10,15\n3,15,25\n");
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a network is trained on N-MNIST's files") {
    const CommandFolder folder{{"a.json", kRecorded}};
    write_nmnist(folder);
    const StreamRun both = run(folder, "recordings=Train", 2312);
    CHECK(both.events == "0 0 0, 0 0 1156, 0 1 2311, 0 3 69, 1 2 1158, ");
    CHECK(both.results.at("events_merged") == 1);
    CHECK(both.results.at("events_cropped") == 1);
    CHECK(both.results.at("events_turned_off") == 0);
    CHECK(dropped(both).find("events not used: 1 after the last step (workload.time_steps, "
                             "workload.data.step_microseconds)") != std::string::npos);
    CHECK(dropped(both).find("recordings not used: 1 of 3 in Train (workload.data)") !=
          std::string::npos);
    const StreamRun merged =
        run(folder, "recordings=Train --set workload.data.polarity=merged", 1156);
    CHECK(merged.events == "0 0 0, 0 1 1155, 0 3 69, 1 2 2, ");
    CHECK(merged.results.at("events_merged") == 2);
    const StreamRun on = run(folder, "recordings=Train --set workload.data.polarity=on", 1156);
    CHECK(on.events == "0 0 0, 0 1 1155, 1 2 2, ");
    CHECK(on.results.at("events_turned_off") == 2);
    CHECK(dropped(on).find("events not used: 2 of polarity off (workload.data.polarity)") !=
          std::string::npos);
    const StreamRun pooled = run(folder, "recordings=Train --set workload.data.resolution=17", 578);
    CHECK(pooled.events == "0 0 0, 0 0 289, 0 1 577, 0 3 17, 1 2 290, ");
    const StreamRun slow =
        run(folder, "recordings=Train --set workload.data.step_microseconds=2000", 2312);
    CHECK(slow.events == "0 0 0, 0 0 1156, 0 0 2311, 0 1 69, 0 2 1331, 1 1 1158, ");
    CHECK(slow.results.at("events_cropped") == 0);
  }

  TEST_CASE("test samples are of a set of their own, or behind those to train on") {
    const CommandFolder folder{{"a.json", kRecorded}};
    write_nmnist(folder);
    const std::string tested =
        "recordings=Train --set workload.data.test_samples=2 --set workload.data.samples=2 ";
    const StreamRun apart =
        run(folder, tested + "--set workload.data.test_recordings=Test", 2312, 4);
    CHECK(apart.events.ends_with("1 2 1158, 2 3 6, 3 3 8, "));
    CHECK(apart.results.contains("test_accuracy"));
    CHECK(dropped(apart).find("\"recordings not used: 1 of 3 in Train") != std::string::npos);
    CHECK(dropped(apart).find("\"test recordings not used: 1 of 3 in Test") != std::string::npos);
    check_refused(folder, "run a.json --set workload.data." + tested,
                  {"workload.data.recordings: found 3 recordings in Train, allowed 4 and more"});
    write_in(folder, "Train/0/00004.bin", nmnist_file({{0, 7, 0, false}}));
    CHECK(run(folder, tested, 2312, 4).events.ends_with("2 2 1160, 3 0 7, "));
  }

  TEST_CASE("a network is trained on Spiking Heidelberg Digits") {
    const CommandFolder folder{{"a.json", kRecorded}};
    write_shd(folder.path() / "shd_train.h5", {{{0, 0.25F, 1.5F}, {0, 699, 4}}, {{0.75F}, {350}}},
              {19, 2});
    const std::string shd =
        "kind=shd --set workload.layers=[6,20] --set workload.data.recordings=shd_train.h5 --set "
        "workload.data.step_microseconds=250000 ";
    const StreamRun all = run(folder, shd, 700);
    CHECK(all.events == "0 0 0, 0 1 699, 1 3 350, ");
    CHECK(all.results.at("events_cropped") == 1);
    CHECK(run(folder, shd + "--set workload.data.resolution=140", 140).events ==
          "0 0 0, 0 1 139, 1 3 70, ");
  }

  TEST_CASE("a network is trained on DVS128 Gesture") {
    const CommandFolder folder{{"a.json", kRecorded}};
    write_gestures(folder);
    const std::string dvs =
        "kind=dvs_gesture --set workload.layers=[6,11] --set workload.data.recordings=dvs ";
    CHECK(run(folder, dvs, 4608).events == "0 0 0, 0 1 4607, 1 1 2376, ");
    const StreamRun pooled = run(folder,
                                 dvs +
                                     "--set workload.data.resolution=32 --set "
                                     "workload.data.test_recordings=dvs --set "
                                     "workload.data.test_samples=2",
                                 2048, 4);
    CHECK(pooled.events == "0 0 0, 0 1 2047, 1 1 1072, 2 0 1025, 3 0 1026, ");
  }
}
