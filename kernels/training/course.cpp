#include "kernels/training/course.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"

namespace tessera::training {

namespace {

constexpr std::uint32_t kMostSteps = 1U << 24;
constexpr config::Names<Feed, 3> kFeeds{
    {{"device", Feed::device}, {"host", Feed::host}, {"external", Feed::external}}};

}  // namespace

void describe(config::Fields& fields, Course& course, std::uint32_t samples,
              std::uint32_t test_samples, std::uint32_t most, const char* weights) {
  fields.field({"batch",
                "samples per step, in the order of the data, without shuffling; a step continues "
                "after the previous step's samples and wraps around after the last"},
               course.batch, {1, most});
  fields.field({"steps", "number of steps (batches); 0: as given by epochs"}, course.steps,
               {0, kMostSteps});
  fields.field({"epochs",
                "passes over the samples, each samples / batch steps, rounded down; the next pass "
                "begins with the samples left over",
                "", false, course.steps == 0 ? "" : "steps"},
               course.epochs, {1, 1U << 20});
  fields.require(
      course.steps > 0 || std::uint64_t{course.epochs} * (samples / course.batch) <= kMostSteps,
      "epochs", "found {} of {} samples in batches of {}, allowed up to {} steps", course.epochs,
      samples, course.batch, kMostSteps);
  fields.field({"train", "weights are updated; false: samples are only evaluated"}, course.train);
  fields.file({"weights", weights}, course.weights);
  fields.field({"feed",
                "source of batches: device: only the first batch, in tile memory from the "
                "beginning; host: the next batch comes from the host in each step; external: from "
                "external memory (machine.external)"},
               course.feed, kFeeds);
  fields.group({"optimiser", "update rule of the weights", "", false, course.untrained()},
               course.learning);
  fields.require(course.batch <= samples, "batch",
                 "found {}, allowed 1 to {}, the samples to train on", course.batch, samples);
  fields.require(test_samples == 0 || test_samples >= course.batch, "data.test_samples",
                 "found {}, allowed 0 or at least a batch of {}", test_samples, course.batch);
}

Turns::Turns(const Course& course, std::uint32_t samples, std::uint32_t test_samples)
    : steps(course.steps > 0 ? course.steps : course.epochs * (samples / course.batch)),
      test_steps(test_samples / course.batch),
      training{0, samples, course.batch, course.fed()},
      testing{samples, test_samples, course.batch} {}

std::uint64_t OuterBatches::panels(const Batches& batches, std::uint32_t times) {
  const std::uint64_t batch = batches.batch;
  return std::min<std::uint64_t>(times, batches.samples / std::gcd(batches.samples, batch));
}

OuterBatches::OuterBatches(const plan::Copies& copies, const Batches& batches, std::uint32_t times,
                           const Pieces& pieces)
    : times_(times),
      copies_(copies.count),
      tiles_(copies.tiles * copies.count),
      parts_(std::make_shared<std::vector<Part>>()) {
  for (Tile tile = 0; tile < tiles_; ++tile) {
    plan::HostPieces its;
    pieces(tile % copies.tiles, its);
    for (program::HostPiece& piece : its) {
      const std::uint64_t begin = file_.held;
      file_.held = round_up(begin + piece.bytes, kernels::PanelFile::kGrain);
      parts_->push_back({tile, begin, tile / copies.tiles, std::move(piece)});
    }
  }
  file_.count = panels(batches, times);
}

void OuterBatches::fill(std::uint64_t panel, std::uint64_t at, std::span<std::byte> into) const {
  auto part = std::ranges::upper_bound(*parts_, at, {}, &Part::begin);
  if (part != parts_->begin()) --part;
  std::vector<std::byte> whole;
  for (; part != parts_->end() && part->begin < at + into.size(); ++part) {
    whole.assign(part->piece.bytes, std::byte{});
    part->piece.contents(whole, panel * copies_ + part->copy);
    const std::uint64_t first = std::max(at, part->begin);
    const std::uint64_t last = std::min(at + into.size(), part->begin + whole.size());
    if (first < last)
      std::copy_n(whole.begin() + static_cast<std::ptrdiff_t>(first - part->begin), last - first,
                  into.begin() + static_cast<std::ptrdiff_t>(first - at));
  }
}

plan::Rounds OuterBatches::rounds(plan::Description& description, std::string_view name,
                                  std::vector<BufferId> arrays, kernels::Loads loads) const {
  const plan::OuterId outside = description.outside(
      {name, file_.bytes(), false,
       file_.contents([its = *this](std::uint64_t panel, std::uint64_t at,
                                    std::span<std::byte> into) { its.fill(panel, at, into); })});
  plan::Rounds rounds;
  rounds.name = name;
  rounds.passes = times_;
  rounds.tiles = tiles_;
  rounds.overlap = loads == kernels::Loads::beside;
  rounds.loaded = std::move(arrays);
  rounds.radices[0] = static_cast<std::uint32_t>(file_.count);
  rounds.radices[1] = times_;
  rounds.loads = [parts = parts_, outside, stride = file_.stride()](Tile tile, plan::Loads& all) {
    auto part = std::ranges::lower_bound(*parts, tile, {}, &Part::tile);
    for (; part != parts->end() && part->tile == tile; ++part) {
      plan::Load one{part->piece.place, outside, part->begin, part->piece.bytes};
      one.steps[0] = stride;
      all.push_back(one);
    }
  };
  return rounds;
}

std::uint32_t label_of(double label, std::uint32_t classes, const char* key, std::uint64_t sample,
                       const std::string& file) {
  if (label >= 0 && label < classes && label == std::floor(label))
    return static_cast<std::uint32_t>(label);
  throw KeyError(fmt::format("workload.data.{}", key),
                 "found {} for sample {} of {}, allowed 0 to {}", label, sample, file, classes - 1);
}

std::vector<std::uint32_t> labels_of(const data::NumpyArray& array, std::uint64_t samples,
                                     std::uint32_t classes, const std::string& file) {
  if (array.shape != std::vector{samples})
    throw KeyError("workload.data.labels", "found {} of shape [{}], allowed [{}]", file,
                   fmt::join(array.shape, ", "), samples);
  std::vector<std::uint32_t> labels;
  for (const double label : array.values)
    labels.push_back(label_of(label, classes, "labels", labels.size(), file));
  return labels;
}

}  // namespace tessera::training
