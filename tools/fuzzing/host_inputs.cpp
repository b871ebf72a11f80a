#include <array>
#include <iterator>

#include "kinds.h"

namespace tessera::fuzz {
namespace {

constexpr std::array<Special, 5> kSpecials = {Special::folder, Special::pipe,
                                              Special::link_to_device, Special::dangling_link,
                                              Special::link_to_file};

/// Damages one file of a store: bytes changed, fields of other types, or not a regular file.
void spoil(Input& input, Choices& choices) {
  const auto changed = std::next(input.files.begin(),
                                 static_cast<std::ptrdiff_t>(choices.below(input.files.size())));
  const Json json = Json::parse(changed->second, nullptr, false);
  switch (choices.below(3)) {
    case 0:
      changed->second = mutated(changed->second, choices);
      break;
    case 1:
      changed->second =
          json.is_discarded() ? mutated(changed->second, choices) : text_of(mutated(json, choices));
      break;
    default:
      input.specials[changed->first] = choices.of(kSpecials);
      input.files.erase(changed);
  }
}

}  // namespace

Input results_input(const Seeds& seeds, Choices& choices) {
  const bool of_sweep = choices.once_in(2);
  Input input{of_sweep ? seeds.sweep : seeds.run, {}, ""};
  spoil(input, choices);
  if (of_sweep && choices.once_in(2)) {
    constexpr std::array<const char*, 4> kY = {"time.cycles", "time.cycles / machine.tiles",
                                               "memory.max_tile_bytes", "plan.x"};
    input.arguments = {"plot", ".", "--format", "svg", "--y", choices.of(kY)};
  } else if (choices.once_in(2)) {
    input.arguments = {"report", ".", "--top"};
  } else {
    input.arguments = {"report", "."};
  }
  return input;
}

namespace {

/// A name or value that terminals must not receive unescaped.
std::string hostile(Choices& choices) {
  switch (choices.below(4)) {
    case 0:
      return std::string(100'000, 'k');
    case 1:
      return "\x1b]0;owned\x07\x1b[31m\x1b[2J";
    case 2:
      return "a\r\nb\t\x01\x7f\xc2\x9b";
    default:
      return "=cmd()";
  }
}

/// A small config with a hostile key, value or path.
Json with_hostile(Json config, Choices& choices) {
  const std::string text = hostile(choices);
  switch (choices.below(4)) {
    case 0:
      config[text] = 1;
      break;
    case 1:
      config["workload"][text] = 1;
      break;
    case 2:
      config["workload"]["kernel"] = text;
      break;
    default:
      config["machine"] = text;
  }
  return config;
}

}  // namespace

Input host_input(const Seeds& seeds, Choices& choices) {
  const Json& small = seeds.small;
  Input input{{{"a.json", text_of(small)}}, {}, ""};
  switch (choices.below(4)) {
    case 0:
      input.files["a.json"] = text_of(with_hostile(small, choices));
      input.arguments = simulate(choices);
      return input;
    case 1: {  // results go to something that is not a regular file
      constexpr std::array<Special, 4> kTargets = {Special::folder, Special::link_to_device,
                                                   Special::dangling_link, Special::link_to_file};
      input.specials["to"] = choices.of(kTargets);
      const std::array<std::vector<std::string>, 4> kCalls = {
          {{"run", "a.json", "--out", "to"},
           {"profile", "a.json", "--out", "to"},
           {"run", "a.json", "--out", "r", "--save", "a=to"},
           {"report", ".", "--out", "to"}}};
      input.arguments = choices.of(kCalls);
      if (input.arguments.front() == "report") input.files = seeds.run;
      return input;
    }
    default: {  // nobody reads its output
      constexpr std::array<Stream, 3> kStreams = {Stream::file, Stream::closed, Stream::full};
      const std::array<std::vector<std::string>, 5> kCalls = {{{"run", "a.json", "--out", "r"},
                                                               {"check", "a.json"},
                                                               {"run", "no.json"},
                                                               {"list", "machines"},
                                                               {"schema", "--markdown"}}};
      input.arguments = choices.of(kCalls);
      input.out = choices.of(kStreams);
      input.error = choices.of(kStreams);
      return input;
    }
  }
}

}  // namespace tessera::fuzz
