#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/snn/statement.h"

/// What arrays are expected to hold where data decide the time of calls: a step of some samples,
/// which stand for the others of the batch too.
namespace tessera::snn {

namespace {

const Stated::Words& of_sample(const std::vector<Stated::Words>& samples, std::uint64_t sample) {
  return samples[sample % samples.size()];
}

void copy(const Stated::Words& list, std::span<std::byte> into) {
  std::memcpy(into.data(), list.data(), list.size() * sizeof list[0]);
}

}  // namespace

void fill_taken(const Stated& stated, VectorId vector, std::uint64_t sample,
                std::span<std::byte> into) {
  copy(of_sample(stated.lists[vector], sample), into);
}

void fill_made(const Stated& stated, VectorId vector, std::uint64_t sample,
               std::span<std::byte> into) {
  copy(of_sample(stated.made[vector], sample), into);
}

void fill_stored(const Layout& layout, const Stated& stated, VectorId vector, std::uint64_t sample,
                 std::span<std::byte> into) {
  const std::size_t each = layout.stride(vector);
  for (std::size_t slot = 0; slot * each < into.size(); ++slot)
    (slot <= stated.step ? fill_taken : fill_made)(stated, vector, sample,
                                                   into.subspan(slot * each, each));
}

void fill_marks(const Layout& layout, const Stated& stated, VectorId vector, std::uint64_t site,
                std::span<std::byte> into) {
  const Plan& plan = layout.plan;
  const ListPlan& list = plan.lists[vector];
  const Interval marks = list.part(word(site % list.spread));
  const Stated::Words& neurons = of_sample(stated.marks[vector], site / list.spread);
  if (!plan.bits()) {
    std::memcpy(into.data(), &neurons[marks.begin], marks.size() * 4);
    return;
  }
  std::vector<std::uint32_t> words(marks.size());
  for (std::uint64_t i = 0; i < words.size(); ++i) {
    const Interval these = plan.marked(vector, marks.begin + i);
    for (std::uint64_t n = these.begin; n < these.end; ++n)
      words[i] |= neurons[n] << (kNeuronsAWord - 1 - ((n - these.begin) ^ 1));
  }
  std::memcpy(into.data(), words.data(), words.size() * 4);
}

void fill_found(const Layout& layout, const Stated& stated, VectorId vector, std::uint32_t sample,
                std::span<std::byte> into) {
  const std::uint32_t capacity = layout.site_capacity(vector);
  const Stated::Words& neurons = of_sample(stated.marks[vector], sample);
  std::memset(into.data(), 0, into.size());
  const ListPlan& list = layout.plan.lists[vector];
  for (std::uint32_t s = 0; s < list.spread; ++s) {
    const Interval part = list.part(s);
    const std::uint64_t begin = layout.plan.marked(vector, part.begin).begin;
    const std::span found =
        std::span(neurons).subspan(begin, layout.plan.marked(vector, part.end - 1).end - begin);
    const auto count = [&](std::uint32_t mark) {
      return static_cast<std::uint32_t>(std::ranges::count(found, mark));
    };
    const std::uint32_t spikes = std::min(count(kSpikeMark), capacity);
    const std::array<std::uint32_t, 2> counts{spikes,
                                              std::min(count(kCarrierMark), capacity - spikes)};
    std::memcpy(into.data() + std::size_t{s} * found_bytes(capacity), counts.data(), sizeof counts);
  }
}

void fill_listed(const Layout& layout, const Stated& stated, const Neurons& neurons,
                 std::span<std::byte> into) {
  fill_unlisted(into);
  for (std::uint32_t b = 0; b < layout.batch(); ++b) {
    const Stated::Words& list = of_sample(stated.made[neurons.layer + 1], b);
    for (const std::uint32_t id : std::span(list).subspan(kListHeader))
      if (id >= neurons.begin && id < neurons.end)
        std::memset(into.data() + (std::size_t{b} * 2 * neurons.pairs() + id - neurons.begin) * 4,
                    0, 4);
  }
}

}  // namespace tessera::snn
