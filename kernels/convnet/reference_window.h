#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "kernels/convnet/reference.h"

/// Loops over windows, for integers and doubles.
namespace tessera::convnet::reference {

/// Calls take(row of the window, column of the window, index of the input's first channel) for each
/// place of the output's (y, x) window that is not padding.
template <class Take>
void for_window(const Layer& layer, std::uint32_t y, std::uint32_t x, const Take& take) {
  const Window& w = layer.window;
  for (std::uint32_t row = 0; row < w.height; ++row) {
    const std::int64_t from_row = std::int64_t{y} * w.stride_height + row - w.top;
    if (from_row < 0 || from_row >= layer.input.height) continue;
    for (std::uint32_t column = 0; column < w.width; ++column) {
      const std::int64_t from = std::int64_t{x} * w.stride_width + column - w.left;
      if (from < 0 || from >= layer.input.width) continue;
      take(row, column,
           static_cast<std::size_t>(from_row * layer.input.width + from) * layer.input.channels);
    }
  }
}

/// Calls body(y, x, index of the output's first channel) for all places of the output.
template <class Body>
void for_places(const Layer& layer, HostThreads& threads, const Body& body) {
  threads.for_ranges(layer.output.height, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t y = begin; y < end; ++y)
      for (std::uint32_t x = 0; x < layer.output.width; ++x)
        body(static_cast<std::uint32_t>(y), x,
             (y * layer.output.width + x) * layer.output.channels);
  });
}

/// Concatenates the channels of tensors.
template <class Value>
std::vector<Value> joined(const Layer& layer, std::span<const std::vector<Value>* const> inputs) {
  const std::size_t places = std::size_t{layer.output.height} * layer.output.width;
  std::vector<Value> values;
  values.reserve(layer.output.elements());
  for (std::size_t place = 0; place < places; ++place)
    for (const std::vector<Value>* input : inputs) {
      const std::size_t channels = input->size() / places;
      const Value* const from = input->data() + place * channels;
      values.insert(values.end(), from, from + channels);
    }
  return values;
}

/// Sums each channel of the windows.
template <class Value, class Sum>
void add_window_sums(const Layer& layer, const std::vector<Value>& in, std::vector<Sum>& sums,
                     HostThreads& threads) {
  for_places(layer, threads, [&](std::uint32_t y, std::uint32_t x, std::size_t out) {
    for_window(layer, y, x, [&](std::uint32_t, std::uint32_t, std::size_t from) {
      for (std::uint32_t channel = 0; channel < layer.output.channels; ++channel)
        sums[out + channel] += static_cast<Sum>(in[from + channel]);
    });
  });
}

template <class Value>
void take_window_maxima(const Layer& layer, const std::vector<Value>& in,
                        std::vector<Value>& maxima, HostThreads& threads) {
  std::fill(maxima.begin(), maxima.end(), std::numeric_limits<Value>::lowest());
  for_places(layer, threads, [&](std::uint32_t y, std::uint32_t x, std::size_t out) {
    for_window(layer, y, x, [&](std::uint32_t, std::uint32_t, std::size_t from) {
      for (std::uint32_t channel = 0; channel < layer.output.channels; ++channel)
        maxima[out + channel] = std::max(maxima[out + channel], in[from + channel]);
    });
  });
}

}  // namespace tessera::convnet::reference
