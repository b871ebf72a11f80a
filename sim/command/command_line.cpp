#include "sim/command/command_line.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/base/host_limit.h"
#include "sim/command/commands.h"
#include "sim/command/progress.h"
#include "sim/config/nearest.h"
#include "sim/report/version.h"

namespace tessera::command {
namespace {

/// The other commands that have an option, as text.
std::string owners_of(const CLI::App& program, const std::string& option) {
  const std::string name = option.substr(0, option.find('='));
  std::vector<std::string> owners;
  for (const CLI::App* each : program.get_subcommands({}))
    if (each->get_option_no_throw(name) != nullptr) owners.push_back("tessera " + each->get_name());
  if (owners.empty()) return "";
  return fmt::format("; {} is an option of {}", name, config::list_of(config::views(owners)));
}

/// Refuses words that CLI11 did not recognise, naming the nearest known one.
void refuse_extras(const CLI::App& app, const std::string& name) {
  const std::vector<std::string> extras = app.remaining();
  if (extras.empty()) return;
  const bool option = extras.front().starts_with("-");
  std::vector<std::string> known;
  if (option) {
    for (const CLI::Option* each : app.get_options()) {
      for (const std::string& spelled : each->get_lnames()) known.push_back("--" + spelled);
    }
  } else {
    for (const CLI::App* each : app.get_subcommands({})) known.push_back(each->get_name());
  }
  const std::vector<std::string_view> names = config::views(known);
  const std::string allowed = names.empty() ? "no further argument" : config::list_of(names);
  const std::string owners =
      option && app.get_parent() != nullptr ? owners_of(*app.get_parent(), extras.front()) : "";
  throw UserError("{}: found {}, allowed {}{}{}", name, extras.front(), allowed,
                  config::did_you_mean(extras.front(), names), owners);
}

/// An empty word names nothing: no file, key or number.
const CLI::Validator kNotEmpty(
    [](const std::string& text) {
      return text.empty() ? std::string("found \"\", allowed a text that is not empty")
                          : std::string();
    },
    "");

void add_option(CLI::App& command, const Option& option) {
  const auto add = [&](auto* into) -> CLI::Option* {
    using Value = std::remove_pointer_t<decltype(into)>;
    if constexpr (std::is_same_v<Value, bool>) {
      return command.add_flag(option.name, *into, option.help);
    } else {
      CLI::Option* const added = command.add_option(option.name, *into, option.help);
      if constexpr (!std::is_same_v<Value, std::optional<std::string>>) added->check(kNotEmpty);
      const bool once = std::is_same_v<Value, std::vector<std::string>> && option.named();
      if (option.separator != '\0') {
        added->delimiter(option.separator);
      } else if (once) {
        added->take_all()->expected(1)->allow_extra_args(false);
      }
      return added;
    }
  };
  CLI::Option* const added = std::visit(add, option.into);
  if (option.required) added->required();
  if (option.most > 0) added->check(CLI::Range(1, option.most));
}

/// The command line, last word first, as CLI11 expects it. CLI11 takes --title= for a missing
/// value, so an empty value becomes a word of its own.
std::vector<std::string> words_of(int argc, const char* const* argv,
                                  const std::vector<Command>& commands) {
  const auto takes_value = [&](const std::string& name) {
    return std::ranges::any_of(commands, [&](const Command& command) {
      return std::ranges::any_of(command.options, [&](const Option& option) {
        return name == option.name && option.takes_value();
      });
    });
  };
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    const bool empty = word.ends_with('=') && takes_value(word.substr(0, word.size() - 1));
    if (empty) word.pop_back();
    words.push_back(std::move(word));
    if (empty) words.emplace_back();
  }
  std::ranges::reverse(words);
  return words;
}

ExitCode parse_and_run(int argc, const char* const* argv, const Simulator& simulator) {
  CLI::App app(fmt::format("Tessera: {}", kProgramHelp), "tessera");
  app.set_version_flag("--version",
                       fmt::format("tessera {} ({})", report::kVersion, report::kCommit));
  app.allow_extras();
  app.require_subcommand(0, 1);  // all words after the first command are its arguments
  const std::vector<Command> commands = all_commands(simulator);
  for (const Command& command : commands) {
    CLI::App* const added = app.add_subcommand(command.name, command.help);
    for (const Option& option : command.options) add_option(*added, option);
    added->allow_extras();
  }
  try {
    app.parse(words_of(argc, argv, commands));
  } catch (const CLI::Success& help) {
    app.exit(help);
    return ExitCode::done;
  } catch (const CLI::ParseError& error) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    const std::string name = chosen.empty() ? "" : " " + chosen.front()->get_name();
    for (const CLI::App* each : chosen) refuse_extras(*each, "tessera" + name);
    throw UserError("tessera{}: {}; see tessera{} --help", name, error.what(), name);
  }
  refuse_extras(app, "tessera");
  for (const Command& command : commands) {
    if (!app.got_subcommand(command.name)) continue;
    refuse_extras(*app.get_subcommand(command.name), fmt::format("tessera {}", command.name));
    return command.carry_out();
  }
  tell(app.help());
  return ExitCode::user_error;
}

/// A failure to write standard output (closed, or a full disk) is a host limit.
ExitCode after_printing(ExitCode code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  const int error = errno;  // 0 if an earlier write failed
  const std::string reason = error == 0 ? "" : std::string(": ") + std::strerror(error);
  tell(fmt::format("standard output: cannot be written{}\n", reason));
  return ExitCode::host_limit;
}

}  // namespace

std::vector<Command> all_commands(const Simulator& simulator) {
  return {run_command(simulator),      check_command(simulator),
          exec_command(simulator),     disasm_command(),
          list_command(simulator),     schema_command(simulator),
          validate_command(simulator), report_command(simulator),
          sweep_command(simulator),    sensitivity_command(simulator),
          eval_command(simulator),     plot_command(),
          explain_command(simulator),  docs_command(simulator),
          profile_command(simulator)};
}

ExitCode run_command_line(int argc, const char* const* argv, const Simulator& simulator) {
  occupy_standard_streams();
  try {
    return after_printing(parse_and_run(argc, argv, simulator));
  } catch (const std::exception&) {
    const Failure failure = current_failure();
    if (std::ferror(stdout) != 0) return after_printing(failure.code);
    const bool ours = failure.code == ExitCode::defect;
    tell(fmt::format("{}{}\n", ours ? "tessera: a bug of ours: " : "", failure.message));
    return failure.code;
  }
}

}  // namespace tessera::command
