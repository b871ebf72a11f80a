#include "sim/report/tile_steps.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/data/numpy_file.h"
#include "sim/report/page.h"

namespace tessera::report {
using Json = nlohmann::ordered_json;

namespace {

/// Adds up pairs of neighbouring rows.
void halve(TileSteps& steps) {
  const std::size_t row = TileSteps::kParts * steps.tiles;
  const std::uint64_t rows = steps.rows();
  for (std::uint64_t from = 0; from < rows; ++from) {
    for (std::size_t i = 0; i < row; ++i) {
      const std::uint64_t cycles = steps.cycles[from * row + i];
      std::uint32_t& to = steps.cycles[from / 2 * row + i];
      const std::uint64_t sum = from % 2 == 0 ? cycles : to + cycles;
      to = static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, UINT32_MAX));
    }
  }
  steps.cycles.resize((rows + 1) / 2 * row);
  steps.supersteps_a_row *= 2;
}

/// The supersteps' cycles, summed per row.
std::vector<double> row_cycles(const RunFolder& run, const TileSteps& steps) {
  const std::vector<double>& cycles = run.steps.at("cycles").values;
  std::vector<double> sums(steps.rows());
  for (std::size_t i = 0; i < cycles.size(); ++i) sums[i / steps.supersteps_a_row] += cycles[i];
  return sums;
}

Json pack(const RunFolder& run, const TileSteps& steps) {
  const std::vector<double> cycles = row_cycles(run, steps);
  Json planes = Json::array();
  std::vector<std::uint8_t> shares(steps.rows() * steps.tiles);
  for (std::size_t part = 0; part < TileSteps::kParts; ++part) {
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double share =
          steps.cycles[i * TileSteps::kParts + part] / std::max(1.0, cycles[i / steps.tiles]);
      shares[i] = static_cast<std::uint8_t>(std::lround(255 * std::min(1.0, share)));
    }
    planes.push_back(pack_bytes(shares));
  }
  return {{"supersteps_a_row", steps.supersteps_a_row},
          {"rows", steps.rows()},
          {"planes", std::move(planes)}};
}

std::size_t text_bytes(const Json& packed) {
  std::size_t bytes = 0;
  for (const Json& plane : packed.at("planes")) {
    bytes += plane.get_ref<const std::string&>().size();
  }
  return bytes;
}

}  // namespace

std::string tile_steps_npy(const TileSteps& steps) {
  if (steps.rows() == 0) return {};
  std::string text = data::numpy_header("<u4", {steps.rows(), steps.tiles, TileSteps::kParts});
  const std::size_t at = text.size();
  text.resize(at + steps.cycles.size() * sizeof(std::uint32_t));
  std::memcpy(text.data() + at, steps.cycles.data(), text.size() - at);
  return text;
}

TileSteps read_tile_steps(const std::string& file, std::uint64_t tiles, std::uint64_t supersteps) {
  const data::NumpyArray array = data::read_numpy(file);
  const bool shaped = array.dtype == "<u4" && array.shape.size() == 3 && array.shape[0] > 0 &&
                      array.shape[0] <= supersteps && array.shape[1] == tiles &&
                      array.shape[2] == TileSteps::kParts;
  TileSteps steps{static_cast<std::uint32_t>(tiles), 1, {}};
  while (shaped && ceil_div(supersteps, steps.supersteps_a_row) > array.shape[0]) {
    steps.supersteps_a_row *= 2;
  }
  if (!shaped || ceil_div(supersteps, steps.supersteps_a_row) != array.shape[0]) {
    throw UserError(
        "{}: found {} [{}], expected <u4 [rows, {}, 3] of the {} supersteps in steps.csv", file,
        array.dtype, fmt::join(array.shape, ", "), tiles, supersteps);
  }
  steps.cycles.assign(array.values.begin(), array.values.end());
  return steps;
}

Json pack_tile_steps(const RunFolder& run, std::size_t most_bytes) {
  if (run.tile_steps.rows() == 0) return nullptr;
  TileSteps steps = run.tile_steps;
  // Packs only once the data would fit at this ratio.
  constexpr std::size_t kBestPacking = 40;
  while (steps.rows() > 1 && steps.cycles.size() / kBestPacking > most_bytes) halve(steps);
  Json packed = pack(run, steps);
  while (steps.rows() > 1 && text_bytes(packed) > most_bytes) {
    halve(steps);
    packed = pack(run, steps);
  }
  return packed;
}

}  // namespace tessera::report
