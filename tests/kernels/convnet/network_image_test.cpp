#include "kernels/convnet/network_image.h"

#include <cmath>
#include <cstdio>  // before jpeglib.h, which asks for FILE
#include <cstdlib>
#include <jpeglib.h>
#include <png.h>

#include <doctest/doctest.h>

#include "sim/data/numpy_file.h"
#include "sim/data/random.h"
#include "tests/cli/command.h"
#include "tests/refusal.h"

using namespace tessera;
using convnet::Image;
using convnet::Pixels;
using convnet::Shape;

namespace {

constexpr const char* kKey = "workload.image";
constexpr program::Type kShort = program::Type::i16;

Pixels random_pixels(Shape shape) {
  Pixels pixels{shape, {}};
  for (std::size_t i = 0; i < shape.elements(); ++i)
    pixels.values.push_back(static_cast<std::uint8_t>(data::random_below(1, 1, i, 256)));
  return pixels;
}
std::string png_of(const Pixels& pixels) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.height = pixels.shape.height;
  image.width = pixels.shape.width;
  image.format = pixels.shape.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
  png_alloc_size_t size = bytes.size();
  REQUIRE(png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.values.data(), 0,
                                    nullptr) != 0);
  bytes.resize(size);
  return bytes;
}
std::string jpeg_of(const Pixels& pixels) {
  jpeg_compress_struct info = {};
  jpeg_error_mgr errors = {};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_height = pixels.shape.height;
  info.image_width = pixels.shape.width;
  info.input_components = static_cast<int>(pixels.shape.channels);
  info.in_color_space = pixels.shape.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  jpeg_start_compress(&info, TRUE);
  std::vector<std::uint8_t> values = pixels.values;
  for (std::uint32_t row = 0; row < pixels.shape.height; ++row) {
    JSAMPROW at = &values[std::size_t{row} * pixels.shape.width * pixels.shape.channels];
    jpeg_write_scanlines(&info, &at, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string bytes(reinterpret_cast<char*>(memory), size);
  std::free(memory);
  return bytes;
}
template <class Number>
std::string npy_of(const char* dtype, const Shape& shape, const std::vector<Number>& values) {
  std::string text = data::numpy_header(dtype, {shape.height, shape.width, shape.channels});
  text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number));
  return text;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("bytes of a PNG and of an array are the same image, 128 is 0") {
    const test::CommandFolder folder;
    for (const std::uint32_t channels : {1U, 3U}) {
      const Pixels pixels = random_pixels({5, 7, channels});
      folder.write("a.png", png_of(pixels));
      folder.write("a.npy", npy_of("|u1", pixels.shape, pixels.values));
      const Image png = convnet::load_image(folder.path() / "a.png", pixels.shape, {}, kKey);
      const Image npy = convnet::load_image(folder.path() / "a.npy", pixels.shape, {}, kKey);
      CHECK(png.exponent == -7);
      CHECK(png.tensor.values == npy.tensor.values);
      for (std::size_t i = 0; i < pixels.values.size(); ++i)
        CHECK(png.tensor.values[i] == pixels.values[i] - 128);
      const Image coarse = convnet::load_image(folder.path() / "a.png", pixels.shape, -5, kKey);
      CHECK(coarse.exponent == -5);
      CHECK(coarse.tensor.values[3] ==
            convnet::requantised(png.tensor.values[3], 2, false, program::Type::i8));
    }
  }

  TEST_CASE("a JPEG is near the image that it was made from") {
    const test::CommandFolder folder;
    for (const std::uint32_t channels : {1U, 3U}) {
      Pixels pixels = random_pixels({16, 16, channels});
      for (std::size_t i = 0; i < pixels.values.size(); ++i)
        pixels.values[i] = static_cast<std::uint8_t>(i / channels);
      folder.write("a.jpg", jpeg_of(pixels));
      const Image image = convnet::load_image(folder.path() / "a.jpg", pixels.shape, {}, kKey);
      int most = 0;
      for (std::size_t i = 0; i < pixels.values.size(); ++i)
        most = std::max(most, std::abs(image.tensor.values[i] - (pixels.values[i] - 128)));
      CHECK(most <= 3);
    }
  }

  TEST_CASE("real numbers get the smallest exponent that holds them, int8 stays as it is") {
    const test::CommandFolder folder;
    const Shape shape{1, 2, 2};
    folder.write("f.npy", npy_of<float>("<f4", shape, {0.5F, -1.5F, 0.01F, 0.0F}));
    const Image real = convnet::load_image(folder.path() / "f.npy", shape, {}, kKey);
    CHECK(real.exponent == -6);
    CHECK(real.tensor.values == std::vector<std::int16_t>{32, -96, 1, 0});
    folder.write("i.npy", npy_of<std::int8_t>("|i1", shape, {1, -128, 127, 0}));
    const Image bytes = convnet::load_image(folder.path() / "i.npy", shape, {}, kKey);
    CHECK(bytes.exponent == -7);
    CHECK(bytes.tensor.values == std::vector<std::int16_t>{1, -128, 127, 0});
    const Image finer = convnet::load_image(folder.path() / "f.npy", shape, {}, kKey, kShort);
    CHECK(finer.exponent == real.exponent - 8);
    CHECK(finer.tensor.values[0] == 256 * real.tensor.values[0]);
    folder.write("s.npy", npy_of<std::int16_t>("<i2", shape, {1, -32768, 32767, 0}));
    const Image shorts = convnet::load_image(folder.path() / "s.npy", shape, {}, kKey, kShort);
    CHECK(shorts.exponent == -15);
    CHECK(shorts.tensor.values == std::vector<std::int16_t>{1, -32768, 32767, 0});
  }

  TEST_CASE("images that do not fit and broken files are refused by name") {
    const test::CommandFolder folder;
    const Pixels pixels = random_pixels({5, 7, 3});
    const auto found = [&](const std::string& name, const std::string& bytes, Shape shape) {
      folder.write(name, bytes);
      return test::refusal([&] { convnet::load_image(folder.path() / name, shape, {}, kKey); });
    };
    const std::string path = (folder.path() / "").string();
    CHECK(found("a.png", png_of(pixels), {7, 5, 3}) ==
          "workload.image: found " + path + "a.png of 5x7x3, allowed 7x5x3");
    CHECK(found("a.png", png_of(pixels), {5, 7, 4}) ==
          "workload.image: found " + path +
              "a.png for an input of 5x7x4, allowed .npy files, since it has neither 1 nor 3 "
              "channels");
    CHECK(found("a.gif", "GIF", {5, 7, 3}) ==
          "workload.image: found " + path + "a.gif, allowed .npy, .png, .jpg, .jpeg files");
    CHECK(found("a.npy", npy_of<std::uint8_t>("|u1", {2, 1, 1}, {1, 2}), {1, 2, 1}) ==
          "workload.image: found " + path + "a.npy of shape 2x1x1, allowed 1x2x1");
    CHECK(found("a.npy", npy_of<std::uint16_t>("<u2", {2, 1, 1}, {1, 2}), {2, 1, 1}) ==
          "workload.image: found " + path + "a.npy of type <u2, allowed |u1, |i1, <f4");
    CHECK(found("a.npy", npy_of<float>("<f4", {1, 1, 1}, {NAN}), {1, 1, 1}).starts_with(path));
    std::string png = png_of(pixels), jpeg = jpeg_of(pixels);
    CHECK(found("a.png", "no", {5, 7, 3}).starts_with(path + "a.png: not a PNG image: "));
    CHECK(found("a.png", png.substr(0, png.size() - 30), {5, 7, 3})
              .starts_with(path + "a.png: not a PNG image: "));
    CHECK(found("a.jpg", "no", {5, 7, 3}).starts_with(path + "a.jpg: not a JPEG image: "));
    CHECK(found("a.jpg", jpeg.substr(0, jpeg.size() / 2), {5, 7, 3})
              .starts_with(path + "a.jpg: not a JPEG image: "));
  }

  TEST_CASE("changed bytes of a PNG or JPEG do no harm") {
    const Pixels pixels = random_pixels({9, 8, 3});
    for (const bool is_png : {true, false}) {
      const std::string whole = is_png ? png_of(pixels) : jpeg_of(pixels);
      for (std::uint64_t i = 0; i < 300; ++i) {
        std::string bytes = whole;
        bytes[data::random_below(1, 2, i, bytes.size())] =
            static_cast<char>(data::random_below(1, 3, i, 256));
        const std::string said = test::refusal([&] {
          is_png ? convnet::decode_png(bytes, 3, "a") : convnet::decode_jpeg(bytes, 3, "a");
        });
        CHECK((said.empty() || said.starts_with("a: ")));
      }
    }
  }
}
