#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/config/json_text.h"
#include "tests/cli/command.h"

using namespace tessera::test;

/// Tests of files installed with the program, and of the installed program.
namespace {

/// The first word of each line of `text` that begins with `start` and no further space.
std::vector<std::string> first_words(const std::string& text, const std::string& start) {
  std::vector<std::string> words;
  std::istringstream lines(text);
  for (std::string line, word; std::getline(lines, line);) {
    if (!line.starts_with(start) || line.size() == start.size() || line[start.size()] == ' ')
      continue;
    std::istringstream(line) >> word;
    words.push_back(word);
  }
  return words;
}

std::vector<std::string> commands(const CommandFolder& folder) {
  const std::string help = folder.call("--help").out;
  return first_words(help.substr(help.find("Subcommands:")), "  ");
}

std::string escaped(const std::string& text) {
  std::string roff;
  for (const char c : text) roff += c == '-' ? std::string("\\-") : std::string(1, c);
  return roff;
}

bool has_program(const char* program) {
  return std::system(fmt::format("command -v {} > /dev/null", program).c_str()) == 0;
}

/// Completions that bash offers for the last of `words` ("''": an empty word), one a line.
std::string offered(const CommandFolder& folder, const std::string& words) {
  folder.write("complete.sh", fmt::format("source ./tessera.bash\nCOMP_WORDS=(tessera {})\n"
                                          "COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n_tessera\n"
                                          "printf '%s\\n' \"${{COMPREPLY[@]}}\" > offered\n",
                                          words));
  const std::string call = fmt::format("cd {} && bash complete.sh", folder.path().string());
  CHECK_MESSAGE(std::system(call.c_str()) == 0, words);
  return folder.read("offered");
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("the manual page has every command and every option that --help has") {
    const CommandFolder folder;
    const Answer manual = folder.done("docs man");
    const std::vector<std::string> all = commands(folder);
    CHECK(all.size() >= 12);
    for (const std::string& command : all) {
      INFO(command);
      const std::string heading = fmt::format(".SS \"\\fBtessera {}\\fR", command);
      const std::size_t at = manual.out.find(heading);
      REQUIRE(at != std::string::npos);
      const std::string section = manual.out.substr(at, manual.out.find(".SS", at + 1) - at);
      for (const std::string& option : first_words(folder.call(command + " --help").out, "  --"))
        CHECK_MESSAGE(holds(section, fmt::format("\\fB{}\\fR", escaped(option))), option);
    }
    for (const char* code : {"0", "1", "2", "3", "4", "5", "130"})
      CHECK(holds(manual.out, fmt::format(".TP\n\\fB{}\\fR\n", code)));
  }

  TEST_CASE("the manual page is clean for groff") {
    if (!has_program("groff")) {
      MESSAGE("skipped: groff is not installed");
      return;
    }
    const CommandFolder folder;
    folder.write("tessera.1", folder.call("docs man").out);
    const std::string call = "groff -man -Tutf8 -ww -z tessera.1 > said 2>&1";
    CHECK(std::system(fmt::format("cd {} && {}", folder.path().string(), call).c_str()) == 0);
    CHECK(folder.read("said").empty());
  }

  TEST_CASE("bash completes commands, options, their values, key paths and files") {
    const CommandFolder folder;
    folder.write("tessera.bash", folder.call("docs bash").out);
    folder.write("conf.json", "{}");
    const std::pair<const char*, const char*> cases[] = {
        {"sw", "sweep\n"},
        {"run --trace-", "--trace-tiles\n"},
        {"run --trace ph", "phases\n"},
        {"run conf.json --engine ''", "interpreter\nnative\n"},
        {"run --set workload.densi", "workload.density=\n"},
        {"run --set workload.matrix = conf", "conf.json\n"},
        {"run con", "conf.json\n"},
        {"run --out con", "conf.json\n"},
        {"check conf.json --se", "--set\n--seed\n"},
        {"sweep con", "conf.json\n"},
        {"sweep conf.json machine.tiles", "machine.tiles=\n"},
        {"list f", "fabrics\n"},
        {"plot --kind pare", "pareto\n"},
        {"exec --machine hamm", "hammerblade\n"},
        {"validate tilewise_b", "tilewise_bert\n"},
        {"run --quiet con", "conf.json\n"},
        {"explain machine.tile.cont", "machine.tile.contexts\n"},
        {"explain arbi", "arbitration\n"},
        {"docs ''", "man\nbash\n"}};
    for (const auto& [words, offers] : cases) CHECK(offered(folder, words) == offers);
  }

  TEST_CASE("the citation is of this version") {
    const CommandFolder folder;
    std::istringstream words(folder.call("--version").out);
    std::string name, version;
    words >> name >> version;
    const std::string citation =
        tessera::config::read_text(std::string(TESSERA_SOURCE) + "/CITATION.cff");
    CHECK(holds(citation, "\nversion: " + version + "\n"));
  }

  TEST_CASE("an installed program runs an installed config from anywhere") {
    const CommandFolder folder;
    const std::string build = std::filesystem::path(TESSERA_PROGRAM).parent_path().string();
    const std::string call = fmt::format(
        "cd {0} && cmake --install {1} --prefix {0}/usr > installed && usr/bin/tessera run "
        "usr/share/tessera/configs/runs/quickstart.json --set machine.tiles=4 --set workload.m=32 "
        "--set workload.n=32 --set workload.k=32 --out out > summary",
        folder.path().string(), build);
    CHECK(std::system(call.c_str()) == 0);
    CHECK(holds(folder.read("summary"), "largest error"));
    CHECK(folder.has("out/report.json"));
    for (const char* file : {"usr/share/man/man1/tessera.1.gz", "usr/share/doc/tessera/configs.md",
                             "usr/share/doc/tessera/copyright"})
      CHECK_MESSAGE(folder.has(file), file);
    CHECK(folder.read("usr/share/bash-completion/completions/tessera") ==
          folder.call("docs bash").out);
  }
}
