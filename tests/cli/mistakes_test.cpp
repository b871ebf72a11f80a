#include <filesystem>
#include <string>
#include <sys/stat.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using namespace tessera::test;

namespace {

constexpr const char* kGood = R"({"machine": {"extends": "gc200", "tiles": 2},
  "workload": {"kernel": "KERNEL", "elements_per_worker": 60}})";

/// One group of tests/cli/mistakes. Each entry is a call and parts of its message. If the group
/// names the call, an entry begins with the file that it reads, or with keys merged into `config`.
void check_group(const Json& group) {
  const CommandFolder folder;
  const Json files = group.value("files", Json::object());
  for (const auto& [name, content] : files.items())
    folder.write(name, content.is_string() ? content.get<std::string>() : content.dump());
  for (const std::string call : group.value("before", Json::array())) folder.done(call);
  for (const Json& mistake : group.at("mistakes")) {
    std::string call = group.value("call", "");
    if (call.empty()) {
      call = mistake[0];
    } else {
      Json config = group.value("config", Json());
      config.merge_patch(mistake[0]);
      folder.write(call.substr(call.rfind(' ') + 1),
                   config.is_string() ? config.get<std::string>() : config.dump());
    }
    CAPTURE(mistake[0].dump());
    if (const std::size_t at = call.find("BARE"); at != std::string::npos)
      call.replace(at, 4, TESSERA_BARE_PROGRAMS);
    check_refused(folder, call, {mistake.begin() + 1, mistake.end()}, group.value("code", 2));
  }
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("each mistake is refused with what was found and what is allowed") {
    for (const char* file : {"commands", "configs", "sweeps"}) {
      const Json groups = source_json(fmt::format("tests/cli/mistakes/{}.json", file));
      for (const auto& each : groups.items()) {
        CAPTURE(each.key());
        check_group(parsed_json(with_kernel(each.value().dump())));
      }
    }
  }

  TEST_CASE("names that cannot be files are refused at once wherever a file is named") {
    const CommandFolder folder{{"a.json", with_kernel(kGood)}};
    // Outside the folder, whose file names are compared.
    const std::filesystem::path loop = folder.path().string() + "-loop";
    std::filesystem::remove(loop);
    std::filesystem::create_symlink(loop.filename(), loop);
    REQUIRE(::mkfifo((folder.path() / "pipe").c_str(), 0600) == 0);
    const std::string longer(300, 'n');
    const auto refused = [&](const std::string& arguments, const char* message) {
      const std::string timed = fmt::format("timeout 20 {} {}", TESSERA_PROGRAM, arguments);
      check_refused(folder, "--version >.version && " + timed, {message});
    };
    for (const char* command : {"run ", "check ", "exec ", "disasm ", "report ", "plot ",
                                "run a.json --out ", "run a.json --set machine=./"}) {
      refused(command + longer, "File name too long");
      refused(command + ("../" + loop.filename().string()), "Too many levels of symbolic links");
    }
    std::filesystem::remove(loop);
    refused("run /dev/zero", "/dev/zero: found a device, expected a file");
    refused("exec /dev/zero", "/dev/zero: found a device, expected a file");
    refused("run pipe", "pipe: line 1, column 1");
    refused("exec pipe", "pipe: found a pipe, expected a file");
  }

  TEST_CASE("messages quote what was found legibly, however long and of whatever bytes") {
    const CommandFolder folder;
    const std::string key(100'000, 'k');
    folder.write("long.json", fmt::format(R"({{"{}": 1}})", key));
    folder.write("escape.json",
                 with_kernel(R"({"machine": "gc200", "workload": {"kernel": "KERNEL"},
      "run": {"\u001b[31mseed": 1}})"));
    folder.write("name.json", "{\"machine\": \"\\u001b]0;title\\u0007\"}");
    const auto refused = [&](const std::string& arguments, const std::string& part) {
      const Answer answer = folder.call(arguments);
      CHECK(answer.code == 2);
      CHECK(answer.err.size() < 4000);
      CHECK(!holds(answer.err, "\x1b"));
      CHECK(!holds(answer.err, "\a"));
      CHECK(holds(answer.err, part));
    };
    folder.write("bytes.json", "{\"a\": \"\xff\"}");
    refused("run bytes.json", "bytes.json: line 1");
    refused("run bytes.json", "UTF-8");
    refused("run long.json", "bytes left out) ... ");
    refused("run escape.json", "run.\\x1b[31mseed: found an unknown key");
    refused("run name.json", "\\x1b]0;title\\x07");
    refused("run \"$(printf '\\033[2Jno.json')\"", "\\x1b[2Jno.json: cannot be read");
    refused("run name.json --set \"$(printf 'machine.\\033[1m=2')\"", "\\x1b[1m");
    refused("run \"$(printf -- '--\\033[1m')\" x", "\\x1b[1m");
  }
}
