#include "sim/data/image_file.h"

#include <span>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/data/read_file.h"

namespace tessera::data {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kCifarSide = 32;
constexpr std::uint32_t kCifarChannels = 3;

template <class... Args>
[[noreturn]] void fail(const fs::path& path, fmt::format_string<Args...> problem, Args&&... args) {
  throw UserError("{}: {}", path.string(), fmt::format(problem, std::forward<Args>(args)...));
}

/// An IDX file: its extents, and the offset of its values.
struct Idx {
  std::vector<std::uint64_t> shape;
  std::string bytes;
  std::size_t values_at = 0;
};

/// Reads an IDX file of 8-bit values; `ranks` holds the allowed numbers of extents.
Idx read_idx(const fs::path& path, std::string_view ranks) {
  constexpr std::size_t kWord = 4;
  constexpr char kUnsignedBytes = 8;
  Idx file{{}, read_unzipped(path), kWord};
  const std::string& bytes = file.bytes;
  const bool magic = bytes.size() >= kWord && bytes[0] == 0 && bytes[1] == 0;
  if (!magic) fail(path, "is no IDX file: it does not begin with two zeros, a type and a rank");
  if (bytes[2] != kUnsignedBytes)
    fail(path, "found values of type {:#04x}, allowed 0x08, unsigned bytes",
         static_cast<unsigned char>(bytes[2]));
  const auto rank = static_cast<unsigned char>(bytes[3]);
  if (ranks.find(static_cast<char>('0' + rank)) == std::string_view::npos)
    fail(path, "found {} extents, allowed {}", rank, fmt::join(ranks, " or "));
  file.values_at += kWord * rank;
  if (bytes.size() < file.values_at) fail(path, "ends within its header");
  std::uint64_t values = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    std::uint64_t extent = 0;
    for (std::size_t k = 0; k < kWord; ++k)
      extent = extent << 8 | static_cast<unsigned char>(bytes[kWord * (i + 1) + k]);
    file.shape.push_back(extent);
    if (extent != 0 && values > kMostUnzippedBytes / extent)
      fail(path, "found a shape of more than {} values", kMostUnzippedBytes);
    values *= extent;
  }
  if (bytes.size() - file.values_at != values)
    fail(path, "found {} values, allowed {}, as its shape [{}] says", bytes.size() - file.values_at,
         values, fmt::join(file.shape, ", "));
  return file;
}

ImageFile images_of(const Idx& file, const fs::path& path) {
  constexpr std::uint64_t kMostSide = 65535;
  for (std::size_t i = 1; i < file.shape.size(); ++i)
    if (file.shape[i] == 0 || file.shape[i] > kMostSide)
      fail(path, "found images of shape [{}], allowed 1 to {} each way",
           fmt::join(std::span(file.shape).subspan(1), ", "), kMostSide);
  const auto extent = [&](std::size_t i) { return static_cast<std::uint32_t>(file.shape[i]); };
  ImageFile images{
      file.shape[0], extent(2), extent(1), file.shape.size() > 3 ? extent(3) : 1, {}, {}};
  images.values.assign(file.bytes.begin() + static_cast<std::ptrdiff_t>(file.values_at),
                       file.bytes.end());
  return images;
}

/// Label bytes per CIFAR record: one in CIFAR-10, two in CIFAR-100.
std::size_t labels_of(std::size_t bytes, const fs::path& path) {
  constexpr std::size_t kValues = std::size_t{kCifarSide} * kCifarSide * kCifarChannels;
  for (const std::size_t labels : {std::size_t{1}, std::size_t{2}})
    if (bytes > 0 && bytes % (kValues + labels) == 0) return labels;
  fail(path, "found {} bytes, allowed a multiple of {} (CIFAR-10) or of {} (CIFAR-100)", bytes,
       kValues + 1, kValues + 2);
}

void add_cifar(ImageFile& images, const fs::path& path) {
  constexpr std::size_t kPlane = std::size_t{kCifarSide} * kCifarSide;
  const std::string bytes = read_unzipped(path);
  const std::size_t labels = labels_of(bytes.size(), path);
  const std::size_t record = labels + kPlane * kCifarChannels;
  for (std::size_t at = 0; at < bytes.size(); at += record) {
    images.labels.push_back(static_cast<std::uint8_t>(bytes[at + labels - 1]));
    for (std::size_t pixel = 0; pixel < kPlane; ++pixel)
      for (std::size_t channel = 0; channel < kCifarChannels; ++channel)
        images.values.push_back(
            static_cast<std::uint8_t>(bytes[at + labels + channel * kPlane + pixel]));
  }
  images.images += bytes.size() / record;
}

std::vector<fs::path> batches_in(const fs::path& folder) {
  std::vector<fs::path> batches;
  for (std::size_t i = 1; fs::exists(folder / fmt::format("data_batch_{}.bin", i)); ++i)
    batches.push_back(folder / fmt::format("data_batch_{}.bin", i));
  if (batches.empty() && fs::exists(folder / "train.bin")) batches.push_back(folder / "train.bin");
  if (batches.empty())
    fail(folder, "is a folder without data_batch_1.bin (CIFAR-10) and train.bin (CIFAR-100)");
  return batches;
}

/// The name without .gz.
fs::path plain_name(const fs::path& path) {
  return path.extension() == ".gz" ? path.stem() : path.filename();
}

}  // namespace

bool is_image_file(const fs::path& path) {
  const std::string name = plain_name(path).string();
  const auto ends = [&](std::string_view end) { return name.ends_with(end); };
  return fs::is_directory(path) || ends("ubyte") || ends(".idx") || ends(".bin");
}

ImageFile read_images(const fs::path& path) {
  const bool folder = fs::is_directory(path);
  if (!folder && plain_name(path).extension() != ".bin")
    return images_of(read_idx(path, "34"), path);
  ImageFile images{0, kCifarSide, kCifarSide, kCifarChannels, {}, {}};
  for (const fs::path& batch : folder ? batches_in(path) : std::vector{path})
    add_cifar(images, batch);
  return images;
}

std::vector<std::uint8_t> read_labels(const fs::path& path) {
  const Idx file = read_idx(path, "1");
  return {file.bytes.begin() + static_cast<std::ptrdiff_t>(file.values_at), file.bytes.end()};
}

}  // namespace tessera::data
