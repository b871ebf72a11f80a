#pragma once

#include <string>
#include <vector>

#include "sim/config/config.h"
#include "sim/report/report.h"

/// Which tensors a run leaves in which files: `--save NAME=FILE.npy` and report.tensors.
namespace tessera::command {

struct TensorFile {
  std::string tensor;
  std::string file;
};

/// Reads `--save`. Throws UserError for what is no NAME=FILE.npy, a file that is named twice or
/// cannot be written.
std::vector<TensorFile> files_to_save(const std::vector<std::string>& saves);

/// All files: those, and the ones that the config wants below `folder`. Throws UserError or
/// ConfigError for a name that the program does not declare.
std::vector<TensorFile> tensor_files(const std::vector<TensorFile>& saves,
                                     const config::Config& config, const program::Program& program,
                                     const std::string& folder);

/// The tensors of these files, each once.
std::vector<std::string> tensors_of(const std::vector<TensorFile>& files);

/// Writes them and removes those that an earlier run left below `folder`. Returns lines for the
/// summary.
std::string write_tensors(const std::vector<TensorFile>& files, const report::Outcome& outcome,
                          const std::string& folder);

}  // namespace tessera::command
