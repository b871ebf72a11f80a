#include "kernels/training/parameters.h"

#include <algorithm>

#include "kernels/training/learning.h"
#include "kernels/training/loss.h"

namespace tessera::training {

namespace {

constexpr std::uint64_t kLeastBytes = 16;  // of a gradient: code that adds them takes 16 at once
constexpr std::uint64_t kMostAtOnce = 4;   // parameters that tile code updates together

/// Writes values of a tile's parameters from numbers[first] on; zeros at kNoNumber and beyond.
void fill_initial(const std::vector<double>& values, const std::vector<std::uint64_t>& numbers,
                  std::uint64_t first, program::Type type, std::span<std::byte> into) {
  for (std::uint64_t i = 0; i < into.size() / data::element_bytes(type); ++i) {
    const std::uint64_t number = first + i < numbers.size() ? numbers[first + i] : kNoNumber;
    data::store_element(type, into, i, number == kNoNumber ? 0.0 : values[number]);
  }
}

/// Calls take(index in `all`, other copy, its tile) for all copies except that of `tile`.
template <class Take>
void for_others(const std::vector<Parameters>& all, Tile tile, const Take& take) {
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::uint32_t other = 0; other < all[i].copies.count; ++other)
      if (const Tile size = all[i].copies.tiles; other != tile / size)
        take(i, other, other * size + tile % size);
}

}  // namespace

std::optional<Stretch> Stretch::share(std::uint32_t copies, std::uint32_t copy) const {
  const Interval mine = EvenSplit{ceil_div(count, kMostAtOnce), copies}.part(copy);
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
  const Stretch all{*this, count(tile % copies.tiles)};
  if (all.count == 0) return std::nullopt;
  return copies.count == 1 ? all : all.share(copies.count, copy);
}

void add_tensor(plan::Description& description, const program::Tensor& tensor,
                const Parameters& parameters, std::uint64_t first) {
  description.tensor(
      {tensor, parameters.masters, [parameters, first](Tile tile, program::Runs& runs) {
         const std::optional<Stretch> share = parameters.share(tile);
         if (!share) return;
         const std::vector<std::uint64_t> numbers =
             parameters.numbers(tile % parameters.copies.tiles);
         const std::uint64_t kept = share->kept_place(share->masters).offset /
                                    data::element_bytes(parameters.master_type());
         const std::uint64_t end =
             std::min<std::uint64_t>(numbers.size(), share->begin + share->count);
         for (std::uint64_t i = share->begin; i < end; ++i)
           if (numbers[i] != kNoNumber) runs.add(kept + i - share->begin, numbers[i] - first);
       }});
}

Parameters ParameterMaker::of(const Count& count, const Numbering& numbers, program::Type type,
                              program::Type gradients) const {
  Parameters made;
  made.count = [count, lanes = kWordBytes / statement_.element_bytes()](Tile tile) {
    return round_up(count(tile), lanes);
  };
  made.numbers = numbers;
  made.type = type;
  made.gradients = gradients;
  made.copies = copies_;
  return made;
}

void ParameterMaker::add_weights(Parameters& of) const {
  of.weights = statement_.array(
      "weights",
      [count = of.count, each = data::element_bytes(of.type)](Tile tile) {
        return count(tile) * each;
      },
      [=, initial = initial_](Tile tile, std::span<std::byte> into) {
        fill_initial(*initial, of.numbers(tile), 0, of.type, into);
      },
      true);
}

BufferId ParameterMaker::kept(const Parameters& of, std::string_view name, bool filled) const {
  BufferId made{};
  const auto bytes = [of](Tile tile) -> std::uint64_t {
    // The first copy's share is the largest.
    if (tile >= of.copies.tiles * of.copies.count) return 0;
    const std::optional<Stretch> largest = of.share(tile % of.copies.tiles, 0);
    return largest ? largest->count * kElementBytes : 0;
  };
  statement_.on_all([&] {
    made = statement_.array(
        name, bytes,
        [of, initial = filled ? initial_ : nullptr](Tile tile, std::span<std::byte> into) {
          fill_zeros(into);
          if (const std::optional<Stretch> share = initial ? of.share(tile) : std::nullopt)
            fill_initial(*initial, of.numbers(tile % of.copies.tiles), share->begin,
                         program::Type::f32, into.first(share->count * kElementBytes));
        },
        true);
  });
  return made;
}

void ParameterMaker::keep(Parameters& of) const {
  of.masters = of.weights;
  if (learning_ == nullptr) return;
  if (of.type == program::Type::f16) of.masters = kept(of, "master weights", true);
  of.first = kept(of, "moments", false);
  of.second = learning_->adam() ? kept(of, "second moments", false) : of.first;
}

Parameters ParameterMaker::made(Parameters of) const {
  add_weights(of);
  keep(of);
  if (learning_ == nullptr) return of;
  of.gradient = statement_.array("weight gradients", [of](Tile tile) {
    const std::uint64_t bytes = of.count(tile) * data::element_bytes(of.gradients);
    return bytes == 0 ? 0 : std::max(bytes, kLeastBytes);
  });
  return of;
}

Parameters ParameterMaker::make(const Count& count, const Numbering& numbers,
                                program::Type gradients) const {
  return made(of(count, numbers, statement_.type(), gradients));
}

Parameters ParameterMaker::apart(const Count& count, const Numbering& numbers) const {
  return made(of(count, numbers, program::Type::f32, program::Type::f32));
}

Parameters ParameterMaker::around(MatrixArray& weights, const Numbering& numbers) const {
  const auto count = [weights](Tile tile) {
    return weights.stored.bytes_on(tile) / weights.element_bytes();
  };
  Parameters made = of(count, numbers, weights.type, weights.type);
  made.weights = weights.array;
  if (numbers) add_weights(made);
  weights.array = made.weights;
  keep(made);
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
        statement.array_on_first(1, "totals of copies", std::uint64_t{kResultBytes} * copies.count);
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
