#include "sim/base/whole_file.h"

#include <array>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "tests/folder.h"

using namespace tessera;

namespace {

namespace fs = std::filesystem;

struct FileFolder : test::Folder {
  FileFolder() { create_folder(Folder::file("a")); }
  [[nodiscard]] std::string file() const { return Folder::file("a/file"); }
  [[nodiscard]] std::string text() const { return read("a/file"); }
  [[nodiscard]] std::ptrdiff_t count() const {
    return std::distance(fs::directory_iterator(path() / "a"), {});
  }
};

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a file keeps its old text until the new one is committed") {
    const FileFolder folder;
    write_whole(folder.file(), "old");
    WholeFile file(folder.file());
    file.out() << "new" << std::flush;
    CHECK(folder.text() == "old");
    file.commit();
    CHECK(folder.text() == "new");
    CHECK(folder.count() == 1);
  }

  TEST_CASE("uncommitted files leave nothing") {
    const FileFolder folder;
    { WholeFile(folder.file()).out() << "text"; }
    CHECK(folder.count() == 0);
  }

  TEST_CASE("a file that cannot be written is named with the reason") {
    const FileFolder folder;
    CHECK_THROWS_WITH_AS(
        write_whole(folder.Folder::file("none/file"), "text"),
        (folder.path().string() + "/none/file: cannot be written: No such file or directory")
            .c_str(),
        UserError);
    write_whole(folder.file(), "text");
    CHECK_THROWS_AS(create_folder(folder.file() + "/b"), UserError);
  }

  TEST_CASE("a symbolic link stays one, and the file that it names is replaced") {
    const FileFolder folder;
    fs::create_directory(folder.path() / "b");
    fs::create_symlink("../b/file", folder.file());
    for (const char* text : {"new", "newer"}) {  // the link's target does not exist at first
      write_whole(folder.file(), text);
      CHECK(fs::is_symlink(folder.file()));
      CHECK(folder.read("b/file") == text);
    }
    CHECK(folder.count() == 1);
  }

  TEST_CASE("a pipe or device is written, not replaced") {
    const FileFolder folder;
    REQUIRE(::mkfifo(folder.file().c_str(), 0600) == 0);
    const int reader = ::open(folder.file().c_str(), O_RDONLY | O_NONBLOCK);
    write_whole(folder.file(), "text");
    std::array<char, 8> got{};
    CHECK(::read(reader, got.data(), got.size()) == 4);
    ::close(reader);
    CHECK(std::string(got.data()) == "text");
    CHECK(fs::is_fifo(folder.file()));
    fs::remove(folder.file());
    fs::create_symlink("/dev/null", folder.file());
    write_whole(folder.file(), "text");
    CHECK(fs::read_symlink(folder.file()) == "/dev/null");
    CHECK(folder.count() == 1);
  }
}
