#include "tests/kernels/check/mutations.h"

#include <cmath>
#include <stdexcept>

namespace tessera::test {

namespace {

constexpr std::uint64_t kSiteStream = 1;
constexpr std::uint64_t kNoiseStream = 2;

std::size_t elements(const std::vector<std::byte>& bytes, program::Type type) {
  return bytes.size() / data::element_bytes(type);
}

double root_mean_square(const Results& results, program::Type type) {
  double squares = 0;
  double count = 0;
  for (const auto& [buffer, bytes] : results) {
    for (std::size_t i = 0; i < elements(bytes, type); ++i, ++count) {
      const double value = data::load_element(type, bytes, i);
      squares += value * value;
    }
  }
  return std::sqrt(squares / count);
}

/// Moves an element up or down by `numbers` units in the last place.
void raise(program::Type type, std::span<std::byte> bytes, std::size_t at, double numbers) {
  const double value = data::load_element(type, bytes, at);
  const bool half = type == program::Type::f16;
  const double smallest = half ? 0x1p-24 : 0x1p-149;
  double step = std::ldexp(data::unit_roundoff(type), std::ilogb(value) + 1);
  if (value == 0 || step < smallest) step = smallest;
  data::store_element(type, bytes, at, value + numbers * step);
}

}  // namespace

Site choose_site(const Results& results, program::Type type, Mutation mutation,
                 std::uint64_t number, double least) {
  constexpr std::uint64_t kTrials = 100000;
  for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
    const std::uint64_t index = number * kTrials + trial;
    auto buffer = results.begin();
    std::advance(buffer, data::random_below(7, kSiteStream, 2 * index, results.size()));
    const std::size_t count = elements(buffer->second, type);
    if (count < 2) continue;
    const std::size_t at = data::random_below(7, kSiteStream, 2 * index + 1, count - 1);
    const double value = data::load_element(type, buffer->second, at);
    const double next = data::load_element(type, buffer->second, at + 1);
    if (std::abs(value) < least || next == 0) continue;  // padding is zeros
    if (mutation == Mutation::swapped && std::abs(value - next) < least) continue;
    return {buffer->first, at};
  }
  throw std::runtime_error("mutations: no tile has two results side by side that are not small");
}

Results mutated(Results results, program::Type type, Mutation mutation, const Site& site) {
  std::vector<std::byte>& bytes = results.at(site.buffer);
  const double value = data::load_element(type, bytes, site.element);
  const auto put = [&](double changed) { data::store_element(type, bytes, site.element, changed); };
  const auto is = [&](Mutation which) { return mutation == which; };
  if (is(Mutation::zeroed)) put(0);
  if (is(Mutation::negated)) put(-value);
  if (is(Mutation::times_1_5)) put(1.5 * value);
  if (is(Mutation::times_1_004)) put(1.004 * value);
  if (is(Mutation::not_a_number)) put(std::nan(""));
  if (is(Mutation::swapped)) {
    put(data::load_element(type, bytes, site.element + 1));
    data::store_element(type, bytes, site.element + 1, value);
  }
  if (is(Mutation::stale)) {
    auto other = std::next(results.find(site.buffer));
    if (other == results.end()) other = results.begin();
    const std::size_t size = std::min(bytes.size(), other->second.size());
    std::copy_n(std::vector(other->second).begin(), size, bytes.begin());
  }
  if (!is(Mutation::bias) && !is(Mutation::noise)) return results;
  for (auto& [buffer, all] : results)
    for (std::size_t i = 0; i < elements(all, type); ++i)
      raise(type, all, i,
            is(Mutation::bias)                               ? 1
            : data::random_below(7, kNoiseStream, i, 2) == 0 ? 16
                                                             : -16);
  return results;
}

Rates found_mutations(const Workload& workload, const Results& results, program::Type type,
                      CheckMode mode, unsigned trials) {
  Rates found{};
  const program::Program program = workload.build();
  const double least = root_mean_square(results, type) / 8;  // choose_site() skips smaller elements
  for (std::size_t m = 0; m < kMutations.size(); ++m) {
    const bool whole = kMutations[m] >= Mutation::stale &&  // changes more than one element
                       kMutations[m] <= Mutation::noise;
    for (unsigned i = 0; i < trials; i += whole ? 5 : 1) {
      const Site site = choose_site(results, type, kMutations[m], i, least);
      const Replies replies(mutated(results, type, kMutations[m], site));
      if (!workload.check(TensorReader(program, replies), {mode, i}).passed)
        found[m] += whole ? 5 : 1;
    }
  }
  return found;
}

std::string text(const Rates& rates) {
  std::string text;
  for (const unsigned rate : rates) text += fmt::format("{}{}", text.empty() ? "" : " ", rate);
  return text;
}

}  // namespace tessera::test
