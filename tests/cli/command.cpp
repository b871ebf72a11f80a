#include "tests/cli/command.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <numeric>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace tessera::test {

Json CommandFolder::json(const std::string& name) const { return parsed_json(read(name)); }

Answer CommandFolder::call(const std::string& arguments, const std::string& input) const {
  write(".input", input);
  const int status = std::system(fmt::format("cd {} && {} {} <.input >.out 2>.err", path().string(),
                                             TESSERA_PROGRAM, arguments)
                                     .c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(".out"), read(".err")};
}

Answer CommandFolder::done(const std::string& arguments, const std::string& input) const {
  Answer answer = call(arguments, input);
  INFO(arguments, "\n", answer.err);
  REQUIRE(answer.code == 0);
  return answer;
}

int CommandFolder::interrupt(const std::vector<std::string>& arguments, int signal,
                             const std::function<bool()>& ready) const {
  std::vector<char*> words = {const_cast<char*>(TESSERA_PROGRAM)};
  for (const std::string& each : arguments) words.push_back(const_cast<char*>(each.c_str()));
  words.push_back(nullptr);
  const pid_t process = ::fork();
  if (process == 0) {
    const int nothing = ::open("/dev/null", O_WRONLY);
    ::dup2(nothing, STDOUT_FILENO);
    ::dup2(nothing, STDERR_FILENO);
    if (::chdir(path().c_str()) == 0) ::execv(TESSERA_PROGRAM, words.data());
    ::_exit(127);
  }
  int status = 0;
  while (!ready()) {
    REQUIRE_MESSAGE(::waitpid(process, &status, WNOHANG) == 0, "it ended before the signal");
    ::usleep(1000);
  }
  ::kill(process, signal);
  ::waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

namespace {

std::string source_file(const std::string& name) {
  return fmt::format("{}/{}", TESSERA_SOURCE, name);
}

constexpr const char* kSmall = "tests/cli/small.json";
constexpr const char* kProduct = "configs/runs/quickstart.json";

void replace_all(std::string& text, std::string_view from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

}  // namespace

Json source_json(const std::string& name) {
  return config::parse_json(config::read_text(source_file(name)), name);
}

std::string small_file() { return source_file(kSmall); }

std::string small_config(unsigned tiles) {
  Json config = source_json(kSmall);
  config["machine"]["tiles"] = tiles;
  return config.dump();
}

std::string with_kernel(std::string text) {
  static const std::string kSmallKernel = source_json(kSmall).at("workload").at("kernel");
  static const std::string kProductKernel = source_json(kProduct).at("workload").at("kernel");
  replace_all(text, "KERNEL", kSmallKernel);
  replace_all(text, "PRODUCT", kProductKernel);
  return text;
}

std::vector<std::string> with_kernel(std::vector<std::string> texts) {
  for (std::string& text : texts) text = with_kernel(std::move(text));
  return texts;
}

std::string product_config(unsigned tiles, const std::string& keys) {
  return with_kernel(fmt::format(R"({{"machine": {{"extends": "bow", "tiles": {}}},
    "workload": {{"kernel": "PRODUCT", {}}}}})",
                                 tiles, keys));
}

std::vector<std::string> long_run(const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {"run", source_file(kProduct)};
  for (const char* extent : {"m", "n", "k"}) {
    arguments.emplace_back("--set");
    arguments.push_back(fmt::format("workload.{}=4096", extent));
  }
  arguments.insert(arguments.end(), options.begin(), options.end());
  return arguments;
}

Json parsed_json(const std::string& text) { return Json::parse(text); }

std::string numpy_file(const std::string& type, const std::string& shape,
                       const std::string& bytes) {
  constexpr std::size_t kHeader = 118;
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  header.resize(kHeader, ' ');
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + bytes;
}

namespace {

unsigned elements(const std::vector<unsigned>& shape) {
  return std::accumulate(shape.begin(), shape.end(), 1U, std::multiplies<>());
}

}  // namespace

std::string counting(const std::vector<unsigned>& shape, unsigned modulus) {
  std::string bytes;
  for (unsigned i = 0; i < elements(shape); ++i) bytes += static_cast<char>(i % modulus);
  return bytes;
}

std::string numpy_counting(const std::vector<unsigned>& shape, unsigned modulus) {
  return numpy_file("|i1", fmt::format("{},", fmt::join(shape, ", ")), counting(shape, modulus));
}

std::string numpy_zeros(const std::string& type, const std::vector<unsigned>& shape) {
  const auto size = static_cast<std::size_t>(type.back() - '0');
  return numpy_file(type, fmt::format("{},", fmt::join(shape, ", ")),
                    std::string(elements(shape) * size, '\0'));
}

std::string idx_file(const std::vector<unsigned>& shape, const std::string& values, char type) {
  std::string bytes{0, 0, type, static_cast<char>(shape.size())};
  for (const unsigned extent : shape)
    for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(extent >> shift);
  return bytes + values;
}

std::string numpy_filled(const std::vector<unsigned>& shape, float value) {
  std::string bytes(elements(shape) * sizeof value, '\0');
  for (std::size_t at = 0; at < bytes.size(); at += sizeof value)
    std::memcpy(bytes.data() + at, &value, sizeof value);
  return numpy_file("<f4", fmt::format("{},", fmt::join(shape, ", ")), bytes);
}

Json value_at(const Json& report, std::string path) {
  std::ranges::replace(path, '.', '/');
  const Json::json_pointer at("/" + path);
  return report.contains(at) ? report.at(at) : Json();
}

void check_report(const Json& report, const Json& expected) {
  for (const auto& each : expected.items()) {
    CAPTURE(each.key());
    const Json found = value_at(report, each.key());
    const Json& value = each.value();
    if (value.is_number_float()) {
      CHECK(found.get<double>() == doctest::Approx(value.get<double>()).scale(1e-30));
    } else if (value.is_object()) {
      CHECK(found.get<double>() > value.value("above", -INFINITY));
      CHECK(found.get<double>() < value.value("below", INFINITY));
    } else {
      CHECK(found == value);
    }
  }
}

namespace {

/// The value at a path of a report; for `tensors/...` all tensors with that prefix.
Json part_of(const Json& report, const std::string& path) {
  Json some = value_at(report, path);
  if (path.starts_with("tensors/"))
    for (const auto& each : report.at("tensors").items())
      if (each.key().starts_with("result/" + path)) some[each.key()] = each.value();
  REQUIRE(!some.is_null());
  return some;
}

}  // namespace

void check_compared(const Json& report, const Json& other, const Json& facts) {
  const auto check_numbers = [&](const char* fact, const auto& compared) {
    const Json bounds = facts.value(fact, Json::object());
    for (const auto& each : bounds.items()) {
      CAPTURE(each.key());
      const double found = compared(value_at(report, each.key()).get<double>(),
                                    value_at(other, each.key()).get<double>());
      CHECK(found >= each.value()[0].get<double>());
      CHECK(found <= each.value()[1].get<double>());
    }
  };
  check_numbers("ratios", std::divides<>());
  check_numbers("differences", std::minus<>());
  for (const Json& path : facts.value("same", Json::array()))
    CHECK(part_of(report, path) == part_of(other, path));
  for (const Json& path : facts.value("differ", Json::array()))
    CHECK(part_of(report, path) != part_of(other, path));
}

void check_refused(const CommandFolder& folder, const std::string& arguments,
                   const std::vector<std::string>& message, int code) {
  const std::set<std::string> before = folder.names();
  const Answer answer = folder.call(arguments);
  INFO(arguments);
  INFO(answer.err);
  CHECK(answer.code == code);
  CHECK(answer.out.empty());
  CHECK(folder.names() == before);
  CHECK(!holds(answer.err, "a bug of ours"));
  for (const std::string& part : message) {
    INFO(part);
    CHECK(holds(answer.err, part));
  }
}

}  // namespace tessera::test
