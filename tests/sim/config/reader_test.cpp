#include "sim/config/reader.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/config/writers.h"
#include "tests/refusal.h"

using namespace tessera;
using config::Fields;
using config::Layers;
using test::check_holds;
using test::holds;

namespace {

enum class Colour : std::uint8_t { red, green };
constexpr config::Names<Colour, 2> kColours = {{{"red", Colour::red}, {"green", Colour::green}}};

struct Inner {
  double rate = 0.5;
};
struct Options {
  bool flag = false;
  std::uint32_t count = 7;
  std::uint64_t seed = 1;
  std::string dtype = "f16";
  Colour colour = Colour::red;
  std::vector<std::uint32_t> sizes = {1, 2};
  Inner inner;
  bool has_plan = false;
  Inner plan;
  std::vector<Inner> points;
};

void describe(Fields& fields, Inner& inner) {
  fields.field({"rate", "how fast", "GHz"}, inner.rate, {0.0, 1.0});
}
void describe(Fields& fields, Options& options) {
  fields.field({"flag", "on or off"}, options.flag);
  fields.field({"count", "how many"}, options.count, {1, 10});
  fields.field({"seed", "of the data"}, options.seed);
  fields.field({"dtype", "element type"}, options.dtype, {"f16", "f32"});
  fields.field({"colour", "an enumeration"}, options.colour, kColours);
  fields.field({"sizes", "a list"}, options.sizes, {1, 8});
  fields.group({"inner", "a group"}, options.inner);
  fields.optional_group({"plan", "a group that may be absent"}, options.has_plan, options.plan);
  fields.list({"points", "a list of groups"}, options.points);
  fields.require(options.count != 9, "count", "found 9, allowed anything else");
}

Options read(const std::string& text) {
  const Layers layers(config::parse_json(text, "a.json"), "a.json");
  Options options;
  config::Reader(layers, layers.value(), "workload").read(options);
  return options;
}

/// Checks the error message for `text` after its prefix "a.json: workload.".
void refused(const std::string& text, const std::string& message) {
  CHECK(test::refusal<ConfigError>([&] { return read(text); }) == "a.json: workload." + message);
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("fields are read and keep their defaults where the config is silent") {
    const Options options = read(R"({"flag": true, "sizes": [3], "colour": "green",
        "seed": 18446744073709551615, "inner": {"rate": 1}, "plan": {"rate": 0.25}})");
    CHECK(options.flag);
    CHECK(options.count == 7);
    CHECK(options.seed == 18446744073709551615ULL);
    CHECK(options.sizes == std::vector<std::uint32_t>{3});
    CHECK(options.colour == Colour::green);
    CHECK(options.inner.rate == 1.0);
    CHECK(options.has_plan);
    CHECK(options.plan.rate == 0.25);
    CHECK(!read("{}").has_plan);
    const Options nothing = read(R"({"count": null, "colour": null, "inner": null, "plan": null})");
    CHECK(nothing.count == 7);
    CHECK(nothing.colour == Options{}.colour);
    CHECK(nothing.inner.rate == Options{}.inner.rate);
    CHECK(!nothing.has_plan);
  }

  TEST_CASE("a whole number may be written with a point or an exponent") {
    CHECK(read(R"({"count": 2.0})").count == 2);
    CHECK(read(R"({"count": 1e1})").count == 10);
    CHECK(read(R"({"sizes": [80e-1]})").sizes == std::vector<std::uint32_t>{8});
    CHECK(config::resolved(read(R"({"seed": 5e9})")).dump() ==
          config::resolved(read(R"({"seed": 5000000000})")).dump());
  }

  TEST_CASE("wrong values say what was found and what is allowed") {
    refused(R"({"count": 11})", "count: found 11, allowed an integer from 1 to 10");
    refused(R"({"count": 1.5})", "count: found 1.5, allowed an integer from 1 to 10");
    refused(R"({"count": 20.0})", "count: found 20.0, allowed an integer from 1 to 10");
    refused(R"({"seed": 1e16})",
            "seed: found 1e+16, allowed an integer from 0; above 2^53 written with all its digits");
    refused(R"({"seed": -1.0})", "seed: found -1.0, allowed an integer from 0");
    refused(R"({"count": -1})", "count: found -1, allowed an integer from 1 to 10");
    refused(R"({"seed": "x"})", R"(seed: found "x", allowed an integer from 0)");
    refused(R"({"sizes": [1, 9]})", "sizes[1]: found 9, allowed an integer from 1 to 8");
    refused(R"({"dtype": "f61"})", R"(dtype: found "f61", allowed f16, f32; did you mean f16?)");
    refused(R"({"inner": {"rate": 1.5}})",
            "inner.rate: found 1.5, allowed a number from 0 to 1 GHz");
    refused(R"({"inner": 3})", "inner: found 3, allowed an object {...}");
    refused(R"({"points": [{"rate": 0.5}, {"rate": 2}]})",
            "points[1].rate: found 2, allowed a number from 0 to 1 GHz");
    refused(R"({"points": {}})", "points: found {}, allowed a list of objects");
    refused(R"({"count": 9})", "count: found 9, allowed anything else");
  }

  TEST_CASE("a word may stand for a number that is no value else") {
    struct Scaled {
      double scale = 0;
    };
    const auto members = [](Scaled& scaled) {
      return [&scaled](Fields& fields) {
        fields.field({"scale", "a size", "", false, "", "dynamic"}, scaled.scale, {0.5, 8.0});
      };
    };
    const auto read = [&](const std::string& text) {
      const Layers layers(config::parse_json(text, "a.json"), "a.json");
      Scaled scaled{3};
      config::Reader(layers, layers.value(), "workload").read_members(members(scaled));
      return scaled;
    };
    CHECK(read(R"({"scale": "dynamic"})").scale == 0);
    CHECK(read(R"({"scale": 4})").scale == 4);
    for (const char* wrong : {"0", R"("dynamik")", "9"})
      CHECK_THROWS_WITH_AS(read(fmt::format(R"({{"scale": {}}})", wrong)),
                           fmt::format("a.json: workload.scale: found {}, allowed a number from "
                                       "0.5 to 8, or dynamic",
                                       wrong)
                               .c_str(),
                           ConfigError);
    Scaled named{0};
    CHECK(config::resolved(members(named)).dump() == R"({"scale":"dynamic"})");
    CHECK(config::schema(members(named))["properties"]["scale"]["default"] == "dynamic");
    CHECK(holds(config::markdown(members(named), "w"),
                "| `w.scale` | `\"dynamic\"` | 0.5 to 8, or dynamic |"));
  }

  TEST_CASE("a number may be absent, which configs write as null") {
    struct Mixed {
      std::optional<double> share;
    };
    const auto members = [](Mixed& mixed) {
      return [&mixed](Fields& fields) { fields.field({"share", "of one"}, mixed.share, {0, 1}); };
    };
    const auto read = [&](const std::string& text) {
      const Layers layers(config::parse_json(text, "a.json"), "a.json");
      Mixed mixed;
      config::Reader(layers, layers.value(), "workload").read_members(members(mixed));
      return mixed;
    };
    for (const char* absent : {"{}", R"({"share": null})"}) {
      Mixed mixed = read(absent);
      CHECK_FALSE(mixed.share);
      CHECK(config::resolved(members(mixed)).dump() == R"({"share":null})");
    }
    Mixed mixed = read(R"({"share": 0})");
    CHECK(mixed.share == 0.0);
    CHECK(config::resolved(members(mixed)).dump() == R"({"share":0.0})");
    CHECK_THROWS_AS(read(R"({"share": 2})"), ConfigError);
    Mixed absent;
    CHECK(config::schema(members(absent))["properties"]["share"]["default"].is_null());
    CHECK(holds(config::markdown(members(absent), "w"),
                "| `w.share` | `null` | 0 to 1, or null | of one |"));
  }

  TEST_CASE("unknown keys name the nearest one, notes pass") {
    refused(R"({"cuont": 3})",
            "cuont: found an unknown key, allowed flag, count, seed, dtype, colour, sizes, inner, "
            "plan, points; did you mean count?");
    refused(R"({"inner": {"zzzzzz": 3}})", "inner.zzzzzz: found an unknown key, allowed rate");
    CHECK(read(R"({"//": "note", "//count": 5})").count == 7);
  }

  TEST_CASE("the resolved config reads back to the same values") {
    const Options options = read(R"({"count": 3, "inner": {"rate": 0.125},
        "points": [{"rate": 0.25}]})");
    const config::Json resolved = config::resolved(options);
    CHECK(resolved.dump() ==
          R"({"flag":false,"count":3,"seed":1,"dtype":"f16","colour":"red","sizes":[1,2],)"
          R"("inner":{"rate":0.125},"points":[{"rate":0.25}]})");
    CHECK(config::resolved(read(resolved.dump())).dump() == resolved.dump());
  }

  TEST_CASE("the schema holds each field's type, range, default and sentence") {
    const config::Json schema = config::schema(Options());
    CHECK(schema["properties"]["count"].dump() ==
          R"({"type":["integer","null"],"minimum":1,"maximum":10,)"
          R"("description":"how many","default":7})");
    CHECK(schema["properties"]["colour"]["enum"].dump() == R"(["red","green",null])");
    CHECK(schema["properties"]["inner"]["properties"]["rate"]["description"] == "how fast [GHz]");
    CHECK(schema["additionalProperties"] == false);
    CHECK(schema["properties"]["points"]["items"]["properties"].contains("rate"));
  }

  TEST_CASE("the documentation has a row for each field") {
    const std::string rows = config::markdown(Options(), "workload");
    check_holds(rows, {"| `workload.count` | `7` | 1 to 10 | how many |\n",
                       "| `workload.inner.rate` | `0.5` GHz | 0 to 1 | how fast |\n"});
  }
}
