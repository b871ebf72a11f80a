#include "sim/program/tensor_reader.h"

#include <cstring>
#include <map>
#include <numeric>

#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "sim/data/element.h"

using namespace tessera;
using program::Place;
using program::Role;
using program::Runs;
using program::Tensor;
using program::Type;

namespace {

/// Buffers of numbers in memory.
class Memory : public MemoryReader {
 public:
  explicit Memory(Type type) : type_(type) {}
  void put(std::uint32_t buffer, const std::vector<double>& values) {
    std::vector<std::byte>& bytes = buffers_[buffer];
    bytes.resize(values.size() * data::element_bytes(type_));
    for (std::size_t i = 0; i < values.size(); ++i) data::store_element(type_, bytes, i, values[i]);
  }
  void read(Place place, std::span<std::byte> into) const override {
    const std::vector<std::byte>& from = buffers_.at(static_cast<std::uint32_t>(place.buffer));
    REQUIRE(place.offset + into.size() <= from.size());
    std::memcpy(into.data(), from.data() + place.offset, into.size());
  }
  [[nodiscard]] std::span<const std::byte> written(std::string_view transfer) const override {
    return transfer == "told" ? std::span<const std::byte>(buffers_.at(0))
                              : std::span<const std::byte>();
  }

 private:
  Type type_;
  std::map<std::uint32_t, std::vector<std::byte>> buffers_;
};

/// A 3 x 4 tensor in two buffers: two rows column by column, then one row after padding.
Tensor scattered(Type type) {
  Tensor tensor{"T", Role::result, type, {3, 4}};
  const std::uint32_t size = data::element_bytes(type);
  tensor.parts = {{program::Place{program::BufferId(0)}, 8 * size},
                  {program::Place{program::BufferId(1), 2 * size}, 4 * size}};
  tensor.runs = [](std::size_t part, Runs& runs) {
    if (part == 1) return runs.add({0, 8, 4, 1});
    for (std::uint64_t column = 0; column < 4; ++column) runs.add({2 * column, column, 2, 4});
  };
  return tensor;
}

program::Program with(Tensor tensor) {
  program::Program program(1);
  program.add_tensor(std::move(tensor));
  return program;
}

std::vector<float> counting(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("elements come in row-major order, or turned, on any number of threads") {
    for (const Type type : {Type::f16, Type::f32}) {
      Memory memory(type);
      memory.put(0, {0, 4, 1, 5, 2, 6, 3, 7});
      memory.put(1, {99, 99, 8, 9, 10, 11});
      const program::Program program = with(scattered(type));
      const TensorReader tensors(program, memory);
      for (const unsigned count : {1U, 2U, 3U}) {
        HostThreads threads(count);
        CHECK(tensors.floats("T", threads) == counting(12));
        CHECK(tensors.floats("T", threads, TensorReader::Order::transposed) ==
              std::vector<float>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
        const std::vector<std::byte> bytes = tensors.bytes("T", threads);
        REQUIRE(bytes.size() == 12 * data::element_bytes(type));
        for (std::size_t i = 0; i < 12; ++i)
          CHECK(data::load_element(type, bytes, i) == static_cast<double>(i));
      }
    }
  }

  TEST_CASE("single numbers that follow each other become one run, whatever their step") {
    Runs steps;
    for (std::uint64_t i = 0; i < 5; ++i) steps.add(i, 4 + 3 * i);
    REQUIRE(steps.all().size() == 1);
    CHECK(steps.all()[0].count == 5);
    CHECK(steps.all()[0].step == 3);
    steps.add(6, 19);  // one number is skipped
    steps.add(7, 2);   // backwards
    CHECK(steps.all().size() == 3);
  }

  TEST_CASE("runs that go over the ends of rows are turned right too") {
    Tensor tensor{"T", Role::result, Type::f32, {4, 3}};
    tensor.parts = {{program::Place{program::BufferId(0)}, 12 * 4}};
    const auto turned = [&](const std::vector<program::Run>& all) {
      tensor.runs = [all](std::size_t, Runs& runs) {
        for (const program::Run& run : all) runs.add(run);
      };
      Memory memory(Type::f32);
      memory.put(0, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
      const program::Program program = with(tensor);
      HostThreads threads(1);
      return TensorReader(program, memory).floats("T", threads, TensorReader::Order::transposed);
    };
    CHECK(turned({{0, 0, 12, 1}}) == std::vector<float>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11});
    CHECK(turned({{0, 0, 6, 2}, {6, 1, 6, 2}}) ==
          std::vector<float>{0, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 11});
  }

  TEST_CASE("transferred data and inputs from the host are tensors too") {
    Memory memory(Type::f32);
    memory.put(0, {1, 2, 3, 4, 5, 6});
    Tensor told{"told", Role::result, Type::f32, {3}};
    told.transfer = "told";
    told.runs = [](std::size_t, Runs& runs) {
      for (std::uint64_t i = 0; i < 3; ++i) runs.add(2 * i + 1, i);
    };
    Tensor given{"given", Role::input, Type::f32, {200000}};
    given.given = [](std::uint64_t first, std::span<std::byte> into) {
      for (std::size_t i = 0; i < into.size() / 4; ++i)
        data::store_element(Type::f32, into, i, static_cast<double>(first + i));
    };
    program::Program program = with(std::move(told));
    program.add_tensor(std::move(given));
    const TensorReader tensors(program, memory);
    HostThreads threads(3);
    CHECK(tensors.floats("told", threads) == std::vector<float>{2, 4, 6});
    const std::vector<std::byte> bytes = tensors.bytes("given", threads);
    CHECK(data::load_element(Type::f32, bytes, 199999) == 199999);
    CHECK(tensors.has("given"));
    CHECK_FALSE(tensors.has("taken"));
  }

  TEST_CASE("a slice is read without the others") {
    Tensor tensor{"T", Role::result, Type::f32, {2, 3}};
    tensor.parts = {{program::Place{program::BufferId(0)}, 12},
                    {program::Place{program::BufferId(1)}, 12}};
    tensor.runs = program::slices(tensor.shape);
    Memory memory(Type::f32);
    memory.put(1, {7, 8, 9});
    const program::Program program = with(std::move(tensor));
    const std::vector<std::byte> slice = TensorReader(program, memory).slice("T", 1);
    CHECK(data::load_element(Type::f32, slice, 2) == 9);
    const program::Program other = with(scattered(Type::f32));
    CHECK_THROWS_AS(static_cast<void>(TensorReader(other, memory).slice("T", 0)), Defect);
  }

  TEST_CASE("elements that lie nowhere, numbers beyond a part and unknown names are defects") {
    Memory memory(Type::f32);
    memory.put(0, {0, 4, 1, 5, 2, 6, 3, 7});
    memory.put(1, {99, 99, 8, 9, 10, 11});
    HostThreads threads(2);
    const auto read = [&](const Tensor& tensor, const char* name) {
      const program::Program program = with(tensor);
      static_cast<void>(TensorReader(program, memory).floats(name, threads));
    };
    Tensor tensor = scattered(Type::f32);
    CHECK_THROWS_WITH_AS(read(tensor, "U"), "tensors: the program has none named U", Defect);
    tensor.parts.pop_back();
    CHECK_THROWS_WITH_AS(read(tensor, "T"), "tensor T: 8 of 12 elements lie somewhere", Defect);
    tensor = scattered(Type::f32);
    tensor.parts[1].bytes -= 4;
    CHECK_THROWS_AS(read(tensor, "T"), Defect);
  }
}
