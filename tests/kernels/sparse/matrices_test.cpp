#include <cstring>
#include <filesystem>
#include <string>
#include <sys/stat.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using tessera::test::check_refused;
using tessera::test::CommandFolder;

/// Users' matrix files in a run.
namespace {

constexpr const char* kSparse = R"({"machine": {"extends": "gc200", "tiles": 4},
  "workload": {"kernel": "spmm_static", "matrix": "a.mtx", "n": 5, "dtype": "f16"}})";
constexpr const char* kDense = R"({"machine": {"extends": "gc200", "tiles": 4},
  "workload": {"kernel": "gemm", "m": 8, "n": 8, "k": 8, "a": "a.npy", "b": "a.npy"}})";
const std::string kGeneral = "%%MatrixMarket matrix coordinate real general\n";

/// A .npy file of version 1 with this header text and so many bytes of zeros.
std::string npy(std::string header, std::size_t bytes) {
  header.resize(118, ' ');
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + std::string(bytes, '\0');
}

/// A .npy file of 64 elements of `width` bytes, all zero but for number `at` of the file.
template <class Number>
std::string npy_with(const std::string& header, std::size_t width, std::size_t at, Number value) {
  std::string bytes = npy(header, 64 * width);
  std::memcpy(bytes.data() + bytes.size() - (64 - at) * width, &value, sizeof value);
  return bytes;
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a malformed .mtx file is refused with the line") {
    const std::pair<std::string, const char*> files[] = {
        {"", "a.mtx:1: a Matrix Market file starts with"},
        {"1 1 1\n", "a.mtx:1: a Matrix Market file starts with"},
        {"%%MatrixMarket vector coordinate real general\n", "a.mtx:1: object: found 'vector'"},
        {"%%MatrixMarket matrix coordinate complex general\n", "a.mtx:1: values: found 'complex'"},
        {"%%MatrixMarket matrix coordinate real hermitian\n", "a.mtx:1: symmetry: found"},
        {"%%MatrixMarket matrix array pattern general\n", "a.mtx:1: an array holds values"},
        {kGeneral + "% no size\n", "a.mtx:2: the size line is missing"},
        {kGeneral + "2 2\n", "a.mtx:2: number of entries is missing"},
        {kGeneral + "2 x 1\n", "a.mtx:2: number of columns: found 'x'"},
        {kGeneral + "-2 2 1\n", "a.mtx:2: number of rows: found '-2'"},
        {"%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n", "a.mtx:2: a symmetric matrix"},
        {kGeneral + "2 2 1\n3 1 1\n", "a.mtx:3: row: found 3, allowed 1 to 2"},
        {kGeneral + "2 2 1\n%\n\n1 0 1\n", "a.mtx:5: column: found 0, allowed 1 to 2"},
        {kGeneral + "2 2 1\n1 1 one\n", "a.mtx:3: value: found 'one'"},
        {kGeneral + "2 2 1\n1 1 inf\n", "a.mtx:3: value: found inf, expected a finite number"},
        {kGeneral + "2 2 1\n1 1\n", "a.mtx:3: value is missing"},
        {kGeneral + "2 2 1\n1 1 1 1\n", "a.mtx:3: found '1' after the last value"},
        {kGeneral + "2 2 3\n1 1 1\n2 2 1\n", "a.mtx:4: the file ends after 2 of 3 entries"},
        {kGeneral + "2 2 1\n1 1 1\n2 2 1\n", "a.mtx:4: found more lines"},
        {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n",
         "a.mtx:3: a skew-symmetric matrix has no entry on its diagonal"},
        {kGeneral + "0 0 0\n", "a.mtx: found a matrix of 0 x 0, allowed from 1 x 1"},
        {kGeneral + "2 2 1\n1 2 70000\n", "a.mtx: the value 70000 is outside workload.dtype"}};
    const CommandFolder folder{{"a.json", kSparse}};
    for (const auto& [text, message] : files) {
      folder.write("a.mtx", text);
      check_refused(folder, "run a.json", {message});
      check_refused(folder, "check a.json", {message});
    }
  }

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
