#include "tests/cli/command.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace tessera::test {
namespace fs = std::filesystem;

CommandFolder::CommandFolder()
    : path_(fs::temp_directory_path() / fmt::format("tessera-cli-{}", ::getpid())) {
  fs::remove_all(path_);
  fs::create_directories(path_);
}

CommandFolder::~CommandFolder() { fs::remove_all(path_); }

void CommandFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
}

std::string CommandFolder::read(const std::string& name) const {
  std::ifstream in(path_ / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Json CommandFolder::json(const std::string& name) const { return parsed_json(read(name)); }

bool CommandFolder::has(const std::string& name) const { return fs::exists(path_ / name); }

std::set<std::string> CommandFolder::names() const {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(path_)) {
    const std::string name = entry.path().lexically_relative(path_).string();
    if (!name.starts_with('.')) names.insert(name);
  }
  return names;
}

Answer CommandFolder::call(const std::string& arguments, const std::string& input) const {
  write(".input", input);
  const int status = std::system(
      fmt::format("cd {} && {} {} <.input >.out 2>.err", path_.string(), TESSERA_PROGRAM, arguments)
          .c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(".out"), read(".err")};
}

int CommandFolder::interrupt(const std::vector<std::string>& arguments, int signal,
                             const std::function<bool()>& ready) const {
  std::vector<char*> words = {const_cast<char*>(TESSERA_PROGRAM)};
  for (const std::string& each : arguments) words.push_back(const_cast<char*>(each.c_str()));
  words.push_back(nullptr);
  const pid_t process = ::fork();
  if (process == 0) {
    const int nothing = ::open("/dev/null", O_WRONLY);
    ::dup2(nothing, STDOUT_FILENO);
    ::dup2(nothing, STDERR_FILENO);
    if (::chdir(path_.c_str()) == 0) ::execv(TESSERA_PROGRAM, words.data());
    ::_exit(127);
  }
  int status = 0;
  while (!ready()) {
    REQUIRE_MESSAGE(::waitpid(process, &status, WNOHANG) == 0, "it ended before the signal");
    ::usleep(1000);
  }
  ::kill(process, signal);
  ::waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string stream_config(unsigned tiles) {
  return fmt::format(R"({{"machine": {{"extends": "gc200", "tiles": {}}},
  "workload": {{"kernel": "stream", "elements_per_worker": 60}}}})",
                     tiles);
}

Json parsed_json(const std::string& text) { return Json::parse(text); }

std::string numpy_file(const std::string& type, const std::string& shape,
                       const std::string& bytes) {
  constexpr std::size_t kHeader = 118;
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  header.resize(kHeader, ' ');
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + bytes;
}

void check_refused(const CommandFolder& folder, const std::string& arguments,
                   const std::vector<std::string>& message, int code) {
  const std::set<std::string> before = folder.names();
  const Answer answer = folder.call(arguments);
  INFO(arguments);
  INFO(answer.err);
  CHECK(answer.code == code);
  CHECK(answer.out.empty());
  CHECK(folder.names() == before);
  CHECK(answer.err.find("a bug of ours") == std::string::npos);
  for (const std::string& part : message) {
    INFO(part);
    CHECK(answer.err.find(part) != std::string::npos);
  }
}

}  // namespace tessera::test
