#include "sim/data/image_file.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <zlib.h>

#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "tests/cli/command.h"

using namespace tessera;
using test::idx_file;

/// Small image files, written from the formats' specifications.
namespace {

struct ImageFolder : test::Folder {
  [[nodiscard]] std::string compress(const std::string& name, const std::string& bytes) const {
    const gzFile out = gzopen(file(name).c_str(), "wb");
    REQUIRE(gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size())) ==
            static_cast<int>(bytes.size()));
    REQUIRE(gzclose(out) == Z_OK);
    return file(name);
  }
};

/// A CIFAR record: labels, then the planes of red, green and blue values, row by row. Value `at` of
/// plane c is (at + 10 c + first) mod 251.
std::string cifar(const std::string& labels, unsigned first) {
  std::string record = labels;
  for (unsigned channel = 0; channel < 3; ++channel)
    for (unsigned at = 0; at < 1024; ++at)
      record += static_cast<char>((at + 10 * channel + first) % 251);
  return record;
}

std::string refused(const std::string& file) {
  return test::refusal([&] { return data::read_images(file); });
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("images and labels of IDX files, compressed or not") {
    const ImageFolder folder;
    const std::string bytes =
        idx_file({2, 2, 3}, std::string("\0\1\2\3\4\5\xfa\xfb\xfc\xfd\xfe\xff", 12));
    for (const std::string& file : {folder.write("train-images-idx3-ubyte", bytes),
                                    folder.compress("train-images-idx3-ubyte.gz", bytes)}) {
      CHECK(data::is_image_file(file));
      const data::ImageFile images = data::read_images(file);
      CHECK(images.images == 2);
      CHECK(images.width == 3);
      CHECK(images.height == 2);
      CHECK(images.channels == 1);
      CHECK(images.labels.empty());
      CHECK(images.values ==
            std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5, 250, 251, 252, 253, 254, 255});
    }
    CHECK(data::read_images(folder.write("a.idx", idx_file({1, 1, 2, 3}, "abcdef"))).channels == 3);
    CHECK(data::read_labels(folder.write("labels-idx1-ubyte", idx_file({3}, "\7\2\1"))) ==
          std::vector<std::uint8_t>{7, 2, 1});
  }

  TEST_CASE("images of CIFAR's binary files have their channels together") {
    const ImageFolder folder;
    const std::string one = folder.write("data_batch_1.bin", cifar("\3", 0) + cifar("\1", 7));
    folder.write("data_batch_2.bin", cifar("\2", 20));
    folder.write("test_batch.bin", cifar("\5", 9));
    const data::ImageFile images = data::read_images(one);
    CHECK(images.images == 2);
    CHECK(images.channels == 3);
    CHECK(images.labels == std::vector<std::uint8_t>{3, 1});
    REQUIRE(images.values.size() == 2 * 3072);
    CHECK(images.values[std::size_t{3} * 33] == 33);
    CHECK(images.values[3 * 33 + 2] == 53);
    CHECK(images.values[3072 + 1] == 17);
    CHECK(data::read_images(folder.path()).labels == std::vector<std::uint8_t>{3, 1, 2});
    const data::ImageFile fine = data::read_images(folder.write("fine.bin", cifar("\4\x63", 1)));
    CHECK(fine.labels == std::vector<std::uint8_t>{99});
    CHECK(fine.values[0] == 1);
  }

  TEST_CASE("image files that are broken are refused with what is wrong") {
    const ImageFolder folder;
    const auto check = [&](const std::string& bytes, const std::string& problem) {
      const std::string file = folder.write("x.idx", bytes);
      CHECK(refused(file) == file + ": " + problem);
    };
    check("", "is no IDX file: it does not begin with two zeros, a type and a rank");
    check("PK\3\4", "is no IDX file: it does not begin with two zeros, a type and a rank");
    check(idx_file({1, 1, 1}, "abcd", 0x0d),
          "found values of type 0x0d, allowed 0x08, unsigned bytes");
    check(idx_file({4}, "abcd"), "found 1 extents, allowed 3 or 4");
    check(idx_file({2, 2, 2}, "abc"), "found 3 values, allowed 8, as its shape [2, 2, 2] says");
    check(idx_file({2, 0, 2}, ""), "found images of shape [0, 2], allowed 1 to 65535 each way");
    check(idx_file({0xffffffff, 0xffffffff, 0xffffffff}, ""),
          "found a shape of more than 4294967296 values");
    check(std::string("\0\0\10\3\0\0", 6), "ends within its header");
    const std::string whole = folder.compress("y.idx.gz", idx_file({1, 1, 1}, "a"));
    std::string cut(std::filesystem::file_size(whole) - 6, ' ');
    std::ifstream(whole, std::ios::binary).read(cut.data(), static_cast<long>(cut.size()));
    check(cut, "found gzip data that is cut off or broken");
    const std::string odd = folder.write("odd.bin", "abc");
    CHECK(refused(odd) == odd +
                              ": found 3 bytes, allowed a multiple of 3073 (CIFAR-10) or of 3074 "
                              "(CIFAR-100)");
    CHECK(refused(folder.path()) ==
          folder.path().string() +
              ": is a folder without data_batch_1.bin (CIFAR-10) and train.bin "
              "(CIFAR-100)");
  }
}
