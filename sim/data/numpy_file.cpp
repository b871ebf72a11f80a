#include "sim/data/numpy_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "sim/base/errors.h"
#include "sim/data/element.h"
#include "sim/data/read_file.h"

namespace tessera::data {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

template <class... Args>
[[noreturn]] void fail(std::string_view name, fmt::format_string<Args...> problem, Args&&... args) {
  throw UserError("{}: {}", name, fmt::format(problem, std::forward<Args>(args)...));
}

template <class Number>
Number load(const char* bytes) {
  static_assert(std::endian::native == std::endian::little);
  Number value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

double half_to_double(const char* bytes) {
  const auto bits = load<std::uint16_t>(bytes);
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  if (exponent == 31) magnitude = fraction == 0 ? HUGE_VAL : std::nan("");
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

template <class Number>
double number_to_double(const char* bytes) {
  return static_cast<double>(load<Number>(bytes));
}

struct ElementType {
  std::string_view dtype;
  std::size_t bytes;
  double (*to_double)(const char*);
  std::size_t parts = 1;  ///< two for complex numbers
};

constexpr std::array kElementTypes{
    ElementType{"<f2", 2, half_to_double},
    ElementType{"<f4", 4, number_to_double<float>},
    ElementType{"<f8", 8, number_to_double<double>},
    ElementType{"|i1", 1, number_to_double<std::int8_t>},
    ElementType{"|u1", 1, number_to_double<std::uint8_t>},
    ElementType{"<i2", 2, number_to_double<std::int16_t>},
    ElementType{"<u2", 2, number_to_double<std::uint16_t>},
    ElementType{"<i4", 4, number_to_double<std::int32_t>},
    ElementType{"<u4", 4, number_to_double<std::uint32_t>},
    ElementType{"<i8", 8, number_to_double<std::int64_t>},
    ElementType{"<c8", 8, number_to_double<float>, 2},
    ElementType{"<c16", 16, number_to_double<double>, 2},
};

const ElementType& element_type(std::string_view dtype, std::string_view name) {
  const auto* match = std::ranges::find(kElementTypes, dtype, &ElementType::dtype);
  if (match != kElementTypes.end()) return *match;
  std::string allowed;
  for (const ElementType& type : kElementTypes) allowed += fmt::format(" {}", type.dtype);
  fail(name, "descr: found '{}', allowed:{}", dtype, allowed);
}

/// The text after `'key':` in the header's Python dictionary.
std::string_view after_key(std::string_view header, std::string_view key, std::string_view name) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) fail(name, "the header has no '{}'", key);
  header.remove_prefix(at + key.size() + 3);
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

std::vector<std::uint64_t> parse_shape(std::string_view text, std::string_view name) {
  const std::size_t close = text.find(')');
  if (text.empty() || text.front() != '(' || close == std::string_view::npos) {
    fail(name, "shape: expected a tuple such as (64, 16)");
  }
  std::vector<std::uint64_t> shape;
  const char* at = text.data() + 1;
  const char* end = text.data() + close;
  while (at != end) {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    std::uint64_t extent = 0;
    const auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc{}) {
      fail(name, "shape: found '{}', expected whole numbers", text.substr(0, close + 1));
    }
    shape.push_back(extent);
    at = next;
  }
  return shape;
}

/// The header's text and the offset of the data.
std::pair<std::string_view, std::size_t> find_header(std::string_view bytes,
                                                     std::string_view name) {
  if (bytes.substr(0, kMagic.size()) != kMagic || bytes.size() < 12) {
    fail(name, "not a .npy file: it does not start with \\x93NUMPY and a version");
  }
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) fail(name, "format version: found {}, allowed 1 to 3", version);
  const std::size_t begin = version == 1 ? 10 : 12;
  const std::size_t length =
      version == 1 ? load<std::uint16_t>(bytes.data() + 8) : load<std::uint32_t>(bytes.data() + 8);
  if (begin + length > bytes.size()) {
    fail(name, "the header of {} bytes does not fit the file of {}", length, bytes.size());
  }
  return {bytes.substr(begin, length), begin + length};
}

/// Strides of the axes in a Fortran-order file.
std::vector<std::uint64_t> fortran_strides(const std::vector<std::uint64_t>& shape) {
  std::vector<std::uint64_t> strides(shape.size(), 1);
  for (std::size_t i = 1; i < shape.size(); ++i) strides[i] = strides[i - 1] * shape[i - 1];
  return strides;
}

}  // namespace

NumpyArray parse_numpy(std::string_view bytes, std::string_view name) {
  const auto [header, begin] = find_header(bytes, name);
  std::string_view descr = after_key(header, "descr", name);
  if (descr.empty() || descr.front() != '\'') {
    fail(name, "descr: structured arrays are not supported");
  }
  descr = descr.substr(1, descr.find('\'', 1) - 1);
  const ElementType& type = element_type(descr, name);
  const std::string_view order = after_key(header, "fortran_order", name);
  const bool fortran = order.starts_with("True");
  if (!fortran && !order.starts_with("False")) {
    fail(name, "fortran_order: found '{}', allowed True, False",
         order.substr(0, order.find_first_of(",} ")));
  }

  NumpyArray array{std::string(descr), parse_shape(after_key(header, "shape", name), name), {}};
  std::uint64_t count = 1;
  const std::uint64_t available = (bytes.size() - begin) / type.bytes;
  for (const std::uint64_t extent : array.shape) {
    if (extent != 0 && count > available / extent)
      count = available + 1;
    else
      count *= extent;
  }
  if (count * type.bytes != bytes.size() - begin) {
    fail(name, "shape ({}) of {} does not agree with {} bytes of data",
         fmt::join(array.shape, ", "), descr, bytes.size() - begin);
  }

  array.values.resize(count * type.parts);
  const std::vector<std::uint64_t> strides = fortran_strides(array.shape);
  std::vector<std::uint64_t> at(array.shape.size(), 0);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t from = i;
    if (fortran) {
      from = 0;
      for (std::size_t d = 0; d < at.size(); ++d) from += at[d] * strides[d];
      for (std::size_t d = at.size(); d-- > 0 && ++at[d] == array.shape[d];) at[d] = 0;
    }
    for (std::size_t part = 0; part < type.parts; ++part)
      array.values[i * type.parts + part] =
          type.to_double(bytes.data() + begin + from * type.bytes + part * type.bytes / type.parts);
  }
  if (type.parts > 1) array.shape.push_back(type.parts);
  return array;
}

void require_finite(const NumpyArray& array, program::Type type, std::string_view name) {
  const auto bad = std::ranges::find_if(
      array.values, [type](double value) { return !std::isfinite(rounded(type, value)); });
  if (bad == array.values.end()) return;
  std::vector<std::uint64_t> index(array.shape.size());
  auto place = static_cast<std::uint64_t>(bad - array.values.begin());
  for (std::size_t d = index.size(); d-- > 0; place /= array.shape[d]) {
    index[d] = place % array.shape[d];
  }
  fail(name, "element [{}]: found {}, allowed finite numbers up to {}", fmt::join(index, ", "),
       *bad, largest_finite(type));
}

std::string numpy_header(std::string_view dtype, const std::vector<std::uint64_t>& shape) {
  constexpr std::size_t kPrefix = 10;  // magic, version, length of the header
  constexpr std::size_t kAlign = 64;
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   dtype, fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  header.resize((kPrefix + header.size() + kAlign) / kAlign * kAlign - kPrefix - 1, ' ');
  header += '\n';
  std::string text(kMagic);
  text += '\x01';
  text += '\0';
  text += static_cast<char>(header.size() & 255);
  text += static_cast<char>(header.size() >> 8);
  return text + header;
}

std::vector<std::uint64_t> numpy_shape(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  const std::string name = path.string();
  return parse_shape(after_key(find_header(bytes, name).first, "shape", name), name);
}

NumpyArray read_numpy(const std::filesystem::path& path) {
  return parse_numpy(read_file(path), path.string());
}

}  // namespace tessera::data
