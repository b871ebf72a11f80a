#pragma once

#include <memory>
#include <span>
#include <string>

#include "sim/base/errors.h"
#include "sim/config/json_text.h"
#include "sim/config/layers.h"
#include "sim/config/run_config.h"
#include "sim/machine/machine_config.h"
#include "sim/program/catalogue.h"

/// One config file describes one run: the sections machine, workload, run and report.
namespace tessera::config {

struct Config {
  std::string name;  ///< file name without folder and suffix; for standard input the kernel's name
  MachineConfig machine;
  std::string kernel;
  std::unique_ptr<KernelOptions> workload;
  RunConfig run;
  ReportConfig report;
  Json resolved;  ///< all keys with their values, defaults included
  Layers layers;  ///< the given values with their origins

  /// Turns the error into one that names the file or option to blame, and the value's preset.
  [[nodiscard]] ConfigError located(const KeyError& error) const {
    return layers.mistake(error.key_path(), error.problem());
  }
  /// Returns `use()`; rethrows its KeyErrors as located().
  template <class Use>
  auto locating(const Use& use) const {
    try {
      return use();
    } catch (const KeyError& error) {
      throw located(error);
    }
  }
};

/// A value that a dedicated option gives to a key.
struct OptionValue {
  std::string option;  ///< as shown in messages: "--threads 2"
  std::string path;
  std::string value;  ///< JSON if it parses, else a string
};

/// Values from options other than `--set`.
struct GivenOptions {
  std::vector<OptionValue> values;
  std::string seed;  ///< for run.seed and the workload's seed; empty: not given
};

/// Reads `file` ("-": standard input) and the files it extends, then applies `sets` in order and
/// `options`. Throws ConfigError or UserError.
Config load_config(const std::string& file, std::span<const std::string> sets,
                   const Catalogue& catalogue, Presets machines, const GivenOptions& options = {});

/// Reads a config from merged layers.
Config read_config(const Layers& layers, const std::string& name, const Catalogue& catalogue,
                   Presets machines);

/// For commands without traces and tensor files: throws ConfigError if the config asks for them.
void refuse_run_files(const Config& config);

/// The machine of a preset or file.
MachineConfig load_machine(const std::string& name, Presets machines);

struct MachineFile {
  MachineConfig machine;
  Layers layers;  ///< origins of its keys
};
/// The machine of a machine file (is_machine_file). Throws ConfigError with the file and key.
MachineFile read_machine_file(const std::string& file, Presets machines);

/// The JSON Schema of machine files.
Json machine_file_schema(Presets machines);

struct InputFile {
  std::string path;  ///< key path in the config
  std::string file;
};

/// The files that the workload reads.
std::vector<InputFile> input_files(const Config& config);

/// The JSON Schema of whole configs.
Json config_schema(const Catalogue& catalogue, Presets machines);

/// All keys as Markdown tables, one per section and one per kernel.
std::string config_markdown(const Catalogue& catalogue);

/// The resolved config without keys that cannot change results (run.threads, run.engine, report).
Json identity(const Json& resolved);

/// FNV-1a hash of identity(resolved), sixteen hexadecimal digits.
std::string config_hash(const Json& resolved);

}  // namespace tessera::config
