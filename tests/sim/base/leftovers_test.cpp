#include "sim/base/leftovers.h"

#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "sim/base/whole_file.h"
#include "tests/folder.h"

using namespace tessera;

namespace {

namespace fs = std::filesystem;

/// A temporary name of a process on this host that has ended.
std::string name_of_dead(const std::string& path) {
  int pipe[2];
  REQUIRE(::pipe(pipe) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string name = temporary_name(path);
    ::_exit(::write(pipe[1], name.data(), name.size()) < 0 ? 1 : 0);
  }
  ::waitpid(child, nullptr, 0);
  char text[4096];
  const ssize_t got = ::read(pipe[0], text, sizeof text);
  for (const int end : pipe) ::close(end);
  return {text, static_cast<std::size_t>(got)};
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("temporary files of dead processes go, those of living ones and others' stay") {
    const test::Folder folder;
    const std::string dead = fs::path(name_of_dead("results.csv")).filename();
    const std::string ours = temporary_name("results.csv");
    for (const std::string& name : {dead, ours, std::string("notes.txt"), std::string("1.tmp"),
                                    std::string("x.elsewhere.1.tmp")})
      folder.write(name, "text");
    remove_leftovers(folder.path());
    CHECK(folder.names() == std::set<std::string>{ours, "notes.txt", "1.tmp", "x.elsewhere.1.tmp"});
  }

  TEST_CASE("another host's files are removed only if not written for an hour") {
    const test::Folder folder;
    folder.write("x.elsewhere.1.tmp", "text");
    fs::last_write_time(folder.file("x.elsewhere.1.tmp"),
                        fs::file_time_type::clock::now() - std::chrono::hours(2));
    remove_leftovers(folder.path());
    CHECK(folder.names().empty());
    remove_leftovers(folder.file("none"));  // a missing folder is ignored
  }

  TEST_CASE("a file of the longest name can be written, one of a longer name cannot") {
    const test::Folder folder;
    const std::string longest(255, 'n');
    write_whole(folder.file(longest), "text");
    CHECK(folder.names() == std::set<std::string>{longest});
    CHECK_THROWS_AS(write_whole(folder.file("n" + longest), "text"), UserError);
    CHECK(folder.names() == std::set<std::string>{longest});
  }
}
