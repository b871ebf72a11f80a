#include "sim/command/saved_tensors.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "sim/base/ranges.h"
#include "sim/base/whole_file.h"
#include "sim/config/nearest.h"

namespace tessera::command {

namespace fs = std::filesystem;

namespace {

constexpr const char* kEnding = ".npy";
constexpr const char* kFolder = "tensors";  // of the tensors in report.tensors

std::string normal(const std::string& file) {
  return fs::absolute(file).lexically_normal().string();
}

TensorFile parse(const std::string& save) {
  const std::size_t equals = save.find('=');
  TensorFile file{save.substr(0, equals),
                  equals == std::string::npos ? "" : save.substr(equals + 1)};
  if (file.tensor.empty() || file.file.size() <= std::string_view(kEnding).size() ||
      !file.file.ends_with(kEnding))
    throw UserError("--save {}: allowed NAME=FILE.npy, for example C=c.npy", save);
  return file;
}

void require_file(const std::string& file, const std::string& save) {
  if (fs::is_directory(file))
    throw UserError("--save {}: {} is a folder, allowed a file", save, file);
  try {
    const WholeFile probe(file);
  } catch (const UserError& error) {
    throw UserError("--save {}: {}", save, error.what());
  }
}

std::vector<std::string> names_of(const program::Program& program) {
  return mapped(program.tensors(), &program::Tensor::name);
}

/// What is wrong with a name; empty if it is known.
std::string problem_of(const std::string& name, const std::vector<std::string>& names,
                       std::string_view others) {
  if (contains(names, name)) return {};
  return fmt::format("found no tensor \"{}\", allowed {}{}", name, others,
                     config::names_near(name, names));
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    std::string name = list.substr(begin, end - begin);
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
    names.push_back(std::move(name));
    begin = end + 1;
  }
  return names;
}

/// Names of the tensors that report.tensors selects.
std::vector<std::string> reported(const config::Config& config,
                                  const std::vector<std::string>& names) {
  if (config.report.tensors.empty()) return {};
  if (config.report.tensors == "all") return names;
  std::vector<std::string> wanted = split(config.report.tensors);
  for (const std::string& name : wanted)
    if (const std::string problem = problem_of(name, names, "all or "); !problem.empty())
      throw config.located({"report.tensors", problem});
  return wanted;
}

}  // namespace

std::vector<TensorFile> files_to_save(const std::vector<std::string>& saves) {
  std::vector<TensorFile> files;
  std::set<std::string> known;
  for (const std::string& save : saves) {
    files.push_back(parse(save));
    require_file(files.back().file, save);
    if (!known.insert(normal(files.back().file)).second)
      throw UserError("--save {}: {} is named twice", save, files.back().file);
  }
  return files;
}

std::vector<TensorFile> tensor_files(const std::vector<TensorFile>& saves,
                                     const config::Config& config, const program::Program& program,
                                     const std::string& folder) {
  const std::vector<std::string> names = names_of(program);
  std::vector<TensorFile> files = saves;
  for (const TensorFile& save : saves)
    if (const std::string problem = problem_of(save.tensor, names, ""); !problem.empty())
      throw UserError("--save {}={}: {}", save.tensor, save.file, problem);
  for (const std::string& name : reported(config, names))
    files.push_back({name, (fs::path(folder) / kFolder / (name + kEnding)).string()});
  return files;
}

std::vector<std::string> tensors_of(const std::vector<TensorFile>& files) {
  std::set<std::string> names;
  for (const TensorFile& file : files) names.insert(file.tensor);
  return {names.begin(), names.end()};
}

std::string write_tensors(const std::vector<TensorFile>& files, const report::Outcome& outcome,
                          const std::string& folder) {
  const fs::path own = fs::path(folder) / kFolder;
  std::set<std::string> written;
  std::string lines;
  for (const TensorFile& file : files) {
    const auto tensor = std::ranges::find(outcome.tensors, file.tensor, &report::SavedTensor::name);
    tessera::check(tensor != outcome.tensors.end(), "run: tensor {} was not read", file.tensor);
    if (const fs::path parent = fs::path(file.file).parent_path(); !parent.empty())
      create_folder(parent.string());
    report::write_tensor(*tensor, file.file);
    written.insert(normal(file.file));
    lines += fmt::format("  tensor    {} {}, {}\n", file.tensor, tensor->kind, file.file);
  }
  if (!fs::is_directory(own)) return lines;
  for (const fs::directory_entry& entry : fs::directory_iterator(own))
    if (entry.path().extension() == kEnding && !written.contains(normal(entry.path().string())))
      fs::remove(entry.path());
  std::error_code full;
  fs::remove(own, full);  // if it is empty
  return lines;
}

}  // namespace tessera::command
