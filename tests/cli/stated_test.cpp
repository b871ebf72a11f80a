#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/cli/command.h"
#include "tests/kernels/points.h"

using namespace tessera;
using config::Json;
using test::CommandFolder;

/// Users' mistakes that a kernel refuses, as its points.json states them.
namespace {

/// A .npy file of a stated shape: bytes that count up to a modulus, or one f32 throughout.
std::string numbers(const Json& of) {
  const auto shape = of.at("shape").get<std::vector<unsigned>>();
  if (of.contains("modulus")) return test::numpy_counting(shape, of.at("modulus").get<unsigned>());
  const Json& value = of.at("value");
  return test::numpy_filled(shape, value == "nan" ? std::nanf("") : value.get<float>());
}

std::vector<std::string> parts(const Json& message) {
  if (message.is_string()) return {message.get<std::string>()};
  return message.get<std::vector<std::string>>();
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("every mistake that a kernel states is refused with its message") {
    for (const test::Point& point : test::points("refused")) {
      const CommandFolder folder{{"a.json", point.facts.at("base").dump()}};
      const Json files = point.facts.value("files", Json::object());
      for (const auto& [name, content] : files.items())
        folder.write(name, content.is_string() ? content.get<std::string>() : numbers(content));
      test::check_refused(folder, "run a.json" + point.options(), parts(point.facts.at("message")));
    }
  }
}
