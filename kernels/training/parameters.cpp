#include "kernels/training/parameters.h"

#include <algorithm>

#include "kernels/training/learning.h"
#include "kernels/training/loss.h"

namespace tessera::training {

namespace {

constexpr std::uint64_t kLeastBytes = 16;  // of a gradient: what code that adds them takes at once
constexpr std::uint64_t kMostAtOnce = 4;   // parameters that tile code updates

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

/// Calls take(number of the parameters, other copy, its tile) for all copies but that of `tile`.
template <class Take>
void for_others(const std::vector<Parameters>& all, Tile tile, const Take& take) {
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::uint32_t other = 0; other < all[i].copies.count; ++other)
      if (const Tile size = all[i].copies.tiles; other != tile / size)
        take(i, other, other * size + tile % size);
}

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

void add_sums(Statement& statement, const std::vector<Parameters>& parameters) {
  statement.on_all([&] {
    std::vector<BufferId> received;
    std::vector<CallsOf> sums;
    for (const Parameters& each : parameters) {
      const std::uint32_t others = each.copies.count - 1;
      received.push_back(
          statement.array("gradients of copies", [each, others](Tile tile) -> std::uint64_t {
            const std::optional<Stretch> share = each.share(tile);
            return share ? share->gradient_bytes() * others : 0;
          }));
      const bool halves = each.gradients == program::Type::f16;
      sums.push_back([each, others, from = received.back(),
                      code = statement.code(halves ? "training_sum_f16" : "training_sum")](
                         Tile tile, Calls& calls) {
        const std::optional<Stretch> share = each.share(tile);
        if (!share) return;
        const std::uint32_t bytes = word(share->gradient_bytes());
        const Place own = share->gradient_place();
        calls.add_by_size(code.all_over({own, Place{from}, own, others, bytes, 0U}, bytes));
      });
    }
    statement.description().exchange(
        "gradients of copies", statement.description().tiles(),
        [parameters, received](Tile tile, Pulls& pulls) {
          for_others(parameters, tile, [&](std::size_t i, std::uint32_t other, Tile from) {
            const std::optional<Stretch> share = parameters[i].share(tile);
            if (!share) return;
            const std::uint32_t bytes = word(share->gradient_bytes());
            const std::uint32_t place =
                other < tile / parameters[i].copies.tiles ? other : other - 1;
            pulls.push_back({{received[i], place * bytes}, from, share->gradient_place(), bytes});
          });
        });
    statement.compute_on_all("sums of copies", std::move(sums));
  });
}

void add_weights(Statement& statement, const std::vector<Parameters>& parameters) {
  const auto bytes = [](const Stretch& share) {
    return word(share.count * data::element_bytes(share.type));
  };
  statement.on_all([&] {
    statement.description().exchange(
        "weights of copies", statement.description().tiles(),
        [parameters, bytes](Tile tile, Pulls& pulls) {
          for_others(parameters, tile, [&](std::size_t i, std::uint32_t /*other*/, Tile from) {
            if (tile >= parameters[i].copies.tiles * parameters[i].copies.count) return;
            if (const std::optional<Stretch> share = parameters[i].share(from))
              pulls.push_back(
                  {share->weights_place(), from, share->weights_place(), bytes(*share)});
          });
        },
        [parameters, bytes](Tile tile) {
          std::uint64_t sum = 0;
          for (const Parameters& each : parameters)
            if (const std::optional<Stretch> share = each.share(tile)) sum += bytes(*share);
          return sum;
        });
  });
}

BufferId add_totals(Statement& statement, BufferId totals, plan::Copies copies) {
  BufferId sum{};
  statement.on_all([&] {
    const BufferId all =
        statement.array_on(0, "totals of copies", std::uint64_t{kResultBytes} * copies.count);
    statement.description().exchange(
        "totals of copies", 1, [all, totals, copies](Tile /*tile*/, Pulls& pulls) {
          for (std::uint32_t copy = 0; copy < copies.count; ++copy)
            pulls.push_back(
                {{all, copy * kResultBytes}, copy * copies.tiles, {totals}, kResultBytes});
        });
    sum = add_total(statement, "total of copies", all, copies.count, 1, "totals of all");
  });
  return sum;
}

}  // namespace tessera::training
