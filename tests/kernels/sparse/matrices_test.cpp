#include <cstring>
#include <filesystem>
#include <string>
#include <sys/stat.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using tessera::test::check_refused;
using tessera::test::CommandFolder;

/// Runs with users' matrix files.
namespace {

constexpr const char* kSparse = R"({"machine": {"extends": "gc200", "tiles": 4},
  "workload": {"kernel": "spmm_static", "matrix": "a.mtx", "n": 5, "dtype": "f16"}})";
constexpr const char* kDense = R"({"machine": {"extends": "gc200", "tiles": 4},
  "workload": {"kernel": "gemm", "m": 8, "n": 8, "k": 8, "a": "a.npy", "b": "a.npy"}})";

/// A .npy file of version 1 with this header text and `bytes` zeros.
std::string npy(std::string header, std::size_t bytes) {
  header.resize(118, ' ');
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + std::string(bytes, '\0');
}

/// A .npy file of 64 elements of `width` bytes, all zero except for element `at`.
template <class Number>
std::string npy_with(const std::string& header, std::size_t width, std::size_t at, Number value) {
  std::string bytes = npy(header, 64 * width);
  std::memcpy(bytes.data() + bytes.size() - (64 - at) * width, &value, sizeof value);
  return bytes;
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a malformed .npy file is refused with what was found") {
    const std::string header = "{'descr': '<f2', 'fortran_order': False, 'shape': (8, 8), }";
    const auto with = [&](const std::string& from, const std::string& to) {
      std::string changed = header;
      return changed.replace(changed.find(from), from.size(), to);
    };
    const std::pair<std::string, std::vector<std::string>> files[] = {
        {"", {"a.npy: "}},
        {"not numpy at all", {"a.npy: "}},
        {npy(header, 127), {"a.npy: "}},
        {npy(header, 129), {"a.npy: "}},
        {npy(with("<f2", "<c8"), 512),
         {"workload.a: found a.npy of complex numbers (<c8), allowed real"}},
        {npy(with("8, 8", "8, 9"), 144), {"8", "9"}},
        {npy(with("8, 8", "64,"), 128), {"found a.npy of shape [64], allowed [8, 8]"}},
        {npy(with("False", "Perhaps"), 128), {"a.npy: fortran_order: found 'Perhaps'"}}};
    const CommandFolder folder{{"a.json", kDense}};
    for (const auto& [bytes, message] : files) {
      folder.write("a.npy", bytes);
      check_refused(folder, "run a.json", message);
    }
    folder.write("a.npy", npy(header, 128));
    folder.done("run a.json");
  }

  TEST_CASE("a value that dtype cannot hold is refused with file, index and value") {
    const std::string half = "{'descr': '<f2', 'fortran_order': False, 'shape': (8, 8), }";
    const std::string wide = "{'descr': '<f8', 'fortran_order': True, 'shape': (8, 8), }";
    const CommandFolder folder{{"a.json", kDense}};
    const auto refused = [&](const std::string& bytes, const char* message) {
      folder.write("a.npy", bytes);
      check_refused(folder, "run a.json", {message});
      check_refused(folder, "check a.json", {message});
    };
    refused(npy_with(half, 2, 19, std::uint16_t{0x7c00}), "a.npy: element [2, 3]: found inf");
    refused(npy_with(half, 2, 63, std::uint16_t{0x7e00}), "a.npy: element [7, 7]: found nan");
    refused(npy_with(wide, 8, 1, 65520.0),
            "a.npy: element [1, 0]: found 65520, allowed finite numbers up to 65504");
    folder.write("a.npy", npy_with(wide, 8, 1, 65519.0));
    folder.done("run a.json --set workload.partials=f32");
    folder.done("run a.json --set workload.dtype=f32");
    folder.write("a.npy", npy_with(wide, 8, 0, 1e39));
    check_refused(folder, "run a.json --set workload.dtype=f32", {"[0, 0]: found 1e+39"});
  }

  TEST_CASE("a pipe and a device are no matrix files, which is told at once") {
    const CommandFolder folder{{"a.json", kSparse}};
    REQUIRE(::mkfifo((folder.path() / "pipe.mtx").c_str(), 0600) == 0);
    std::filesystem::create_symlink("/dev/zero", folder.path() / "zero.mtx");
    const auto refused = [&](const char* file, const char* message) {
      check_refused(folder,
                    fmt::format("--version >.version && timeout 20 {} check a.json --set "
                                "workload.matrix={}",
                                TESSERA_PROGRAM, file),
                    {message});
    };
    refused("pipe.mtx", "pipe.mtx: found a pipe, expected a file");
    refused("zero.mtx", "zero.mtx: found a device");
  }
}
