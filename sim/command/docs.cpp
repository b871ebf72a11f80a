
#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/command/command_line.h"
#include "sim/command/commands.h"
#include "sim/config/nearest.h"

namespace tessera::command {
namespace {

constexpr std::array<std::string_view, 2> kDocuments = {"man", "bash"};

/// Prints what is installed beside the program, made from the declarations of its commands: `man`
/// or `bash`.
ExitCode docs(const std::string& what, const Simulator& simulator) {
  if (what == "man") {
    fmt::print("{}", manual_page(all_commands(simulator)));
  } else if (what == "bash") {
    fmt::print("{}", bash_completion(all_commands(simulator)));
  } else {
    throw UserError(fmt::format("tessera docs: found {}, allowed {}", what,
                                config::names_near(what, kDocuments)));
  }
  return ExitCode::done;
}

}  // namespace

Command docs_command(const Simulator& simulator) {
  const auto what = std::make_shared<std::string>();
  return {"docs",
          "the manual page, or the completion of bash, as they are installed",
          {choosing({"WHAT", what.get(), "man or bash", kRequired},
                    [] { return std::vector<std::string>(kDocuments.begin(), kDocuments.end()); })},
          [what, &simulator] { return docs(*what, simulator); }};
}

}  // namespace tessera::command
