#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tessera::fuzz {

/// Kinds of paths that are no regular files.
enum class Special { folder, pipe, link_to_device, dangling_link, link_to_file };
enum class Stream { file, closed, full };

/// One call of a program: files to lay into an empty folder, and the arguments.
struct Input {
  std::map<std::string, std::string> files;
  std::vector<std::string> arguments;
  std::string standard_input;
  std::map<std::string, Special> specials = {};  ///< instead of or beside files
  Stream out = Stream::file, error = Stream::file;
  bool is_large = false;   ///< a host may honestly not have the memory for it
  bool searches = false;   ///< plans tens of problems: twice the time
  bool pins_plan = false;  ///< a run in r, which is repeated with the plan that it printed
};

struct Limits {
  std::uint64_t gib = 4;       ///< memory, without sanitizers; 0: any
  std::uint64_t seconds = 40;  ///< processor time; hosts differ by half
};

struct Outcome {
  int status = 0;  ///< as of waitpid
  double seconds = 0;
  bool timed_out = false;  ///< it waited for 300 s; beside pipes for 30 s
};

/// Runs `program` in `folder` within `limits`. Its streams lie beside the folder: .in, .out, .err.
Outcome call(const std::string& program, const Limits& limits, const Input& input,
             const std::filesystem::path& folder);

/// Empties `folder` and lays the input's files into it.
void lay(const Input& input, const std::filesystem::path& folder);

/// The first of the input's links and pipes that is there no more; empty: none.
std::string replaced(const Input& input, const std::filesystem::path& folder);

std::string read(const std::filesystem::path& file);
void write(const std::filesystem::path& file, const std::string& text);

}  // namespace tessera::fuzz
