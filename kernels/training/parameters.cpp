#include "kernels/training/parameters.h"

#include <algorithm>

#include "kernels/training/assembly.h"
#include "kernels/training/learning.h"

namespace tessera::training {

namespace {

constexpr std::uint64_t kLeastBytes = 16;  // of a gradient: what code that adds them takes at once
constexpr std::uint64_t kMostAtOnce = 4;   // parameters that tile code updates

}  // namespace

std::optional<Stretch> Stretch::share(std::uint32_t copies, std::uint32_t copy) const {
  const kernels::Interval mine =
      kernels::EvenSplit{ceil_div(count, kMostAtOnce), copies}.part(copy);
  if (mine.size() == 0) return std::nullopt;
  Stretch part = *this;
  part.begin = part.kept_from = mine.begin * kMostAtOnce;
  part.count = std::min(mine.end * kMostAtOnce, count) - part.begin;
  return part;
}

/// What tile code takes at once: a word of weights.
std::uint64_t StretchMaker::padded_count(std::uint64_t count) const {
  return round_up(count, kWordBytes / assembly_.element_bytes());
}

BufferId StretchMaker::numbers(std::uint64_t count, std::uint32_t tile, program::Type type,
                               std::string_view name, const InitialValue& value) const {
  const auto fill = [value, type](std::span<std::byte> into) {
    for (std::size_t i = 0; i < into.size() / data::element_bytes(type); ++i)
      data::store_element(type, into, i, value(i));
  };
  return assembly_.buffer(tile, count * data::element_bytes(type), name, fill, true);
}

std::uint64_t StretchMaker::kept_count(std::uint64_t count) const {
  const std::uint64_t pieces = ceil_div(count, kMostAtOnce);
  const std::uint64_t copies = learning_ == nullptr ? 1 : learning_->copies;
  return std::min(count, ceil_div(pieces, copies) * kMostAtOnce);
}

BufferId StretchMaker::kept(const Stretch& of, std::uint32_t tile, std::string_view name,
                            const InitialValue& value) const {
  return numbers(kept_count(of.count), tile, program::Type::f32, name, value);
}

void StretchMaker::keep(Stretch& stretch, std::uint32_t tile) const {
  if (learning_ == nullptr) return;
  const auto zero = [](std::uint64_t) { return 0.0; };
  stretch.first = kept(stretch, tile, "moments", zero);
  stretch.second = learning_->adam() ? kept(stretch, tile, "second moments", zero) : stretch.first;
}

void StretchMaker::add_gradient(Stretch& stretch, std::uint32_t tile) const {
  if (learning_ == nullptr) return;
  stretch.gradient =
      assembly_.buffer(tile, std::max(stretch.gradient_bytes(), kLeastBytes), "weight gradients");
}

Stretch StretchMaker::stretch(std::uint32_t tile, std::uint64_t count, const InitialValue& value,
                              program::Type gradients) const {
  Stretch made;
  made.count = padded_count(count);
  made.type = assembly_.type();
  made.gradients = gradients;
  const auto padded = [value, count](std::uint64_t i) { return i < count ? value(i) : 0.0; };
  made.weights = numbers(made.count, tile, made.type, "weights", padded);
  made.masters = made.halves() && learning_ != nullptr ? kept(made, tile, "master weights", padded)
                                                       : made.weights;
  keep(made, tile);
  add_gradient(made, tile);
  return made;
}

Stretch StretchMaker::around(BufferId weights, const InitialValue& value) const {
  const program::Buffer& lies = assembly_.program().buffer(weights);
  const std::uint32_t tile = index(lies.tile);
  Stretch made;
  made.weights = made.masters = weights;
  made.type = made.gradients = assembly_.type();
  made.count = lies.bytes / assembly_.element_bytes();
  if (made.halves() && learning_ != nullptr)
    made.masters = kept(made, tile, "master weights", value);
  keep(made, tile);
  return made;
}

Stretch StretchMaker::masters(std::uint32_t tile, std::uint64_t count,
                              const InitialValue& value) const {
  Stretch made;
  made.count = padded_count(count);
  const auto padded = [value, count](std::uint64_t i) { return i < count ? value(i) : 0.0; };
  made.weights = made.masters = numbers(made.count, tile, program::Type::f32, "weights", padded);
  keep(made, tile);
  add_gradient(made, tile);
  return made;
}

}  // namespace tessera::training
