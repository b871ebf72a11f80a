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

/// One config file is one run: the sections machine, workload, run and report.
namespace tessera::config {

struct Config {
  std::string name;  ///< file name without folder and ending; the kernel's name for standard input
  MachineConfig machine;
  std::string kernel;
  std::unique_ptr<KernelOptions> workload;
  RunConfig run;
  ReportConfig report;
  Json resolved;  ///< every key with its value, defaults included
  Layers layers;  ///< the given values, each with its origin

  /// Adds to the mistake the file or option to blame, and the preset that the value came from.
  [[nodiscard]] ConfigError located(const KeyError& error) const {
    return layers.mistake(error.key_path(), error.problem());
  }
  /// Returns `use()`, whose mistakes are located().
  template <class Use>
  auto locating(const Use& use) const {
    try {
      return use();
    } catch (const KeyError& error) {
      throw located(error);
    }
  }
};

/// A key's value that an option of its own gives.
struct OptionValue {
  std::string option;  ///< as messages name it: "--threads 2"
  std::string path;
  std::string value;  ///< JSON if it parses, else a string
};

/// Values from options other than `--set`.
struct GivenOptions {
  std::vector<OptionValue> values;
  std::string seed;  ///< for run.seed and a workload's seeded data; empty: not given
};

/// Reads `file` ("-": standard input) with what it extends, then applies `sets` in their order and
/// `options`. Throws ConfigError or UserError.
Config load_config(const std::string& file, std::span<const std::string> sets,
                   const Catalogue& catalogue, Presets machines, const GivenOptions& options = {});

/// Reads a config from merged layers.
Config read_config(const Layers& layers, const std::string& name, const Catalogue& catalogue,
                   Presets machines);

/// Where neither traces nor tensors are written: throws ConfigError if the config asks for some.
void refuse_run_files(const Config& config);

/// A machine by a preset's or file's name.
MachineConfig load_machine(const std::string& name, Presets machines);

struct MachineFile {
  MachineConfig machine;
  Layers layers;  ///< origins of its keys
};
/// The machine of a file as is_machine_file() means it. Throws ConfigError with the file and the
/// key as they stand there.
MachineFile read_machine_file(const std::string& file, Presets machines);

/// The JSON Schema of such files.
Json machine_file_schema(Presets machines);

struct InputFile {
  std::string path;  ///< its key path in the config
  std::string file;
};

/// The files that the workload reads.
std::vector<InputFile> input_files(const Config& config);

/// The JSON Schema of whole configs.
Json config_schema(const Catalogue& catalogue, Presets machines);

/// All keys as Markdown tables, a section each and one for each kernel.
std::string config_markdown(const Catalogue& catalogue);

/// The resolved config without what cannot change results (run.threads, run.engine and report).
Json identity(const Json& resolved);

/// Sixteen hexadecimal digits that depend on the identity alone.
std::string config_hash(const Json& resolved);

}  // namespace tessera::config
