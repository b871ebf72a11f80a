#include <array>
#include <cstring>

#include "kernels/snn/program.h"
#include "kernels/training/matrix.h"
#include "sim/data/random.h"

/// What buffers hold when a program is predicted: what Snn::expect() has found.
namespace tessera::snn {

/// Lists of so many ids as are expected, evenly.
ProgramBuilder::Fill ProgramBuilder::stated_lists(VectorId vector, std::uint32_t lists) const {
  if (!stated_) return {};
  const ListPlan& list = plan_.lists[vector];
  return [lists, words = list_words(list.capacity), neurons = list.neurons,
          expected = snn_.expected_[vector]](std::span<std::byte> into) {
    std::vector<std::uint32_t> ids(std::size_t{lists} * words);
    for (std::uint32_t l = 0; l < lists; ++l) {
      ids[l * words] = expected.spikes;
      ids[l * words + 1] = expected.listed;
      for (std::uint32_t i = 0; i < expected.listed; ++i)
        ids[l * words + kListHeader + i] = word(std::uint64_t{i} * neurons / expected.listed);
    }
    std::memcpy(into.data(), ids.data(), std::min(into.size(), ids.size() * sizeof ids[0]));
  };
}

/// Marks of neurons, or words of them that are listed, as many as are expected, evenly: `of_spike`,
/// `of_carrier`, and `other` for all others.
ProgramBuilder::Fill ProgramBuilder::stated_neurons(VectorId vector, std::uint64_t first,
                                                    const Words& words) const {
  return [expected = snn_.expected_[vector], neurons = plan_.lists[vector].neurons, first,
          words](std::span<std::byte> into) {
    std::vector<std::uint32_t> made(into.size() / 4);
    const auto before = [&](std::uint64_t i) { return (first + i) * expected.listed / neurons; };
    const auto spikes = [&](std::uint64_t listed) {
      return listed * expected.spikes / std::max(expected.listed, 1U);
    };
    for (std::size_t i = 0; i < made.size(); ++i) {
      const bool listed = before(i + 1) > before(i);
      const bool spiked = listed && spikes(before(i + 1)) > spikes(before(i));
      made[i] = spiked ? words.spike : listed ? words.carrier : words.other;
    }
    std::memcpy(into.data(), made.data(), made.size() * sizeof made[0]);
  };
}

/// Marks of all that are above their thresholds, as many as are expected, at random: a step takes
/// as long as the worker that finds most.
ProgramBuilder::Fill ProgramBuilder::stated_marks(VectorId vector, std::uint32_t sample,
                                                  std::uint64_t first, const Words& words) const {
  return [expected = snn_.expected_[vector], neurons = plan_.lists[vector].neurons, sample, first,
          words, seed = options_.seed](std::span<std::byte> into) {
    const std::uint64_t stream = 312 + (std::uint64_t{sample} << 16);
    std::vector<std::uint32_t> made(into.size() / 4);
    for (std::size_t i = 0; i < made.size(); ++i) {
      const std::uint64_t place = data::random_below(seed, stream, first + i, neurons);
      made[i] = place < expected.spiking  ? words.spike
                : place < expected.marked ? words.carrier
                                          : words.other;
    }
    std::memcpy(into.data(), made.data(), made.size() * sizeof made[0]);
  };
}

/// Marks as bits, of the same neurons.
ProgramBuilder::Fill ProgramBuilder::stated_bits(VectorId vector, std::uint32_t sample,
                                                 std::uint64_t first) const {
  return [fill = stated_marks(vector, sample, 0, {1, 1U << kNeuronsAWord, 0}), &plan = plan_,
          vector, first](std::span<std::byte> into) {
    std::vector<std::uint32_t> neurons(plan.lists[vector].neurons);
    fill(std::as_writable_bytes(std::span(neurons)));
    std::vector<std::uint32_t> marks(into.size() / 4);
    for (std::size_t i = 0; i < marks.size() && first + i < plan.lists[vector].marks; ++i) {
      const kernels::Interval these = plan.marked(vector, first + i);
      for (std::uint64_t n = these.begin; n < these.end; ++n)
        marks[i] |= neurons[n] << (kNeuronsAWord - 1 - ((n - these.begin) ^ 1));
    }
    std::memcpy(into.data(), marks.data(), marks.size() * sizeof marks[0]);
  };
}

/// What so many workers or tiles have found of those, a share of a vector each, if there is room.
ProgramBuilder::Fill ProgramBuilder::stated_found(VectorId vector, std::uint32_t finders,
                                                  std::uint32_t of, std::uint32_t capacity) const {
  if (!stated_) return {};
  return [finders, of, capacity, expected = snn_.expected_[vector],
          bytes = found_bytes(capacity)](std::span<std::byte> into) {
    std::memset(into.data(), 0, into.size());
    for (std::uint32_t i = 0; i < finders; ++i) {
      const auto share = [&](std::uint64_t all) { return all * (i + 1) / of - all * i / of; };
      const std::uint64_t all = share(expected.marked);
      const auto room = word(std::min<std::uint64_t>(all, capacity));
      const auto spikes = word(share(expected.spiking) * room / std::max<std::uint64_t>(all, 1));
      const std::array<std::uint32_t, 3> counts{spikes, room - spikes, all > capacity ? 1U : 0U};
      std::memcpy(into.data() + std::size_t{i} * bytes, counts.data(), sizeof counts);
    }
  };
}

}  // namespace tessera::snn
