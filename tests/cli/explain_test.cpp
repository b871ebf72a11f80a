#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "kernels/catalogue.h"
#include "sim/command/glossary.h"
#include "sim/report/stalls.h"
#include "sim/report/words.h"
#include "tests/cli/command.h"
#include "tests/kernels/points.h"

using tessera::command::Explanation;
using tessera::command::Glossary;
using namespace tessera::test;

/// Tests of `tessera explain`, and of the words that it must know.
namespace {

const Glossary& glossary() {
  static const Glossary made(tessera::kernels::catalogue());
  return made;
}

/// The words in a summary: names of lines, and names in front of numbers.
std::set<std::string> words_of(const std::string& summary) {
  std::set<std::string> words;
  std::istringstream lines(summary);
  std::string line;
  std::getline(lines, line);  // the problem and its machine
  const std::regex counted("([a-z][a-z_ ]*) [0-9]");
  const std::regex named("^ +([a-z]+)");
  while (std::getline(lines, line)) {
    std::smatch match;
    if (line.starts_with("  ") && line[2] != ' ' && std::regex_search(line, match, named))
      words.insert(match[1]);
    const bool parts = line.starts_with("  contexts  ") || line.starts_with("    ");
    if (!parts || holds(line, "samples right")) continue;
    std::string rest = line.starts_with("  contexts") ? line.substr(11) : line;
    for (; std::regex_search(rest, match, counted); rest = match.suffix()) words.insert(match[1]);
  }
  return words;
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a word is explained with its unit and where it comes from") {
    const CommandFolder folder;
    const std::pair<const char*, const char*> cases[] = {
        {"paired", "stalls.paired [context cycles]\n  context cycles in which a worker issued two"},
        {"arbitration", "but other contexts issued"},
        {"empty", "a context had no worker"},
        {"'useful FLOPs'",
         "work.useful_flops [FLOP]\n  floating-point operations that the problem requires"},
        {"lower bound", "bound.cycles [cycles]\n  lower bound on the cycles of this program"},
        {"overlapped", "several parts at the same time"},
        {"imbalance", "the longest computing of a superstep over the mean over tiles"},
        {"Time.Cycles", "time.cycles [cycles]\n"},
        {"machine.tile.contexts", "  from: config key; default 6\n"},
        {"workload.layers[2].outputs", "workload.layers[].outputs"},
        {"energy.by_part.clock", "energy.by_part.clock [J]\n"}};
    for (const auto& each : cases) {
      CAPTURE(each.first);
      const Answer answer = folder.done(std::string("explain ") + each.first);
      CHECK(answer.err.empty());
      CHECK(holds(answer.out, each.second));
    }
    const std::string all = folder.call("explain control").out;  // has more than one meaning
    check_holds(all, {"memory.control", "energy.area_mm2.control [mm2]"});
  }

  TEST_CASE("words that are no name are looked for in descriptions") {
    const CommandFolder folder;
    const std::string all = folder.done("explain exchange bandwidth").out;
    check_holds(all, {"no name is exchange bandwidth; found in the descriptions of 2 names\n",
                      "machine.fabric.send_bytes_per_cycle [bytes a cycle]\n",
                      "machine.fabric.receive_bytes_per_cycle [bytes a cycle]\n"});
    check_holds(folder.done("explain bandwidth").out,
                {"workload.bandwidth [blocks]\n",
                 "described by it: machine.fabric.send_bytes_per_cycle, machine.fabric.rec"});
    CHECK(holds(folder.done("explain cycles of a tile").out, "; the first 12:\n"));
  }

  TEST_CASE("without a word all words are listed") {
    const CommandFolder folder;
    const std::string all = folder.call("explain").out;
    for (const char* name : {"imbalance", "lower bound", "time.cycles", "results.loss",
                             "machine.tile.contexts", "workload.density", "run.max_cycles"})
      CHECK_MESSAGE(holds(all, name), name);
  }

  TEST_CASE("every word of a summary has its explanation") {
    const CommandFolder folder;
    std::set<std::string> words;
    for (const Point& point : small_points()) {
      CAPTURE(point.describe());
      const Answer answer =
          folder.done("run - --out r --set run.measure=host", point.config_on("bow", 8));
      words.merge(words_of(answer.out));
    }
    for (const char* expected : {"bound", "busiest tile", "trained", "arbitration", "tensors",
                                 "leakage", "exchange", "empty"})
      CHECK_MESSAGE(words.contains(expected), expected);
    for (const std::string& word : words) CHECK_MESSAGE(!glossary().find(word).empty(), word);
  }

  TEST_CASE("states of contexts and all columns of tables have explanations") {
    const CommandFolder folder;
    for (const std::string_view name : tessera::report::kStallNames)
      CHECK_MESSAGE(!glossary().find(name).empty(), name);
    std::set<std::string> tables;
    for (const Point& point : small_points()) {
      CAPTURE(point.describe());
      folder.done("run - --out r", point.config_on("bow", 8));
      for (const char* table : {"steps", "tiles", "traffic", "buffers", "loss"}) {
        const std::string file = fmt::format("r/{}.csv", table);
        if (!folder.has(file)) continue;
        tables.insert(table);
        const std::string text = folder.read(file);
        std::istringstream header(text.substr(0, text.find('\n')));
        for (std::string column; std::getline(header, column, ',');)
          CHECK_MESSAGE(!glossary().find(column).empty(), table, " ", column);
      }
    }
    CHECK(tables.size() == 5);
  }

  TEST_CASE("every word has one sentence, and the keys that it names exist") {
    std::set<std::string> names;
    const std::regex key("(machine|run|workload)\\.[a-z_0-9.]*[a-z_0-9]");
    for (const Explanation& each : glossary().all()) {
      CAPTURE(each.name);
      if (each.kernels.empty()) CHECK(names.insert(each.name).second);
      CHECK(!each.sentence.empty());
      CHECK(!each.sentence.ends_with('.'));
      CHECK(!each.from.empty());
      std::string rest = each.from.starts_with("config key") ? "" : each.from;
      for (std::smatch match; std::regex_search(rest, match, key); rest = match.suffix())
        CHECK_MESSAGE(!glossary().find(match.str()).empty(), match.str());
    }
    for (const tessera::report::Label& label : tessera::report::labels()) {
      CHECK_MESSAGE(names.contains(std::string(label.word)), label.word);
      CHECK_MESSAGE(!names.contains(std::string(label.text)), label.text);
    }
  }
}
