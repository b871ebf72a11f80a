#include "kernels/training/parameters.h"

#include <algorithm>

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
  part.begin = mine.begin * kMostAtOnce;
  part.count = std::min(mine.end * kMostAtOnce, count) - part.begin;
  return part;
}

std::optional<Stretch> Parameters::share(Tile tile) const {
  return tile < copies.tiles * copies.count ? share(tile % copies.tiles, tile / copies.tiles)
                                            : std::nullopt;
}

std::optional<Stretch> Parameters::share(Tile tile, std::uint32_t copy) const {
  Stretch all{weights, masters, gradient, first, second, count(tile % copies.tiles)};
  all.type = type;
  all.gradients = gradients;
  if (all.count == 0) return std::nullopt;
  return copies.count == 1 ? all : all.share(copies.count, copy);
}

void add_tensor(plan::Description& description, const program::Tensor& tensor,
                const Parameters& parameters,
                std::function<std::vector<std::uint64_t>(Tile)> number_of) {
  description.tensor(
      {tensor, parameters.masters,
       [parameters, number_of = std::move(number_of)](Tile tile, program::Runs& runs) {
         const std::optional<Stretch> share = parameters.share(tile);
         if (!share) return;
         const std::vector<std::uint64_t> numbers = number_of(tile % parameters.copies.tiles);
         const std::uint64_t first = share->kept_place(share->masters).offset /
                                     data::element_bytes(parameters.master_type());
         for (std::uint64_t i = 0; i < share->count && share->begin + i < numbers.size(); ++i)
           if (const std::uint64_t number = numbers[share->begin + i]; number != kNoNumber)
             runs.add(first + i, number);
       }});
}

Parameters ParameterMaker::of(const Count& count, program::Type type,
                              program::Type gradients) const {
  Parameters made;
  made.count = [count, lanes = kWordBytes / statement_.element_bytes()](Tile tile) {
    return round_up(count(tile), lanes);
  };
  made.type = type;
  made.gradients = gradients;
  made.copies = copies_;
  return made;
}

namespace {

/// Some of a tile's numbers; zeros behind them.
void fill_numbers(const std::vector<double>& values, kernels::Interval numbers, program::Type type,
                  std::span<std::byte> into) {
  for (std::uint64_t i = numbers.begin; i < numbers.end; ++i)
    data::store_element(type, into, i - numbers.begin, i < values.size() ? values[i] : 0.0);
}

BufferId weights_of(Statement& statement, const Parameters& of,
                    const ParameterMaker::Values& values) {
  return statement.array(
      "weights",
      [count = of.count, each = data::element_bytes(of.type)](Tile tile) {
        return count(tile) * each;
      },
      [values, count = of.count, type = of.type](Tile tile, std::span<std::byte> into) {
        fill_numbers(values(tile), {0, count(tile)}, type, into);
      },
      true);
}

}  // namespace

BufferId ParameterMaker::kept(const Parameters& of, std::string_view name, const Values& values) {
  BufferId made{};
  const auto bytes = [of](Tile tile) -> std::uint64_t {
    // The first copy's share is no smaller than any other's.
    if (tile >= of.copies.tiles * of.copies.count) return 0;
    const std::optional<Stretch> largest = of.share(tile % of.copies.tiles, 0);
    return largest ? largest->count * kElementBytes : 0;
  };
  statement_.on_all([&] {
    made = statement_.array(
        name, bytes,
        [of, values](Tile tile, std::span<std::byte> into) {
          fill_zeros(into);
          if (const std::optional<Stretch> share = values ? of.share(tile) : std::nullopt)
            fill_numbers(values(tile % of.copies.tiles),
                         {share->begin, share->begin + share->count}, program::Type::f32, into);
        },
        true);
  });
  return made;
}

void ParameterMaker::keep(Parameters& of, const Values& values) {
  of.masters = of.weights;
  if (learning_ == nullptr) return;
  if (of.type == program::Type::f16) of.masters = kept(of, "master weights", values);
  of.first = kept(of, "moments", {});
  of.second = learning_->adam() ? kept(of, "second moments", {}) : of.first;
}

void ParameterMaker::add_gradient(Parameters& of) {
  if (learning_ == nullptr) return;
  of.gradient = statement_.array("weight gradients", [of](Tile tile) {
    const std::uint64_t bytes = of.count(tile) * data::element_bytes(of.gradients);
    return bytes == 0 ? 0 : std::max(bytes, kLeastBytes);
  });
}

Parameters ParameterMaker::make(const Count& count, const Values& values, program::Type gradients) {
  Parameters made = of(count, statement_.type(), gradients);
  made.weights = weights_of(statement_, made, values);
  keep(made, values);
  add_gradient(made);
  return made;
}

Parameters ParameterMaker::around(const MatrixArray& weights, const Values& values) {
  Parameters made =
      of([weights](Tile tile) { return weights.stored.bytes_on(tile) / weights.element_bytes(); },
         weights.type, weights.type);
  made.weights = weights.array;
  keep(made, values);
  return made;
}

Parameters ParameterMaker::numbers(const Count& count, const Values& values) {
  Parameters made = of(count, program::Type::f32, program::Type::f32);
  made.weights = weights_of(statement_, made, values);
  keep(made, values);
  add_gradient(made);
  return made;
}

}  // namespace tessera::training
