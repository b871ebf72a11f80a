#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// Labelled images as the files of published data sets hold them: 8 bits a value.
namespace tessera::data {

struct ImageFile {
  std::uint64_t images = 0;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t channels = 1;
  std::vector<std::uint8_t> values;  ///< [image][row][column][channel]
  std::vector<std::uint8_t> labels;  ///< [image]; empty: the format has them in a file of their own
};

/// True if the name is of a format that read_images() or read_labels() reads, rather than a .npy
/// file: it ends in ubyte, .idx or .bin, or in one of these and .gz.
bool is_image_file(const std::filesystem::path& path);

/// IDX (LeCun, Cortes, Burges: the MNIST database): 8-bit values of shape [image][row][column] or
/// [image][row][column][channel]. CIFAR-10 and CIFAR-100, binary version (Krizhevsky), by the name
/// .bin: one or two labels, of which the last counts, and planes of 32 x 32 red, green and blue
/// values; a folder is its training batches, data_batch_1.bin and so on or train.bin, one after the
/// other. Any of them compressed by gzip. Throws UserError with the file's name.
ImageFile read_images(const std::filesystem::path& path);

/// IDX of shape [image].
std::vector<std::uint8_t> read_labels(const std::filesystem::path& path);

}  // namespace tessera::data
