#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/command/command_line.h"

namespace tessera::command {
namespace {

/// `word` is what is being typed: an option if it begins with -, the value of the option before it,
/// else an argument. Files are offered where nothing that is listed fits.
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

/// `'NAME OPTION') echo ...` for each that lists its values; of an argument OPTION is empty. Where
/// the first argument is a file, the values of another are offered once a letter stands there.
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

}  // namespace

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

}  // namespace tessera::command
