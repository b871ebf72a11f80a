#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/convnet/weights.h"

namespace tessera::convnet {

/// A user's image as a network's input of `shape`, in numbers of `type`, by the file's ending:
///   .npy               height x width x channels: u8 as below, i8 (i16 if that is the type)
///                      unchanged, f32 rounded with the smallest exponent that holds its largest
///                      value
///   .png, .jpg, .jpeg  of 1 (grey) or 3 channels (red, green, blue): bytes v stand for
///                      (v - 128) / 128; transparent pixels are blended with black
/// Bytes have the exponent image_exponent(); `fixed_exponent`, from the network's file, overrides
/// all of these. Images are neither resized nor cropped. Throws KeyError at `key` for another
/// ending, shape or type, UserError for a broken file or numbers that are not finite.
Image load_image(const std::string& file, const Shape& shape, std::optional<int> fixed_exponent,
                 const std::string& key, program::Type type = program::Type::i8);

/// The image of `file`, or a seeded one if empty, in the network's type and shape.
Image network_image(const Network& network, const std::string& file, std::uint64_t seed,
                    const std::string& key);

/// The pixels of a PNG or JPEG file, [row][column][channel].
struct Pixels {
  Shape shape;
  std::vector<std::uint8_t> values;
};
/// `name` is used in messages; `channels` is 1 or 3. Throws UserError for a broken file or one with
/// more than kMostExtent rows or columns.
Pixels decode_png(const std::string& bytes, std::uint32_t channels, const std::string& name);
Pixels decode_jpeg(const std::string& bytes, std::uint32_t channels, const std::string& name);

}  // namespace tessera::convnet
