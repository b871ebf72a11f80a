#include "sim/program/tensor_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "sim/base/errors.h"
#include "sim/base/types.h"
#include "sim/data/element.h"

namespace tessera {

namespace {

using program::Run;
using program::Tensor;

constexpr std::size_t kBatch = 64;         // parts read, then reordered by all threads
constexpr std::uint64_t kChunk = 1 << 16;  // host-provided elements per thread task

/// Calls put(bytes of the part, run) for all runs of a tensor that lies in parts.
template <class Put>
class Gathering {
 public:
  Gathering(const Tensor& tensor, const MemoryReader& memory, const Put& put)
      : tensor_(tensor), memory_(memory), put_(put) {}

  void gather(HostThreads& threads) {
    std::uint64_t found = 0;
    if (!tensor_.transfer.empty()) {
      found = put_runs(0, memory_.written(tensor_.transfer));
    } else {
      for (std::size_t first = 0; first < tensor_.parts.size(); first += kBatch)
        found += gather_batch(first, threads);
    }
    check(found == tensor_.elements(), "tensor {}: {} of {} elements lie somewhere", tensor_.name,
          found, tensor_.elements());
  }

 private:
  std::uint64_t gather_batch(std::size_t first, HostThreads& threads) {
    const std::size_t count = std::min(kBatch, tensor_.parts.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      const program::TensorPart& part = tensor_.parts[first + i];
      bytes_[i].resize(part.bytes);
      if (part.bytes > 0)
        std::visit([&](auto place) { memory_.read(place, bytes_[i]); }, part.place);
    }
    std::array<std::uint64_t, kBatch> found{};
    threads.for_ranges(count, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) found[i] = put_runs(first + i, bytes_[i]);
    });
    return std::accumulate(found.begin(), found.end(), std::uint64_t{0});
  }

  std::uint64_t put_runs(std::size_t part, std::span<const std::byte> bytes) const {
    program::Runs runs;
    tensor_.runs(part, runs);
    std::uint64_t found = 0;
    const std::uint64_t held = bytes.size() / data::element_bytes(tensor_.type);
    const std::uint64_t elements = tensor_.elements();
    for (const Run& run : runs.all()) {
      check(run.at + run.count <= held && run.index + (run.count - 1) * run.step < elements,
            "tensor {}: numbers {} to {} of the {} in part {}, elements from {} on", tensor_.name,
            run.at, run.at + run.count, held, part, run.index);
      put_(bytes, run);
      found += run.count;
    }
    return found;
  }

  const Tensor& tensor_;
  const MemoryReader& memory_;
  const Put& put_;
  std::array<std::vector<std::byte>, kBatch> bytes_;
};

template <class Put>
void gather(const Tensor& tensor, const MemoryReader& memory, HostThreads& threads,
            const Put& put) {
  Gathering<Put>(tensor, memory, put).gather(threads);
}

/// Calls take(first, count) for chunks of elements, in parallel.
template <class Take>
void for_chunks(std::uint64_t elements, HostThreads& threads, const Take& take) {
  threads.for_ranges(ceil_div(elements, kChunk), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t chunk = begin; chunk < end; ++chunk)
      take(chunk * kChunk, std::min(kChunk, elements - chunk * kChunk));
  });
}

template <class Number>
void put_numbers(std::span<const std::byte> bytes, const Run& run, std::byte* into) {
  const std::byte* const from = bytes.data() + run.at * sizeof(Number);
  if (run.step == 1) {
    std::memcpy(into + run.index * sizeof(Number), from, run.count * sizeof(Number));
    return;
  }
  for (std::uint64_t i = 0; i < run.count; ++i)
    std::memcpy(into + (run.index + i * run.step) * sizeof(Number), from + i * sizeof(Number),
                sizeof(Number));
}

/// Maps a run of a matrix to runs of its transpose: cuts it into runs within a row or by whole
/// rows.
template <class Put>
void put_transposed(const Run& run, std::uint64_t rows, std::uint64_t columns, const Put& put) {
  const auto place = [&](std::uint64_t index) { return index % columns * rows + index / columns; };
  if (run.step % columns == 0) {
    put(Run{run.at, place(run.index), run.count, run.step / columns});
    return;
  }
  for (std::uint64_t i = 0; i < run.count;) {
    const std::uint64_t index = run.index + i * run.step;
    const std::uint64_t in_row = (columns - index % columns - 1) / run.step + 1;
    const std::uint64_t count = std::min(in_row, run.count - i);
    put(Run{run.at + i, place(index), count, run.step * rows});
    i += count;
  }
}

void put_floats(program::Type type, std::span<const std::byte> bytes, const Run& run,
                std::span<float> into) {
  if (run.step == 1) {
    data::load_elements(type, bytes, run.at, into.subspan(run.index, run.count));
    return;
  }
  std::array<float, 64> some;
  for (std::uint64_t done = 0; done < run.count; done += some.size()) {
    const std::uint64_t count = std::min<std::uint64_t>(some.size(), run.count - done);
    data::load_elements(type, bytes, run.at + done, std::span(some).first(count));
    for (std::uint64_t i = 0; i < count; ++i) into[run.index + (done + i) * run.step] = some[i];
  }
}

}  // namespace

void MemoryReader::read(program::OuterPlace place, std::span<std::byte> /*into*/) const {
  check(false, "tensors: buffer {} outside, where there is no external memory",
        static_cast<std::uint32_t>(place.buffer));
}

const Tensor* TensorReader::find(std::string_view name) const {
  const std::vector<Tensor>& all = program_.tensors();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Tensor& tensor) { return tensor.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const Tensor& TensorReader::tensor(std::string_view name) const {
  const Tensor* const found = find(name);
  check(found != nullptr, "tensors: the program has none named {}", name);
  return *found;
}

std::vector<std::byte> TensorReader::bytes(std::string_view name, HostThreads& threads) const {
  const Tensor& of = tensor(name);
  const std::uint32_t size = data::element_bytes(of.type);
  std::vector<std::byte> all(of.elements() * size);
  if (of.given) {
    for_chunks(of.elements(), threads, [&](std::uint64_t first, std::uint64_t count) {
      of.given(first, std::span(all).subspan(first * size, count * size));
    });
    return all;
  }
  gather(of, memory_, threads, [&](std::span<const std::byte> from, const Run& run) {
    if (size == 1) put_numbers<std::uint8_t>(from, run, all.data());
    if (size == 2) put_numbers<std::uint16_t>(from, run, all.data());
    if (size == 4) put_numbers<std::uint32_t>(from, run, all.data());
  });
  return all;
}

std::vector<std::byte> TensorReader::slice(std::string_view name, std::size_t number) const {
  const Tensor& of = tensor(name);
  const std::uint64_t elements = of.elements() / of.shape.front();
  const std::uint64_t first = number * elements;
  std::vector<std::byte> bytes(elements * data::element_bytes(of.type));
  program::Runs runs;
  // Usually slice `number` is part `number`.
  for (std::size_t i = 0; i < of.parts.size(); ++i) {
    const std::size_t part = (number + i) % of.parts.size();
    runs.clear();
    of.runs(part, runs);
    for (const program::Run& run : runs.all()) {
      if (run.step != 1 || first < run.index || first + elements > run.index + run.count) continue;
      const std::uint64_t skipped = (run.at + first - run.index) * data::element_bytes(of.type);
      std::visit(
          [&](auto place) {
            place.offset += static_cast<decltype(place.offset)>(skipped);
            memory_.read(place, bytes);
          },
          of.parts[part].place);
      return bytes;
    }
  }
  check(false, "tensor {}: slice {} is in no part", name, number);
  return bytes;
}

std::vector<float> TensorReader::floats(std::string_view name, HostThreads& threads,
                                        Order order) const {
  const Tensor& of = tensor(name);
  const bool is_float = of.type == program::Type::f16 || of.type == program::Type::f32;
  check(is_float && (order == Order::rows || of.shape.size() == 2) && !of.given,
        "tensor {} is not read as floats", name);
  std::vector<float> all(of.elements());
  gather(of, memory_, threads, [&](std::span<const std::byte> from, const Run& run) {
    const auto put = [&](const Run& one) { put_floats(of.type, from, one, all); };
    order == Order::rows ? put(run) : put_transposed(run, of.shape[0], of.shape[1], put);
  });
  return all;
}

}  // namespace tessera
