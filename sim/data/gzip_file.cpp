#include "sim/data/gzip_file.h"

#include <algorithm>
#include <zlib.h>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/data/read_file.h"

namespace tessera::data {
namespace {

std::string uncompressed(const std::string& bytes, const std::filesystem::path& path) {
  constexpr int kGzip = 16 + MAX_WBITS;
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  z_stream stream{};
  check(inflateInit2(&stream, kGzip) == Z_OK, "gzip_file: zlib does not start");
  // The interface of zlib wants bytes that it does not change as if it did.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  std::string text;
  int state = Z_OK;
  std::size_t left = bytes.size();
  while (state == Z_OK && text.size() <= kMostUnzippedBytes) {
    const std::size_t done = text.size();
    text.resize(done + kChunk);
    const auto given = static_cast<uInt>(std::min<std::size_t>(left, kChunk));
    stream.avail_in = given;
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + done);
    stream.avail_out = kChunk;
    state = inflate(&stream, Z_NO_FLUSH);
    left -= given - stream.avail_in;
    text.resize(done + kChunk - stream.avail_out);
  }
  inflateEnd(&stream);
  if (text.size() > kMostUnzippedBytes)
    throw UserError(fmt::format("{}: found more than {} bytes in it, compressed by gzip",
                                path.string(), kMostUnzippedBytes));
  if (state != Z_STREAM_END)
    throw UserError(fmt::format("{}: found gzip data that is cut off or broken", path.string()));
  return text;
}

}  // namespace

std::string read_unzipped(const std::filesystem::path& path) {
  std::string bytes = read_file(path);
  return bytes.starts_with("\x1f\x8b") ? uncompressed(bytes, path) : bytes;
}

}  // namespace tessera::data
