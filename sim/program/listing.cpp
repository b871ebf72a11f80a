#include "sim/program/listing.h"

#include <array>
#include <cstring>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/isa/disassemble.h"
#include "sim/program/image.h"

namespace tessera::program {

std::string list_code(const CodeImage& image, const std::vector<StepInfo>& steps) {
  std::string text;
  std::size_t next_symbol = 0;
  std::size_t next_step = 0;
  for (std::uint32_t at = 0; at + sizeof(std::uint32_t) <= image.bytes.size(); at += 4) {
    for (; next_symbol < image.symbols.size() && image.symbols[next_symbol].first.count() <= at;
         ++next_symbol) {
      text += fmt::format("{}:\n", image.symbols[next_symbol].second);
    }
    for (; next_step < image.steps.size() && image.steps[next_step].first.count() <= at;
         ++next_step) {
      const std::uint32_t step = image.steps[next_step].second;
      if (step != kNoStep) text += fmt::format("# step {}: {}\n", step, steps.at(step).name);
    }
    std::uint32_t word = 0;
    std::memcpy(&word, image.bytes.data() + at, sizeof word);
    text += fmt::format("{:8x}: {:08x}  {}\n", at, word, isa::disassemble(word, at));
  }
  return text;
}

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 3> kExecutors{"all workers", "one worker", "supervisor"};

class Listing {
 public:
  Listing(const Program& program, TileId tile) : program_(program), tile_(tile) {
    line({{"tile", index(tile)}, {"tiles", program.tiles()}});
    for (std::uint32_t id = 0; id < program.buffers().size(); ++id) add_array(BufferId(id));
    add(program.steps(program.zone_of(tile)), "");
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void line(const Json& json) {
    text_ += json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  }

  /// Arrays of equal names get numbers: "x", "x.1".
  void add_array(BufferId id) {
    const Buffer& buffer = program_.buffer(id);
    if (buffer.tile != tile_) return;
    const std::uint32_t number = of_name_[buffer.name]++;
    std::string name(buffer.name);
    if (number > 0) name += fmt::format(".{}", number);
    line({{"array", name},
          {"bytes", buffer.bytes},
          {"category", category_name(buffer.category)},
          {"filled", buffer.initialised()},
          {"kept", buffer.keep}});
    names_[id] = std::move(name);
  }

  [[nodiscard]] std::string text_of(Place place) const {
    const std::string& name = names_.at(place.buffer);
    return place.offset == 0 ? name : fmt::format("{}+{}", name, place.offset);
  }
  [[nodiscard]] std::string text_of(OuterPlace place) const {
    const std::string_view name = program_.outer(place.buffer).name;
    return fmt::format("{} outside{}", name,
                       place.offset == 0 ? "" : fmt::format("+{}", place.offset));
  }
  [[nodiscard]] bool here(Place place) const { return program_.buffer(place.buffer).tile == tile_; }
  [[nodiscard]] std::uint32_t tile_of(Place place) const {
    return index(program_.buffer(place.buffer).tile);
  }

  void add(const Sequence& sequence, const std::string& before) {
    std::uint32_t number = 0;
    for (const Step& step : sequence.steps) {
      const std::string name = fmt::format("{}{}", before, ++number);
      Json json{{"step", name}};
      if (!step.measured) json["measured"] = false;
      std::visit([&](const auto& action) { add(action, json, name); }, step.action);
    }
  }

  void add(const ComputeSet& set, Json& json, const std::string& /*name*/) {
    json["compute"] = set.name;
    json["calls"] = Json::array();
    for (const Vertex& vertex : set.vertices)
      if (vertex.tile == tile_) json["calls"].push_back(call(vertex));
    line(json);
  }

  [[nodiscard]] Json call(const Vertex& vertex) const {
    Json arguments = Json::array();
    for (const Argument& argument : vertex.arguments) {
      if (const auto* place = std::get_if<Place>(&argument))
        arguments.push_back(text_of(*place));
      else if (const auto* outside = std::get_if<OuterPlace>(&argument))
        arguments.push_back(text_of(*outside));
      else
        arguments.push_back(std::get<std::uint32_t>(argument));
    }
    Json json{{"codelet", program_.codelets()[vertex.codelet].name},
              {"by", kExecutors[static_cast<std::size_t>(vertex.executor)]}};
    if (vertex.executor == Executor::one_worker) json["worker"] = vertex.worker;
    json["arguments"] = std::move(arguments);
    return json;
  }

  void add(const Start& start, Json& json, const std::string& name) {
    json["starts"] = true;
    add(program_.exchange(start.exchange), json, name);
  }

  void add(const Wait& wait, Json& json, const std::string& /*name*/) {
    json["waits_for"] = program_.exchange(wait.exchange).name;
    line(json);
  }

  void add(const Exchange& exchange, Json& json, const std::string& /*name*/) {
    if (exchange.host) return add(*exchange.host, exchange.name, json);
    Json sends = Json::array();
    Json receives = Json::array();
    for (const Stream& stream : exchange.streams) {
      const std::uint64_t bytes = stream_bytes(stream.source.unit, stream.source.extents);
      Json to = Json::array();
      for (const Walk& into : stream.destinations) {
        to.push_back(tile_of(into.place));
        if (here(into.place))
          receives.push_back({{"into", text_of(into.place)},
                              {"bytes", bytes},
                              {"from", tile_of(stream.source.place)},
                              {"stream", stream.name}});
      }
      if (here(stream.source.place))
        sends.push_back({{"of", text_of(stream.source.place)},
                         {"bytes", bytes},
                         {"to", std::move(to)},
                         {"stream", stream.name}});
    }
    for (const Copy& copy : exchange.copies) {
      Json to = Json::array();
      for (const Place& into : copy.destinations) {
        if (here(copy.source)) to.push_back(tile_of(into));
        if (here(into))
          receives.push_back(
              {{"into", text_of(into)}, {"bytes", copy.bytes}, {"from", tile_of(copy.source)}});
      }
      if (here(copy.source))
        sends.push_back(
            {{"of", text_of(copy.source)}, {"bytes", copy.bytes}, {"to", std::move(to)}});
    }
    json["exchange"] = exchange.name;
    json["sends"] = std::move(sends);
    json["receives"] = std::move(receives);
    line(json);
  }

  void add(const HostTransfer& transfer, const std::string& name, Json& json) {
    Json pieces = Json::array();
    for (const HostPiece& piece : transfer.pieces)
      if (here(piece.place))
        pieces.push_back({{"at", text_of(piece.place)}, {"bytes", piece.bytes}});
    json["host"] = name;
    json["direction"] = transfer.direction == HostTransfer::Direction::read ? "read" : "write";
    json["pieces"] = std::move(pieces);
    line(json);
  }

  void add(const Repeat& repeat, Json& json, const std::string& name) {
    json["repeat"] = repeat.count;
    line(json);
    add(repeat.body, name + ".");
  }

  void add(const While& loop, Json& json, const std::string& name) {
    json["while"] = loop.name;
    json["decision"] = text_of(loop.decisions[index(tile_)]);
    line(json);
    add(loop.test, name + ".test.");
    add(loop.body, name + ".");
  }

  const Program& program_;
  TileId tile_;
  std::string text_;
  std::map<std::string_view, std::uint32_t> of_name_;
  std::map<BufferId, std::string> names_;  ///< names of this tile's arrays
};

}  // namespace

std::string tile_listing(const Program& program, TileId tile) {
  return Listing(program, tile).text();
}

}  // namespace tessera::program
