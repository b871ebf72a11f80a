#include <string_view>

#include <fmt/format.h>

#include "sim/base/host_limit.h"
#include "sim/command/command_line.h"
#include "sim/report/version.h"

namespace tessera::command {
namespace {

/// Plain text for roff: what it would take for its own is escaped.
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

/// "--out VALUE"; an argument is its name.
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
      {ExitCode::check_failed, "the result is wrong, or a gate of validate fails"},
      {ExitCode::user_error, "a mistake in the command, the config, a file or the program"},
      {ExitCode::no_progress, "no progress: the state of every tile that is stuck is printed"},
      {ExitCode::defect, "a bug of the simulator's own"},
      {ExitCode::host_limit,
       "the host has not enough memory, threads, files, time or room on its disk"},
      {ExitCode::interrupted,
       "interrupted: nothing half-written remains, a sweep keeps its points"},
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
  text +=
      ".SH FILES\n" +
      item(italic("/usr/share/tessera/configs"),
           "shipped configs, as installed under /usr: runs, sweeps, machines, papers, validation; "
           "the last three are part of the program, too") +
      item(italic("/usr/share/doc/tessera/configs.md"), "every key of a config") +
      item(italic("runs/NAME-HASH"), "what a run writes, unless --out says where");
  return text + ".SH EXAMPLES\n" + examples() + ".SH SEE ALSO\n" + bold("gnuplot") +
         "(1), which draws the figures of " + bold("tessera plot") + "\n";
}

}  // namespace tessera::command
