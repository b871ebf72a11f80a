#include <algorithm>

#include <fmt/format.h>

#include "kernels/convnet/geometry.h"
#include "kernels/convnet/plan.h"

namespace tessera::convnet {
namespace {

Range input_rows(const RowTile& tile) {
  return {tile.input_first, tile.input_first + (tile.input_count - 1) * tile.input_step + 1};
}

class Bander {
 public:
  explicit Bander(const Model& model)
      : network_(model.network), weights_(model.weights), made_(network_.layers.size()) {
    banded_.network.name = network_.name;
    banded_.image = &model.image;
  }

  std::optional<BandedNetwork> make(std::span<const Bands> bands) {
    for (std::uint32_t number = 0; number < network_.layers.size(); ++number) {
      if (bands.empty() || number != bands.front().first) {
        add(moved(number), number);
        continue;
      }
      if (!add_bands(bands.front())) return std::nullopt;
      number = bands.front().last;
      bands = bands.subspan(1);
    }
    if (!bands.empty()) return std::nullopt;
    return std::move(banded_);
  }

 private:
  /// Appends a layer for layer `of` of the model; returns its number.
  std::uint32_t add(Layer layer, std::uint32_t of) {
    banded_.network.layers.push_back(std::move(layer));
    banded_.weights.push_back(&weights_[of]);
    made_[of] = static_cast<std::uint32_t>(banded_.network.layers.size() - 1);
    return made_[of];
  }
  [[nodiscard]] Layer moved(std::uint32_t number) const {
    Layer layer = network_.layers[number];
    for (std::uint32_t& input : layer.inputs) input = made_[input];
    return layer;
  }
  /// By layer of the part: the rows that a band needs of it.
  [[nodiscard]] std::optional<std::vector<Range>> rows_of(const Bands& bands,
                                                          std::uint32_t band) const {
    std::vector<Range> rows(bands.last - bands.first + 1, Range{UINT32_MAX, 0});
    rows.back() = part_of(network_.layers[bands.last].output.height, bands.count, band);
    if (rows.back().size() == 0) return std::nullopt;
    for (std::uint32_t number = bands.last; number > bands.first; --number) {
      const Layer& layer = network_.layers[number];
      const Range needed = input_rows(row_tile(layer, rows[number - bands.first]));
      if (needed.begin >= needed.end) return std::nullopt;
      for (const std::uint32_t input : layer.inputs) {
        if (input < bands.first) continue;
        Range& all = rows[input - bands.first];
        all = {std::min(all.begin, needed.begin), std::max(all.end, needed.end)};
      }
    }
    for (std::uint32_t number = bands.first; number <= bands.last; ++number) {
      const Layer& layer = network_.layers[number];
      if (layer.op != Operator::concatenate) continue;  // writes its inputs in place
      for (const std::uint32_t input : layer.inputs)
        if (input < bands.first || rows[input - bands.first] != rows[number - bands.first])
          return std::nullopt;
    }
    return rows;
  }
  /// A layer's band; its inputs are layers of the same band or tensors outside the part.
  [[nodiscard]] Layer band_of(const Bands& bands, std::uint32_t number,
                              std::span<const Range> rows) const {
    Layer layer = network_.layers[number];
    const Range own = rows[number - bands.first];
    const RowTile tile = row_tile(layer, own);
    const Range needed = input_rows(tile);
    layer.output.height = own.size();
    layer.input.height = needed.size();
    layer.window.top = tile.zeros_before;
    layer.window.bottom = tile.zeros_after;
    for (std::uint32_t& input : layer.inputs) {
      const std::uint32_t begin = input < bands.first ? 0 : rows[input - bands.first].begin;
      layer.first_rows.push_back(needed.begin - begin);
      input = made_[input];
    }
    return layer;
  }
  bool add_bands(const Bands& bands) {
    if (!is_closed(network_, bands.first, bands.last)) return false;
    Layer joint = network_.layers[bands.last];
    joint.op = Operator::concatenate;
    joint.joins_rows = true;
    joint.inputs.clear();
    joint.input = joint.output;
    std::vector<std::uint32_t> first(bands.last - bands.first + 1);
    for (std::uint32_t band = 0; band < bands.count; ++band) {
      const std::optional<std::vector<Range>> rows = rows_of(bands, band);
      if (!rows) return false;
      for (std::uint32_t number = bands.first; number <= bands.last; ++number) {
        Layer layer = band_of(bands, number, *rows);
        layer.name += fmt::format("#{}", band + 1);
        if (band > 0) layer.weights_of = first[number - bands.first];
        const std::uint32_t made = add(std::move(layer), number);
        if (band == 0) first[number - bands.first] = made;
      }
      joint.inputs.push_back(made_[bands.last]);
    }
    add(std::move(joint), bands.last);
    static const LayerWeights none;
    banded_.weights.back() = &none;
    return true;
  }

  const Network& network_;
  const std::vector<LayerWeights>& weights_;
  std::vector<std::uint32_t> made_;  ///< by original layer: its new number, or its last band's
  BandedNetwork banded_;
};

}  // namespace

bool is_closed(const Network& network, std::uint32_t first, std::uint32_t last) {
  if (first == 0 || last <= first || last >= network.layers.size()) return false;
  for (std::uint32_t number = first; number < last; ++number)
    if (std::ranges::any_of(network.users(number), [&](std::uint32_t user) { return user > last; }))
      return false;
  return true;
}

std::optional<BandedNetwork> with_bands(const Model& model, std::span<const Bands> bands) {
  return Bander(model).make(bands);
}

}  // namespace tessera::convnet
