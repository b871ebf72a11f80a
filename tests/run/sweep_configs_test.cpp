#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/config/json_text.h"
#include "tests/cli/drawn.h"

using namespace tessera;
using test::CommandFolder;
using test::holds;

/// Runs the commands in the comments of configs/sweeps literally, but with small sizes on few
/// tiles.
namespace {

std::string made_small(std::string text) {
  const std::pair<std::string, std::string> changes[] = {
      {R"("machine": "bow")", R"("machine": {"extends": "bow", "tiles": 16})"},
      {R"("machine": "gc200")", R"("machine": {"extends": "gc200", "tiles": 16})"},
      {R"("tiles": 64)", R"("tiles": 4)"},
      {R"("outputs": 1024)", R"("outputs": 64)"},
      {R"("samples": 2000, "test_samples": 500)",
       R"("width": 8, "height": 8, "samples": 100, "test_samples": 50)"},
      {R"("m": 4096, "k": 4096)", R"("m": 128, "k": 128)"},
      {"512..4096*2", "64..128*2"},
      {"256..4096*4", "16..64*4"},
      {"32..2048*2", "32..128*2"},
      {"128..16384*2", "16..64*2"},
      {"256..1048576*4", "64..256*4"}};
  for (const auto& [from, to] : changes) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

/// The arguments of each line "// tessera ...".
std::vector<std::string> commands_of(const std::string& text) {
  const std::string head = "// tessera ";
  std::vector<std::string> commands;
  for (std::size_t at = 0; (at = text.find(head, at)) != std::string::npos;) {
    at += head.size();
    commands.push_back(text.substr(at, text.find('\n', at) - at));
  }
  return commands;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("the commands in the comments of configs/sweeps work as they stand there") {
    const bool draws = tessera::test::has_gnuplot();
    std::size_t files = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(TESSERA_SOURCE) + "/configs/sweeps")) {
      const std::string file = entry.path().filename().string();
      const std::string text = config::read_text(entry.path().string());
      const CommandFolder folder;
      std::filesystem::create_directories(folder.path() / "configs/sweeps");
      folder.write("configs/sweeps/" + file, made_small(text));
      const std::vector<std::string> commands = commands_of(text);
      CAPTURE(file);
      REQUIRE(commands.size() >= 2);
      CHECK(commands.front().starts_with("sweep configs/sweeps/" + file + " --out "));
      for (const std::string& command : commands) {
        if (command.starts_with("plot ") && !draws) continue;
        CAPTURE(command);
        const test::Answer answer = folder.call(command);
        INFO(answer.out << answer.err);
        CHECK(answer.code == 0);
        CHECK(answer.err.empty());
        CHECK(!holds(answer.out, "failed"));
        CHECK(!holds(answer.out, "left out"));
      }
      ++files;
    }
    CHECK(files >= 4);
  }
}
