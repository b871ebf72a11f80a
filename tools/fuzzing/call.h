#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tessera::fuzz {

/// Paths that are not regular files.
enum class Special { folder, pipe, link_to_device, dangling_link, link_to_file };
enum class Stream { file, closed, full };

/// One call of a program: files for an empty folder, and arguments.
struct Input {
  std::map<std::string, std::string> files;
  std::vector<std::string> arguments;
  std::string standard_input;
  std::map<std::string, Special> specials = {};  ///< in addition to files, or in place of them
  Stream out = Stream::file, error = Stream::file;
  bool is_large = false;   ///< lack of host memory is acceptable
  bool searches = false;   ///< plans tens of problems: doubles the time limit
  bool pins_plan = false;  ///< a run into folder r, repeated with the plan that it printed
};

struct Limits {
  std::uint64_t gib = 4;       ///< memory, without sanitizers; 0: unlimited
  std::uint64_t seconds = 40;  ///< processor time; hosts differ by half
};

struct Outcome {
  int status = 0;  ///< as of waitpid
  double seconds = 0;
  bool timed_out = false;  ///< no end after 300 s; with pipes, after 30 s
};

/// Runs `program` in `folder` within `limits`; its streams are files beside it: .in, .out, .err.
Outcome call(const std::string& program, const Limits& limits, const Input& input,
             const std::filesystem::path& folder);

/// Empties `folder` and writes the input's files into it.
void lay(const Input& input, const std::filesystem::path& folder);

/// The first of the input's links and pipes that no longer exists; empty if all do.
std::string replaced(const Input& input, const std::filesystem::path& folder);

std::string read(const std::filesystem::path& file);
void write(const std::filesystem::path& file, const std::string& text);

}  // namespace tessera::fuzz
