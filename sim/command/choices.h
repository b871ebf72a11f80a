#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/command/command.h"
#include "sim/command/simulator.h"

/// Values of options for completion, from the code that reads them.
namespace tessera::command {

std::vector<std::string> names_of(config::Presets presets);

/// The option with the values of the key at `path`, such as report.trace.
Option choosing_key(Option option, std::string path, const Simulator& simulator);

/// The option, which takes key paths and values, with "PATH=" of every key of every workload.
Option with_keys(Option option, const Simulator& simulator);

/// `--set`, as all commands that read a config have it.
Option set_option(std::vector<std::string>* sets, const Simulator& simulator);

/// Options that stand for keys, beside what `--set` gives.
class OptionSets {
 public:
  explicit OptionSets(std::vector<std::string> sets) : sets_(std::move(sets)) {}

  /// The option as given, such as "--timing". Throws UserError if a `--set` says otherwise.
  void add(const std::string& option, const std::string& path, const std::string& value);
  /// An option that takes the key's value; nothing if that is empty.
  void add_key(const std::string& option, const std::string& path, const std::string& value);
  void refuse_other(std::string_view option, const std::string& path,
                    const std::string& value) const;
  [[nodiscard]] const std::vector<config::OptionValue>& options() const { return options_; }
  /// Those of `--set`, and the options as such.
  [[nodiscard]] std::vector<std::string> all() const;

 private:
  std::vector<std::string> sets_;
  std::vector<config::OptionValue> options_;
};

}  // namespace tessera::command
