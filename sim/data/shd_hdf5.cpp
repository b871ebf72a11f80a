
#include <algorithm>
#include <span>

#include <fmt/ranges.h>

#include "sim/data/hdf5_place.h"
#include "sim/data/recordings.h"

namespace tessera::data {

namespace {

constexpr std::uint32_t kShdClasses = 20;
constexpr std::uint64_t kMostShdElements = std::uint64_t{1} << 26;  ///< limit of labels, of arrays

/// One row of a dataset of variable-length arrays; the library owns the memory.
template <class Number>
class Row {
 public:
  Row(const Hdf5Place& place, hid_t number, std::uint64_t at)
      : type_(H5Tvlen_create(number), H5Tclose), one_(H5Screate(H5S_SCALAR), H5Sclose) {
    const Hdf5Handle space(H5Dget_space(place.id()), H5Sclose);
    const hsize_t start = at;
    const hsize_t count = 1;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &count, nullptr);
    if (H5Dread(place.id(), type_, one_, space, H5P_DEFAULT, &row_) < 0)
      place.fail("its array {} cannot be read", at);
  }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  ~Row() { H5Dvlen_reclaim(type_, one_, H5P_DEFAULT, &row_); }

  [[nodiscard]] std::span<const Number> numbers() const {
    return {static_cast<const Number*>(row_.p), row_.len};
  }

 private:
  Hdf5Handle type_, one_;
  hvl_t row_{};
};

void require_rows(const Hdf5Place& place, std::uint64_t recordings) {
  const std::vector<std::uint64_t> shape =
      place.is_dataset() ? place.shape() : std::vector<std::uint64_t>();
  if (shape != std::vector{recordings})
    place.fail("found the shape [{}], expected [{}], as labels have", fmt::join(shape, ", "),
               recordings);
  const Hdf5Handle type(H5Dget_type(place.id()), H5Tclose);
  if (H5Tget_class(type) != H5T_VLEN) place.fail("holds no arrays of varying length");
  const Hdf5Handle number(H5Tget_super(type), H5Tclose);
  const H5T_class_t kind = H5Tget_class(number);
  if (kind != H5T_FLOAT && kind != H5T_INTEGER) place.fail("holds no numbers");
  static_cast<void>(place.count(H5Tget_size(type)));
}

template <class Number>
void append(std::string& text, std::span<const Number> numbers) {
  text.append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
}

std::vector<std::uint64_t> labels_of(const Hdf5Place& place) {
  if (!place.is_dataset() || place.shape().size() != 1)
    place.fail("found no list, expected a label a recording");
  std::vector<std::uint64_t> labels;
  for (const double label : place.numbers()) {
    if (!(label >= 0 && label < kShdClasses) || label != static_cast<int>(label))
      place.fail("found {} for recording {}, expected 0 to {}", label, labels.size(),
                 kShdClasses - 1);
    labels.push_back(static_cast<std::uint64_t>(label));
  }
  return labels;
}

}  // namespace

std::string parse_shd(const std::string& name, std::string bytes, std::uint64_t count) {
  const Hdf5Handle opened = open_hdf5(name, bytes, "an SHD file");
  bytes = {};
  Hdf5File file{name, kMostShdElements};
  const Hdf5Place root(opened, file, "/");
  const std::vector<std::uint64_t> labels = labels_of(root.child("labels"));
  const Hdf5Place spikes = root.child("spikes");
  const Hdf5Place times = spikes.child("times");
  const Hdf5Place units = spikes.child("units");
  require_rows(times, labels.size());
  require_rows(units, labels.size());
  const std::uint64_t all = labels.size();
  std::string text;
  append(text, std::span(&all, 1));
  for (std::uint64_t i = 0; i < std::min(count, all); ++i) {
    const Row<float> seconds(times, H5T_NATIVE_FLOAT, i);
    const Row<std::int32_t> channels(units, H5T_NATIVE_INT32, i);
    const std::uint64_t events = seconds.numbers().size();
    if (channels.numbers().size() != events)
      units.fail("found {} of recording {}, expected {}, as it has times",
                 channels.numbers().size(), i, events);
    for (const float time : seconds.numbers())
      if (!(time >= 0 && time < 1e6F))
        times.fail("found {} s in recording {}, expected 0 to 1e6", time, i);
    for (const std::int32_t channel : channels.numbers())
      if (channel < 0 || channel >= static_cast<std::int32_t>(kShdChannels))
        units.fail("found {} in recording {}, expected 0 to {}", channel, i, kShdChannels - 1);
    append(text, std::span(&labels[i], 1));
    append(text, std::span(&events, 1));
    append(text, seconds.numbers());
    append(text, channels.numbers());
  }
  return text;
}

}  // namespace tessera::data
