#include <csetjmp>
#include <cstdio>  // before jpeglib.h, which asks for FILE
#include <jpeglib.h>
#include <memory>
#include <png.h>

#include "kernels/convnet/network_image.h"
#include "sim/base/errors.h"

namespace tessera::convnet {

namespace {

void require_extents(std::uint32_t height, std::uint32_t width, const std::string& name) {
  if (height > kMostExtent || width > kMostExtent)
    throw UserError("{}: found {}x{} pixels, allowed extents up to {}", name, height, width,
                    kMostExtent);
}

/// libjpeg's state, with a jump target for errors: its error handlers must not return.
struct JpegReader {
  jpeg_error_mgr errors = {};
  jpeg_decompress_struct info = {};
  std::jmp_buf way_out = {};
  char message[JMSG_LENGTH_MAX] = {};
  J_COLOR_SPACE colours;

  explicit JpegReader(std::uint32_t channels) : colours(channels == 1 ? JCS_GRAYSCALE : JCS_RGB) {
    info.err = jpeg_std_error(&errors);
    info.client_data = this;
    errors.error_exit = leave;
    errors.emit_message = [](j_common_ptr common, int level) {
      if (level < 0) leave(common);  // else libjpeg would invent missing or corrupt data
    };
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&info); }

  [[noreturn]] static void leave(j_common_ptr common) {
    auto* const reader = static_cast<JpegReader*>(common->client_data);
    common->err->format_message(common, reader->message);
    std::longjmp(reader->way_out, 1);
  }

  // These return false after an error. They contain no objects with destructors, since errors
  // longjmp.
  bool begin(const std::string& bytes) {
    if (setjmp(way_out) != 0) return false;
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes.data()),
                 static_cast<unsigned long>(bytes.size()));
    jpeg_read_header(&info, TRUE);
    info.out_color_space = colours;
    info.dct_method = JDCT_ISLOW;
    return true;
  }
  bool read(std::uint8_t* values, std::size_t row_bytes) {
    if (setjmp(way_out) != 0) return false;
    jpeg_start_decompress(&info);
    while (info.output_scanline < info.output_height) {
      JSAMPROW row = values + info.output_scanline * row_bytes;
      jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
    return true;
  }
};

}  // namespace

Pixels decode_png(const std::string& bytes, std::uint32_t channels, const std::string& name) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  const std::unique_ptr<png_image, void (*)(png_image*)> freed(&image, png_image_free);
  Pixels pixels;
  const auto fail = [&] { throw UserError("{}: not a PNG image: {}", name, image.message); };
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) fail();
  require_extents(image.height, image.width, name);
  image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  pixels.shape = {image.height, image.width, channels};
  pixels.values.resize(pixels.shape.elements());
  const png_color black = {0, 0, 0};
  if (png_image_finish_read(&image, &black, pixels.values.data(), 0, nullptr) == 0) fail();
  return pixels;
}

Pixels decode_jpeg(const std::string& bytes, std::uint32_t channels, const std::string& name) {
  JpegReader reader(channels);
  Pixels pixels;
  const auto fail = [&] { throw UserError("{}: not a JPEG image: {}", name, reader.message); };
  if (!reader.begin(bytes)) fail();
  require_extents(reader.info.image_height, reader.info.image_width, name);
  pixels.shape = {reader.info.image_height, reader.info.image_width, channels};
  pixels.values.resize(pixels.shape.elements());
  if (!reader.read(pixels.values.data(), std::size_t{pixels.shape.width} * channels)) fail();
  return pixels;
}

}  // namespace tessera::convnet
