#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/command/command.h"
#include "sim/command/simulator.h"

/// Values of options for shell completion, taken from the code that reads the options.
namespace tessera::command {

std::vector<std::string> names_of(config::Presets presets);

/// Adds the values of the key at `path`, such as report.trace, to an option.
Option choosing_key(Option option, std::string path, const Simulator& simulator);

/// Adds "PATH=" of every key of every workload to an option that takes key paths and values.
Option with_keys(Option option, const Simulator& simulator);

/// `--set`, the same in all commands that read a config.
Option set_option(std::vector<std::string>* sets, const Simulator& simulator);

/// Options that set config keys, in addition to `--set`.
class OptionSets {
 public:
  explicit OptionSets(std::vector<std::string> sets) : sets_(std::move(sets)) {}

  /// `option` as given, such as "--timing". Throws UserError if a `--set` contradicts it.
  void add(const std::string& option, const std::string& path, const std::string& value);
  /// An option that takes the key's value; ignored if `value` is empty.
  void add_key(const std::string& option, const std::string& path, const std::string& value);
  void refuse_other(std::string_view option, const std::string& path,
                    const std::string& value) const;
  [[nodiscard]] const std::vector<config::OptionValue>& options() const { return options_; }
  /// The assignments of `--set`, then those of the options.
  [[nodiscard]] std::vector<std::string> all() const;

 private:
  std::vector<std::string> sets_;
  std::vector<config::OptionValue> options_;
};

}  // namespace tessera::command
