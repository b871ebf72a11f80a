#pragma once

#include "kernels/convnet/tiles/floats.h"
#include "kernels/convnet/tiles/geometry.h"

/// What tiles hold before the run.
namespace tessera::convnet::tiles {

/// A cell's weights, [column block][step][input of a chunk][output of a block] in f16. Of diagonal
/// layers, and of what is added to sums, the weights of a channel stand at its input and output,
/// all others are zero.
void fill_weights(const FloatModel& model, const Geometry& g, const Cell& cell,
                  std::span<std::byte> into);
/// Of the groups that a cell finishes, [channel] in f32; zeros where a layer has none.
void fill_bias(const FloatModel& model, const Geometry& g, const Cell& cell,
               std::span<std::byte> into);
/// X of a layer whose input is the image, zeros around it.
void fill_image(const FloatModel& model, const Geometry& g, const Cell& cell,
                std::span<std::byte> into);

}  // namespace tessera::convnet::tiles
