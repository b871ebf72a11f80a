#pragma once

#include <string>
#include <vector>

#include "sim/config/config.h"
#include "sim/report/report.h"

/// The tensors that a run saves, and their files: `--save NAME=FILE.npy` and report.tensors.
namespace tessera::command {

struct TensorFile {
  std::string tensor;
  std::string file;
};

/// Parses `--save`. Throws UserError if it is not NAME=FILE.npy, or if a file is named twice or
/// cannot be written.
std::vector<TensorFile> files_to_save(const std::vector<std::string>& saves);

/// `saves`, and the files that the config requests below `folder`. Throws UserError or ConfigError
/// for a name that the program does not declare.
std::vector<TensorFile> tensor_files(const std::vector<TensorFile>& saves,
                                     const config::Config& config, const program::Program& program,
                                     const std::string& folder);

/// The tensors of these files without repetitions.
std::vector<std::string> tensors_of(const std::vector<TensorFile>& files);

/// Writes the files and removes those of an earlier run below `folder`. Returns lines for the
/// summary.
std::string write_tensors(const std::vector<TensorFile>& files, const report::Outcome& outcome,
                          const std::string& folder);

}  // namespace tessera::command
