#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/base/host_limit.h"
#include "sim/command/command_line.h"
#include "sim/command/commands.h"
#include "sim/config/nearest.h"
#include "sim/report/version.h"

namespace tessera::command {

namespace {

constexpr std::array<std::string_view, 2> kDocuments = {"man", "bash"};

/// Prints a file installed with the program, made from the commands' declarations: `man`, `bash`.
ExitCode docs(const std::string& what, const Simulator& simulator) {
  if (what == "man") {
    fmt::print("{}", manual_page(all_commands(simulator)));
  } else if (what == "bash") {
    fmt::print("{}", bash_completion(all_commands(simulator)));
  } else {
    throw UserError("tessera docs: found {}, allowed {}", what,
                    config::names_near(what, kDocuments));
  }
  return ExitCode::done;
}

/// `word` is the word being typed: an option if it begins with -, the value of the option before
/// it, else an argument. Offers files if no listed choice fits.
constexpr const char* kComplete = R"(_tessera() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == -* ]] || { command=${COMP_WORDS[i]}; break; }
  done
  local words
  if [[ -z $command ]]; then
    words=$(_tessera_options '')
  elif [[ $before == -* ]] && _tessera_takes "$command" "$before"; then
    words=$(_tessera_values "$command" "$before")
  elif [[ $word == -* ]]; then
    words=$(_tessera_options "$command")
  else
    words=$(_tessera_values "$command" '')
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if ((${#COMPREPLY[@]} == 0)); then
    compopt -o filenames 2> /dev/null
    local IFS=$'\n'
    COMPREPLY=($(compgen -f -- "$word"))
  elif [[ ${COMPREPLY[0]} == *= ]]; then
    compopt -o nospace 2> /dev/null
  fi
}
complete -F _tessera tessera
)";

std::string options_of(const Command& command) {
  std::string words;
  for (const Option& option : command.options)
    if (option.named()) words += fmt::format("{} ", option.name);
  return words + "--help";
}

/// `'NAME OPTION') echo ...` for each option that lists its values; OPTION is empty for an
/// argument. If the first argument is a file, another's values are offered after its first letter.
std::string values_of(const Command& command) {
  std::string cases;
  std::size_t arguments = 0;
  for (const Option& option : command.options) {
    if (!option.named()) ++arguments;
    if (!option.values) continue;
    const bool late = !option.named() && arguments > 1;
    cases += fmt::format("    '{} {}') {}echo '{}' ;;\n", command.name,
                         option.named() ? option.name : "", late ? "[[ -n $word ]] && " : "",
                         fmt::join(option.values(), " "));
  }
  return cases;
}

/// Plain text for roff: escapes roff's special characters.
std::string plain(std::string_view text) {
  std::string escaped;
  if (text.starts_with('.') || text.starts_with('\'')) escaped = "\\&";
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if (c == '\'') {
      escaped += "\\(aq";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", plain(text)); }
std::string italic(std::string_view text) { return fmt::format("\\fI{}\\fR", plain(text)); }
std::string item(const std::string& what, std::string_view sentence) {
  return fmt::format(".TP\n{}\n{}\n", what, plain(sentence));
}

bool takes_many(const Option& option) {
  return std::holds_alternative<std::vector<std::string>*>(option.into);
}

/// "--out VALUE"; for an argument its name.
std::string heading(const Option& option) {
  if (!option.named()) return italic(option.name);
  return bold(option.name) + (option.takes_value() ? " " + italic("VALUE") : "");
}

/// Arguments, required options, and the rest as "[options]".
std::string synopsis(const Command& command) {
  std::string text = bold(fmt::format("tessera {}", command.name));
  bool more = false;
  for (const Option& option : command.options) {
    const std::string many = !option.named() && takes_many(option) ? "..." : "";
    if (option.required) {
      text += " " + heading(option) + many;
    } else if (option.named()) {
      more = true;
    } else {
      text += fmt::format(" [{}{}]", heading(option), many);
    }
  }
  return text + (more ? " [options]" : "");
}

std::string described(const Command& command) {
  std::string text = fmt::format(".SS \"{}\"\n{}\n", synopsis(command), plain(command.help));
  for (const Option& option : command.options) {
    const bool repeats = option.named() && takes_many(option) && option.separator == '\0';
    text += item(heading(option),
                 fmt::format("{}{}", option.help, repeats ? "; may be given several times" : ""));
  }
  return text;
}

std::string exit_codes() {
  const std::pair<ExitCode, std::string_view> codes[] = {
      {ExitCode::done, "done"},
      {ExitCode::check_failed, "the result is wrong, or a gate of validate failed"},
      {ExitCode::user_error, "an error in the command, the config, a file or the program"},
      {ExitCode::no_progress, "no progress; the state of every stuck tile is printed"},
      {ExitCode::defect, "a bug in the simulator"},
      {ExitCode::host_limit, "the host lacks memory, threads, files, time or disk space"},
      {ExitCode::interrupted,
       "interrupted; no partial files remain, and a sweep keeps its finished points"},
  };
  std::string text;
  for (const auto& [code, meaning] : codes)
    text += item(bold(fmt::format("{}", static_cast<int>(code))), meaning);
  return text;
}

std::string examples() {
  constexpr std::string_view kLines[] = {
      "tessera run /usr/share/tessera/configs/runs/quickstart.json",
      "tessera run /usr/share/tessera/configs/runs/quickstart.json --set workload.n=256 --out here",
      "tessera report here",
      "tessera sweep /usr/share/tessera/configs/sweeps/gemm_shapes.json --out shapes",
      "tessera plot shapes",
  };
  std::string text = ".nf\n";
  for (const std::string_view line : kLines) text += plain(line) + "\n";
  return text + ".fi\n";
}

}  // namespace

Command docs_command(const Simulator& simulator) {
  const auto what = std::make_shared<std::string>();
  return {"docs",
          "the manual page, or the completion for bash, as installed",
          {choosing({"WHAT", what.get(), "man or bash", kRequired},
                    [] { return std::vector<std::string>(kDocuments.begin(), kDocuments.end()); })},
          [what, &simulator] { return docs(*what, simulator); }};
}

std::string bash_completion(std::span<const Command> commands) {
  std::string names, options, values, takes;
  for (const Command& command : commands) {
    names += fmt::format("{} ", command.name);
    options += fmt::format("    {}) echo '{}' ;;\n", command.name, options_of(command));
    values += values_of(command);
    for (const Option& option : command.options)
      if (option.named() && option.takes_value())
        takes += fmt::format("{}'{} {}'", takes.empty() ? "" : "|", command.name, option.name);
  }
  return fmt::format(
      "# bash completion of tessera, made by `tessera docs bash`\n"
      "_tessera_options() {{\n  case $1 in\n    '') echo '{}--help --version' ;;\n{}  esac\n}}\n"
      "_tessera_values() {{\n  case \"$1 $2\" in\n{}  esac\n}}\n"
      "_tessera_takes() {{\n  case \"$1 $2\" in\n    {}) return 0 ;;\n  esac\n  return 1\n}}\n{}",
      names, options, values, takes, kComplete);
}

std::string manual_page(std::span<const Command> commands) {
  std::string text =
      fmt::format(".TH TESSERA 1 \"\" \"tessera {}\" \"User Commands\"\n", plain(report::kVersion));
  text += fmt::format(".SH NAME\ntessera \\- {}\n", plain(kProgramHelp));
  text += fmt::format(".SH SYNOPSIS\n{} {} [options]\n.br\n{}\n.br\n{} {} {}\n", bold("tessera"),
                      italic("COMMAND"), bold("tessera --version"), bold("tessera"),
                      italic("COMMAND"), bold("--help"));
  text += ".SH DESCRIPTION\n" +
          plain(
              "Simulates machines of thousands of small cores (tiles), each with its own SRAM and "
              "program, joined by an exchange fabric and barriers: runs real tile programs, checks "
              "their results and reports cycles, memory, traffic and energy of a JSON config.") +
          "\n.SH COMMANDS\n";
  for (const Command& command : commands) text += described(command);
  text += ".SH EXIT STATUS\n" + exit_codes();
  text += ".SH FILES\n" +
          item(italic("/usr/share/tessera/configs"),
               "shipped configs as installed under /usr: runs, sweeps, machines, papers, "
               "validation; the last three are also part of the program") +
          item(italic("/usr/share/doc/tessera/configs.md"), "every key of a config") +
          item(italic("runs/NAME-HASH"), "output of a run, unless --out is given");
  return text + ".SH EXAMPLES\n" + examples() + ".SH SEE ALSO\n" + bold("gnuplot") +
         "(1), which draws the figures of " + bold("tessera plot") + "\n";
}

}  // namespace tessera::command
