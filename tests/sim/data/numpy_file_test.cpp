#include "sim/data/numpy_file.h"

#include <array>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "sim/data/element.h"
#include "tests/refusal.h"

namespace data = tessera::data;
using tessera::Defect;
using tessera::data::parse_numpy;
using tessera::program::Type;

namespace {

template <class Number>
std::string npy(const std::string& dictionary, const std::vector<Number>& data, int version = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  const auto length = static_cast<std::uint32_t>(dictionary.size());
  file.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
  file += dictionary;
  file.append(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(Number));
  return file;
}

std::string message(const std::string& file) {
  return tessera::test::refusal([&] { return parse_numpy(file, "a.npy"); });
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("elements are read as they are stored, or their type is a defect") {
    std::array<std::byte, 8> bytes{};
    for (const Type type : {Type::f16, Type::f32, Type::i32, Type::u32}) {
      data::store_element(type, bytes, 1, 1000);
      CHECK(data::load_element(type, bytes, 1) == 1000);
    }
    data::store_element(Type::u32, bytes, 1, 4e9);
    CHECK(data::load_element(Type::u32, bytes, 1) == 4e9);
    CHECK_THROWS_AS(data::load_element(Type::i8, bytes, 1), Defect);
  }

  TEST_CASE("C and Fortran order give the same array") {
    const auto c =
        parse_numpy(npy<float>("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
                               {1, 2, 3, 4, 5, 6}),
                    "a");
    const auto fortran =
        parse_numpy(npy<float>("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }",
                               {1, 4, 2, 5, 3, 6}, 2),
                    "a");
    CHECK(c.shape == std::vector<std::uint64_t>{2, 3});
    CHECK(c.values == std::vector<double>{1, 2, 3, 4, 5, 6});
    CHECK(fortran.values == c.values);
  }

  TEST_CASE("half precision values are exact, subnormals included") {
    const auto array =
        parse_numpy(npy<std::uint16_t>("{'descr': '<f2', 'fortran_order': False, 'shape': (4,), }",
                                       {0x3c00, 0xc000, 0x0001, 0x7bff}),
                    "a");
    CHECK(array.values == std::vector<double>{1, -2, 0x1p-24, 65504});
  }

  TEST_CASE("malformed files are refused with their name") {
    const std::string f4 = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
    CHECK(message("PK") ==
          "a.npy: not a .npy file: it does not start with \\x93NUMPY and a version");
    CHECK(message(npy<float>(f4, {1})) ==
          "a.npy: shape (2) of <f4 does not agree with 4 bytes of data");
    CHECK(message(npy<float>(f4, {1, 2}, 7)) == "a.npy: format version: found 7, allowed 1 to 3");
    CHECK(message(npy<float>("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", {1}))
              .starts_with("a.npy: descr: found '>f4', allowed: <f2 <f4"));
    CHECK(message(npy<float>("{'descr': '<f4', 'fortran_order': False}", {1})) ==
          "a.npy: the header has no 'shape'");
    CHECK(message(npy<float>("{'descr': '<f4', 'fortran_order': False, 'shape': (x,)}", {1})) ==
          "a.npy: shape: found '(x,)', expected whole numbers");
    CHECK(message(npy<float>(
              "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4)}",
              {1})) ==
          "a.npy: shape (4294967296, 4294967296, 4) of <f4 does not agree with 4 bytes of data");
  }
}
