#include "sim/base/whole_file.h"

#include <filesystem>
#include <iterator>
#include <unistd.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/base/errors.h"

using namespace tessera;

namespace {

namespace fs = std::filesystem;

struct FileFolder {
  std::string path =
      (fs::temp_directory_path() / fmt::format("tessera-whole-{}", ::getpid())).string();
  FileFolder() { create_folder(path + "/a"); }
  ~FileFolder() { fs::remove_all(path); }
  [[nodiscard]] std::string file() const { return path + "/a/file"; }
  [[nodiscard]] std::ptrdiff_t count() const {
    return std::distance(fs::directory_iterator(path + "/a"), {});
  }
};

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a file keeps its old text until the new one is committed") {
    const FileFolder folder;
    write_whole(folder.file(), "old");
    WholeFile file(folder.file());
    file.out() << "new" << std::flush;
    CHECK(read(folder.file()) == "old");
    file.commit();
    CHECK(read(folder.file()) == "new");
    CHECK(folder.count() == 1);
  }

  TEST_CASE("what is not committed leaves nothing") {
    const FileFolder folder;
    { WholeFile(folder.file()).out() << "text"; }
    CHECK(folder.count() == 0);
  }

  TEST_CASE("a file that cannot be written is named with the reason") {
    const FileFolder folder;
    CHECK_THROWS_WITH_AS(
        write_whole(folder.path + "/none/file", "text"),
        (folder.path + "/none/file: cannot be written: No such file or directory").c_str(),
        UserError);
    write_whole(folder.file(), "text");
    CHECK_THROWS_AS(create_folder(folder.file() + "/b"), UserError);
  }
}
