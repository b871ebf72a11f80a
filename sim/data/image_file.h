#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// Labelled images in the file formats of published data sets: 8 bits per value.
namespace tessera::data {

struct ImageFile {
  std::uint64_t images = 0;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t channels = 1;
  std::vector<std::uint8_t> values;  ///< [image][row][column][channel]
  std::vector<std::uint8_t> labels;  ///< [image]; empty: labels are in a separate file
};

/// True if read_images() or read_labels() reads this format, judged by name: it ends in ubyte, .idx
/// or .bin, optionally followed by .gz. All other names are .npy files.
bool is_image_file(const std::filesystem::path& path);

/// Reads IDX (LeCun, Cortes, Burges: the MNIST database): 8-bit values of shape
/// [image][row][column] or [image][row][column][channel]. A name that ends in .bin is CIFAR-10 or
/// CIFAR-100, binary version (Krizhevsky): one or two labels (the last is used), then planes of 32
/// x 32 red, green and blue values; a folder stands for its training batches, data_batch_1.bin and
/// so on or train.bin, in order. Each may be compressed by gzip. Throws UserError with the file's
/// name.
ImageFile read_images(const std::filesystem::path& path);

/// Reads labels from an IDX file of shape [image].
std::vector<std::uint8_t> read_labels(const std::filesystem::path& path);

}  // namespace tessera::data
