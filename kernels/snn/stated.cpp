#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "kernels/snn/program.h"
#include "kernels/training/matrix.h"

/// What buffers hold when a program is predicted: a step of some samples, which stand for the
/// others of the batch too.
namespace tessera::snn {

namespace {

const Stated::Words& of_sample(const std::vector<Stated::Words>& samples, std::uint32_t sample) {
  return samples[sample % samples.size()];
}

}  // namespace

/// The same list again and again.
ProgramBuilder::Fill ProgramBuilder::stated_list(VectorId vector, std::uint32_t sample,
                                                 std::uint32_t copies) const {
  if (stated_ == nullptr) return {};
  return [copies, stride = stride(vector),
          &list = of_sample(stated_->lists[vector], sample)](std::span<std::byte> into) {
    for (std::size_t i = 0; i < copies; ++i)
      std::memcpy(into.data() + i * stride, list.data(), list.size() * sizeof list[0]);
  };
}

/// Those of all samples.
ProgramBuilder::Fill ProgramBuilder::stated_lists(VectorId vector) const {
  if (stated_ == nullptr) return {};
  return [batch = plan_.batch, stride = stride(vector),
          &lists = stated_->lists[vector]](std::span<std::byte> into) {
    for (std::uint32_t b = 0; b < batch; ++b) {
      const Stated::Words& list = of_sample(lists, b);
      std::memcpy(into.data() + std::size_t{b} * stride, list.data(), list.size() * sizeof list[0]);
    }
  };
}

/// A word a neuron, or bits of words.
ProgramBuilder::Fill ProgramBuilder::stated_marks(VectorId vector, std::uint32_t sample,
                                                  kernels::Interval marks) const {
  if (stated_ == nullptr) return {};
  return [&plan = plan_, vector, marks,
          &neurons = of_sample(stated_->marks[vector], sample)](std::span<std::byte> into) {
    if (!plan.bits())
      return std::memcpy(into.data(), &neurons[marks.begin], marks.size() * 4), void();
    std::vector<std::uint32_t> words(marks.size());
    for (std::uint64_t i = 0; i < words.size(); ++i) {
      const kernels::Interval these = plan.marked(vector, marks.begin + i);
      for (std::uint64_t n = these.begin; n < these.end; ++n)
        words[i] |= neurons[n] << (kNeuronsAWord - 1 - ((n - these.begin) ^ 1));
    }
    std::memcpy(into.data(), words.data(), words.size() * 4);
  };
}

/// What tiles have found of them, a part of the vector each, as far as there is room.
ProgramBuilder::Fill ProgramBuilder::stated_found(VectorId vector, std::uint32_t sample,
                                                  std::uint32_t capacity) const {
  if (stated_ == nullptr) return {};
  return [&plan = plan_, vector, capacity,
          &neurons = of_sample(stated_->marks[vector], sample)](std::span<std::byte> into) {
    std::memset(into.data(), 0, into.size());
    const ListPlan& list = plan.lists[vector];
    for (std::uint32_t s = 0; s < list.spread; ++s) {
      const kernels::Interval part = list.part(s);
      const std::span found = std::span(neurons).subspan(
          plan.marked(vector, part.begin).begin,
          plan.marked(vector, part.end - 1).end - plan.marked(vector, part.begin).begin);
      const auto count = [&](std::uint32_t mark) {
        return static_cast<std::uint32_t>(std::ranges::count(found, mark));
      };
      const std::uint32_t spikes = std::min(count(kSpikeMark), capacity);
      const std::uint32_t carriers = std::min(count(kCarrierMark), capacity - spikes);
      const std::array<std::uint32_t, 2> counts{spikes, carriers};
      std::memcpy(into.data() + std::size_t{s} * found_bytes(capacity), counts.data(),
                  sizeof counts);
    }
  };
}

/// Of the spikes of a tile's neurons: 0 where they are listed.
ProgramBuilder::Fill ProgramBuilder::stated_gradients(VectorId vector, const Neurons& tile) const {
  return [batch = plan_.batch, begin = tile.begin, end = tile.end, each = 2 * tile.pairs,
          &lists = stated_->lists[vector]](std::span<std::byte> into) {
    fill_unlisted(into);
    for (std::uint32_t b = 0; b < batch; ++b) {
      for (const std::uint32_t id : std::span(of_sample(lists, b)).subspan(kListHeader))
        if (id >= begin && id < end)
          std::memset(into.data() + (std::size_t{b} * each + id - begin) * 4, 0, 4);
    }
  };
}

}  // namespace tessera::snn
