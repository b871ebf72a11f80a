#include "sim/data/read_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/base/host_limit.h"

namespace tessera::data {

namespace {

/// An open file; opening does not wait for a pipe's writer.
class Input {
 public:
  explicit Input(std::string name) : name_(std::move(name)) {
    file_ = ::open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file_ < 0 || ::fstat(file_, &status_) != 0) fail();
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  ~Input() {
    if (file_ >= 0) ::close(file_);
  }

  [[nodiscard]] bool is_pipe() const { return S_ISFIFO(status_.st_mode); }

  void require_file(bool or_pipe) const {
    if (S_ISREG(status_.st_mode) || (or_pipe && is_pipe())) return;
    const char* found = "a device";
    if (S_ISDIR(status_.st_mode)) found = "a directory";
    if (is_pipe()) found = "a pipe";
    throw UserError("{}: found {}, expected a file", name_, found);
  }

  std::string text(std::size_t most) {
    std::string text(S_ISREG(status_.st_mode) ? static_cast<std::size_t>(status_.st_size) : 0,
                     '\0');
    std::size_t size = 0;
    while (const std::size_t got = read(text, size)) {
      size += got;
      if (size > most) throw UserError("{}: found more than {} bytes in a pipe", name_, most);
    }
    text.resize(size);
    return text;
  }

 private:
  /// Reads bytes to offset `size`, returns their number; 0 at the end.
  std::size_t read(std::string& text, std::size_t size) {
    constexpr std::size_t kMore = 65536;
    std::array<char, kMore> beyond;  // for data past the file's stated size
    const bool fits = size < text.size();
    char* const into = fits ? text.data() + size : beyond.data();
    for (;;) {
      const ssize_t got = ::read(file_, into, fits ? text.size() - size : kMore);
      if (got >= 0) {
        if (!fits) text.append(into, static_cast<std::size_t>(got));
        return static_cast<std::size_t>(got);
      }
      pollfd ready{file_, POLLIN, 0};
      if (errno == EAGAIN) ::poll(&ready, 1, -1);
      if (errno != EAGAIN && errno != EINTR) fail();
    }
  }

  [[noreturn]] void fail() const {
    throw_host_error(errno, fmt::format("{}: cannot be read: {}", name_, std::strerror(errno)));
  }

  std::string name_;
  int file_ = -1;
  struct stat status_ {};
};

std::string uncompressed(const std::string& bytes, const std::filesystem::path& path) {
  constexpr int kGzip = 16 + MAX_WBITS;
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  z_stream stream{};
  check(inflateInit2(&stream, kGzip) == Z_OK, "gzip_file: zlib does not start");
  // zlib's interface takes non-const input, which it does not modify.
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
    throw UserError("{}: found more than {} bytes in it, compressed by gzip", path.string(),
                    kMostUnzippedBytes);
  if (state != Z_STREAM_END)
    throw UserError("{}: found gzip data that is cut off or broken", path.string());
  return text;
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  Input input(path.string());
  input.require_file(false);
  return input.text(std::string::npos);
}

std::string read_file_or_pipe(const std::filesystem::path& path) {
  constexpr std::size_t kMostOfPipe = 64ULL << 20;
  Input input(path.string());
  input.require_file(true);
  return input.text(input.is_pipe() ? kMostOfPipe : std::string::npos);
}

std::string read_unzipped(const std::filesystem::path& path) {
  std::string bytes = read_file(path);
  return bytes.starts_with("\x1f\x8b") ? uncompressed(bytes, path) : bytes;
}

}  // namespace tessera::data
