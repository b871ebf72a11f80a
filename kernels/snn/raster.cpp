#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/snn/program.h"

namespace tessera::snn {

namespace {

/// Rows of raster.csv: samples are written whole, but for the first one, while there is room.
constexpr std::size_t kMostSpikes = 100'000;

}  // namespace

/// The spikes of the last batch, listed ones alone: of the inputs (layer 0) those that a step
/// takes, of layers those that it makes.
class Raster {
 public:
  Raster(const Snn& snn, const TensorReader& tensors) : snn_(snn), tensors_(tensors) {}

  nlohmann::ordered_json take() {
    const std::uint32_t batch = snn_.options_.batch;
    for (std::uint32_t b = 0; b < batch; ++b) {
      const std::string rows = rows_of(b);
      if (left_out_ > 0 && b > 0) continue;
      csv_ += rows;
      ++samples_;
    }
    nlohmann::ordered_json layers = nlohmann::ordered_json::array();
    for (VectorId v = 0; v < snn_.plan_.lists.size(); ++v)
      if (snn_.plan_.lists[v].capacity > 0)
        layers.push_back({{"layer", v}, {"neurons", snn_.plan_.lists[v].neurons}});
    return {{"samples", samples_},
            {"of_samples", batch},
            {"time_steps", snn_.options_.time_steps},
            {"spikes", written_},
            {"left_out", left_out_},
            {"layers", std::move(layers)},
            {"csv", "sample,layer,step,neuron\n" + csv_}};
  }

 private:
  /// Counts what there is no room for, too.
  std::string rows_of(std::uint32_t sample) {
    std::vector<std::vector<std::uint32_t>> stored;
    std::size_t all = 0;
    for (VectorId v = 0; v < snn_.plan_.lists.size(); ++v) {
      stored.push_back(lists_of(v, sample));
      for (std::uint32_t t = 0; t < snn_.options_.time_steps; ++t)
        all += spikes_of(v, stored[v], t).size();
    }
    if (sample > 0 && (left_out_ > 0 || written_ + all > kMostSpikes)) {
      left_out_ += all;
      return {};
    }
    std::string rows;
    for (std::uint32_t t = 0; t < snn_.options_.time_steps; ++t) {
      for (VectorId v = 0; v < stored.size(); ++v) {
        for (const std::uint32_t id : spikes_of(v, stored[v], t)) {
          if (written_ == kMostSpikes) {
            ++left_out_;
            continue;
          }
          rows += fmt::format("{},{},{},{}\n", sample, v, t, id);
          ++written_;
        }
      }
    }
    return rows;
  }

  [[nodiscard]] std::vector<std::uint32_t> lists_of(VectorId v, std::uint32_t sample) const {
    if (snn_.plan_.lists[v].capacity == 0) return {};
    const std::vector<std::byte> bytes = tensors_.slice(lists_name(v), sample);
    std::vector<std::uint32_t> lists(bytes.size() / sizeof(std::uint32_t));
    std::memcpy(lists.data(), bytes.data(), bytes.size());
    return lists;
  }

  /// Of a step, in order.
  [[nodiscard]] std::vector<std::uint32_t> spikes_of(VectorId v,
                                                     const std::vector<std::uint32_t>& lists,
                                                     std::uint32_t step) const {
    if (lists.empty()) return {};
    const std::size_t words = list_words(snn_.plan_.lists[v].capacity);
    const std::uint32_t* const list = &lists[words * (v == 0 ? step : step + 1)];
    std::vector<std::uint32_t> ids(list + kListHeader, list + kListHeader + list[0]);
    std::sort(ids.begin(), ids.end());
    return ids;
  }

  const Snn& snn_;
  const TensorReader& tensors_;
  std::string csv_;
  std::size_t written_ = 0, left_out_ = 0;
  std::uint32_t samples_ = 0;
};

nlohmann::ordered_json Snn::raster(const TensorReader& tensors) const {
  return Raster(*this, tensors).take();
}

}  // namespace tessera::snn
