#include <csignal>
#include <filesystem>
#include <string>
#include <sys/stat.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using namespace tessera::test;

/// Contents of a sweep's folder, and which process may write there.
namespace {

namespace fs = std::filesystem;

const std::string kSweep = "sweep small.json machine.tiles=1..4 --out s";
/// Takes over a minute, although every second point is short.
const std::vector<std::string> kLongAxes = {"machine.tile.sram_kib=600..624",
                                            "workload.elements_per_worker=6000,60"};
const std::vector<std::string> kLong = {
    "sweep", "small.json", kLongAxes[0], kLongAxes[1], "--set", "machine.tiles=1472",
    "--out", "s",          "--jobs",     "1",          "--yes"};

std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path().string());
  return files;
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a point's file that was edited is named and the point runs again") {
    const CommandFolder folder{{"small.json", small_config(2)}};
    folder.done(kSweep);
    const std::string table = folder.read("s/results.csv");
    const std::string file =
        fs::relative(files_in(folder.path() / "s/points").front(), folder.path());
    const std::string whole = folder.read(file);
    const std::size_t cycles = whole.find("\"cycles\":");
    REQUIRE(cycles != std::string::npos);
    const std::string edited =
        whole.substr(0, cycles) + "\"cycles\":1" + whole.substr(whole.find(',', cycles));
    for (const std::string& text : {edited, whole.substr(0, whole.size() / 2), std::string(),
                                    std::string("{}"), std::string(R"({"report": null})")}) {
      folder.write(file, text);
      const Answer answer = folder.done(kSweep);
      CHECK(answer.out.starts_with("small: 4 points, 1 run now: 4 done\n"));
      CHECK(answer.err == file + ": its checksum does not agree; the point runs again\n");
      CHECK(folder.read("s/results.csv") == table);
    }
  }

  TEST_CASE("a second sweep into a folder where one is at work is refused, and says who is") {
    const CommandFolder folder{{"small.json", small_config(2)}};
    const auto refused = [&] {
      if (folder.has("s/sweep.lock")) {
        for (const char* shard : {"", " --shard 1/2"}) {
          const Answer answer = folder.call(kSweep + shard);
          CHECK(answer.code == 2);
          CHECK(answer.out.empty());
          CHECK(answer.err.starts_with("s: another sweep is at work there: small, process "));
          CHECK(holds(answer.err, ", since 20"));
        }
        return true;
      }
      return false;
    };
    CHECK(folder.interrupt(kLong, SIGINT, refused) == 130);
    CHECK(!folder.has("s/sweep.lock"));
    CHECK(folder.call(kSweep).code == 2);  // refused; the first sweep's files stay
    folder.done("sweep small.json machine.tiles=1..4 --out t");
  }

  TEST_CASE("shards of one sweep share its folder, a shard of another one is refused") {
    const CommandFolder folder{{"small.json", small_config(2)}};
    std::vector<std::string> shard = kLong;
    shard.insert(shard.end(), {"--shard", "1/2"});
    const std::string same = fmt::format(
        "sweep small.json {} --set machine.tiles=1472 --out s --shard ", fmt::join(kLongAxes, " "));
    const auto shared = [&] {
      if (!folder.has("s/sweep.lock") || folder.read("s/sweep.lock").empty()) return false;
      folder.done(same + "50/50");
      CHECK(folder.call(kSweep + " --shard 1/2").code == 2);
      CHECK(folder.call(kSweep).code == 2);
      return true;
    };
    CHECK(folder.interrupt(shard, SIGINT, shared) == 130);
    folder.done(kSweep);
    CHECK(!folder.has("s/sweep.lock"));
  }

  TEST_CASE("a second run into a folder where one is at work is refused, and says who is") {
    const CommandFolder folder{{"small.json", small_config(2)}};
    const auto refused = [&] {
      if (!folder.has("r/run.lock") || folder.read("r/run.lock").empty()) return false;
      const Answer answer = folder.call("run small.json --out r");
      CHECK(answer.code == 2);
      CHECK(answer.out.empty());
      CHECK(answer.err.starts_with("r: another run is at work there: quickstart, process "));
      return true;
    };
    CHECK(folder.interrupt(long_run({"--out", "r"}), SIGINT, refused) == 130);
    CHECK(!folder.has("r"));
    folder.done("run small.json --out r");
    CHECK(!folder.has("r/run.lock"));
  }

  TEST_CASE("an object in the place of a point's file is named, not read or replaced") {
    const CommandFolder folder{{"small.json", small_config(2)}};
    folder.done(kSweep);
    const fs::path file = files_in(folder.path() / "s/points").front();
    const std::string name = file.lexically_relative(folder.path());
    const auto refused = [&](const std::string& found) {
      const Answer answer = folder.call(kSweep);
      CHECK(answer.code == 2);
      CHECK(answer.err == fmt::format("{}: found {}, expected a file\n", name, found));
      fs::remove(file);
    };
    fs::remove(file);
    fs::create_directory(file);
    refused("a directory");
    REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
    refused("a pipe");
    fs::create_symlink("/dev/zero", file);
    refused("a device");
    CHECK(folder.call(kSweep).out.starts_with("small: 4 points, 1 run now: 4 done\n"));
  }

  TEST_CASE("a list of points that was cut off is refused, and the message says what to do") {
    const CommandFolder folder{{"small.json", small_config(2)}};
    folder.done(kSweep);
    const std::string whole = folder.read("s/points.jsonl");
    for (const std::string& text : {whole.substr(0, whole.size() - 20), std::string("[]\n"),
                                    std::string(R"({"id": 7, "config": "", "axes": {}})")}) {
      folder.write("s/points.jsonl", text);
      const Answer answer = folder.call(kSweep);
      CHECK(answer.code == 2);
      CHECK(holds(answer.err, " is no point of tessera sweep; --replace writes the file again"));
    }
    CHECK(folder.call(kSweep + " --replace").out.starts_with("small: 4 points, 0 run now: 4"));
    CHECK(folder.read("s/points.jsonl") == whole);
  }

  TEST_CASE("values of another type in a stored report are the file's fault") {
    const CommandFolder folder{{"small.json", small_config(2)}};
    folder.done("run small.json --out r");
    std::string report = folder.read("r/report.json");
    const std::string key = "\"columns\": ";
    const std::size_t at = report.find(key) + key.size();
    folder.write("r/report.json", report.replace(at, report.find_first_of(",\n", at) - at, "true"));
    const Answer answer = folder.call("plot r --kind tiles");
    CHECK(answer.code == 2);
    CHECK(answer.err.starts_with("r: is not as tessera wrote it: "));
  }
}
