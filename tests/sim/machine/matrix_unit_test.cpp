#include "sim/machine/matrix_unit.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "sim/config/reader.h"
#include "sim/config/writers.h"
#include "tests/sim/machine/units.h"

namespace tessera {
namespace {

/// True if the reader accepts this shape for that type.
bool reads(const std::string& type, const config::Json& shape) {
  const config::Json unit = {{type, shape}};
  MatrixUnitConfig into;
  try {
    config::Reader(config::Layers(unit, "test"), unit, "unit").read(into);
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

MatrixShape f16(std::uint32_t inputs, std::uint32_t outputs, std::uint32_t interval = 1) {
  return {inputs, outputs, interval, 2, 2, 1};
}
MatrixShape mixed(std::uint32_t inputs, std::uint32_t outputs) {
  return {inputs, outputs, 1, 2, 4, 1};
}
MatrixShape f32(std::uint32_t inputs, std::uint32_t outputs) {
  return {inputs, outputs, 1, 4, 4, 1};
}

TEST_SUITE("unit") {
  TEST_CASE("phases, multiply-adds and weight words follow from inputs and outputs") {
    CHECK(f16(16, 16).phases() == 4);
    CHECK(f16(16, 16).macs_per_slot() == 64);
    CHECK(f16(16, 16).weight_words() == 64);
    CHECK(f16(16, 16, 3).macs_per_slot() == doctest::Approx(64 / 3.0));
    CHECK(f16(64, 64).phases() == 16);
    CHECK(f16(64, 64).weight_words() == 1024);
    CHECK(f16(16, 64).phases() == 16);
    CHECK(f16(64, 16).macs() == 64);
    CHECK(mixed(16, 8).phases() == 4);
    CHECK(mixed(16, 8).macs() == 32);
    CHECK(f32(8, 16).phases() == 8);
    CHECK(f32(8, 8).phases() == 4);
    CHECK(f32(64, 64).weight_words() == 2048);
    CHECK(f16(128, 128).macs() == 512);
    CHECK(f16(128, 128).allowed());
    CHECK_FALSE(f32(128, 128).allowed());  // 64 phases
    MatrixUnitConfig unit;
    CHECK(unit.i8.macs() == 0);
    unit.i8.outputs = 8;
    CHECK(unit.i8.macs() == 256);
    CHECK(unit.i8.phases() == 1);
    unit.i16.outputs = unit.bf16.outputs = 4;
    CHECK(unit.i16.macs() == 64);
    CHECK(unit.bf16.macs() == 128);
    CHECK(unit.bf16.phases() == 1);
  }

  TEST_CASE("a larger unit has multiply-adders for all smaller blocks") {
    constexpr std::uint32_t kSizes[] = {4, 8, 16, 32, 64, 128};
    const auto each_shape = [&](const auto& visit) {
      for (const std::uint32_t inputs : kSizes)
        for (const std::uint32_t outputs : kSizes)
          for (const MatrixShape& shape :
               {f16(inputs, outputs), mixed(inputs, outputs), f32(inputs, outputs)})
            if (shape.allowed()) visit(shape);
    };
    MatrixUnitConfig config;
    each_shape([&](const MatrixShape& unit) {
      config.smaller_blocks = true;
      for (const std::uint32_t inputs : kSizes)
        for (const std::uint32_t outputs : kSizes) {
          const MatrixShape block = config.with_block(unit, inputs, outputs);
          if (!block.exists()) continue;
          CHECK(block.inputs == inputs);
          CHECK(block.outputs == outputs);
          CHECK(block.allowed());
          CHECK(block.macs() <= unit.macs());
        }
      CHECK_FALSE(config.with_block(unit, 2 * unit.inputs, unit.outputs).exists());
      CHECK_FALSE(config.with_block(unit, unit.inputs, 2 * unit.outputs).exists());
      CHECK(config.with_block(unit, unit.inputs, unit.outputs) == unit);
      config.smaller_blocks = false;
      CHECK(config.with_block(unit, unit.inputs, unit.outputs) == unit);
      CHECK_FALSE(config.with_block(unit, unit.inputs / 2, unit.outputs).exists());
    });
  }

  TEST_CASE("a store and banks are as large as the largest type needs") {
    MatrixUnitConfig unit;
    CHECK(unit.weight_words() == 0);
    CHECK(unit.bank_sums() == 0);
    unit = test::full_unit();
    CHECK(unit.weight_words() == 64);
    CHECK(unit.bank_sums() == 16);
    unit.f32.outputs = 4;
    unit.f16.outputs = 0;
    CHECK(unit.weight_words() == 32);
    CHECK(unit.bank_sums() == 8);
    unit.i8.outputs = 8;  // uses its own registers
    CHECK(unit.weight_words() == 32);
    CHECK(unit.bank_sums() == 8);
  }

  TEST_CASE(
      "sizes are powers of two, a phase takes an input at least, partials are two words at least") {
    CHECK(f16(16, 0).allowed());
    CHECK(f16(4, 16).allowed());
    CHECK_FALSE(f16(4, 32).allowed());  // 8 phases for 4 inputs
    CHECK_FALSE(f16(16, 4).allowed());  // 8 bytes of partials
    CHECK_FALSE(f16(12, 16).allowed());
    CHECK_FALSE(f16(16, 24).allowed());
    CHECK_FALSE(f16(16, 2).allowed());
    CHECK(f16(128, 16).allowed());
    CHECK_FALSE(f16(256, 16).allowed());
    CHECK(mixed(16, 32).allowed());
    CHECK_FALSE(mixed(16, 64).allowed());
    CHECK(f32(64, 64).allowed());
    CHECK_FALSE(f32(8, 32).allowed());
    MatrixUnitConfig unit;
    unit.i8.outputs = 8;
    CHECK(unit.i8.allowed());
    unit.i8.outputs = 16;
    CHECK_FALSE(unit.i8.allowed());
    unit.bf16.outputs = 8;
    CHECK_FALSE(unit.bf16.allowed());
  }

  TEST_CASE("the schema allows the sizes that the reader takes in some shape, and no others") {
    const config::Json schema = config::schema(MatrixUnitConfig());
    for (const std::string type : {"f16", "f16_f32", "f32", "i8", "i16", "bf16"}) {
      CAPTURE(type);
      const config::Json& sizes = schema.at("properties").at(type).at("properties");
      const auto allowed = [&](const char* key, std::uint32_t size) {
        const config::Json& values = sizes.at(key).at("enum");
        return std::find(values.begin(), values.end(), size) != values.end();
      };
      const auto reads_with = [&](const char* key, std::uint32_t size, const char* other) {
        for (std::uint32_t each = 4; each <= 64; each *= 2)
          if (reads(type, {{key, size}, {other, each}})) return true;
        return size == 0 && reads(type, {{key, size}});
      };
      for (std::uint32_t size = 0; size <= 130; ++size) {
        CAPTURE(size);
        CHECK(allowed("inputs", size) == reads_with("inputs", size, "outputs"));
        CHECK(allowed("outputs", size) == reads_with("outputs", size, "inputs"));
      }
      CHECK_FALSE(allowed("inputs", 1024));
      CHECK_FALSE(reads(type, {{"outputs", 0}, {"interval", 2}}));  // unused without a unit
    }
  }
}

}  // namespace
}  // namespace tessera
