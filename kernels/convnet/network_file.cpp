#include "kernels/convnet/network_file.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "kernels/convnet/network_builder.h"
#include "sim/base/ranges.h"
#include "sim/config/key_path.h"
#include "sim/config/nearest.h"
#include "sim/config/presets.h"
#include "sim/config/reader.h"
#include "sim/data/read_file.h"

namespace tessera::convnet {

namespace {

using config::Json;

/// A layer's JSON object, without `from`.
struct LayerText {
  LayerStatement layer;
  std::vector<std::uint32_t> shape, kernel = {1}, stride = {1}, pad = {0}, output;
};

std::string name_of(Operator op) { return std::string(config::name_of(kOperators, op)); }

void require_op(config::Fields& fields, std::string_view key, bool reads, Operator op) {
  fields.require_read(reads, key, fmt::format("is given, but {} does not use it", name_of(op)));
}

void require_count(config::Fields& fields, std::string_view key,
                   const std::vector<std::uint32_t>& values, std::string_view allowed) {
  const bool holds = allowed.find(static_cast<char>('0' + values.size())) != allowed.npos;
  fields.require(holds || !fields.given(key), key, "found {} numbers, allowed {}", values.size(),
                 allowed);
}

void require_rules(config::Fields& fields, const LayerText& text) {
  const Operator op = text.layer.op;
  for (const char* key : {"kernel", "stride", "pad"})
    require_op(fields, key, text.layer.has_window(), op);
  require_op(fields, "relu", text.layer.has_weights() || op == Operator::add, op);
  require_op(fields, "channels", op == Operator::convolution, op);
  require_op(fields, "sparsity", op == Operator::convolution, op);
  require_op(fields, "shape", op == Operator::input, op);
  fields.require(op != Operator::convolution || text.layer.output.channels > 0, "channels",
                 "is missing, allowed an integer from 1 to {}", kMostExtent);
  fields.require(op != Operator::input || text.shape.size() == 3, "shape",
                 "found {} numbers, allowed [height, width, channels]", text.shape.size());
  require_count(fields, "output", text.output, "3");
  require_count(fields, "kernel", text.kernel, "1 or 2");
  require_count(fields, "stride", text.stride, "1 or 2");
  require_count(fields, "pad", text.pad, "1, 2 or 4");
}

void describe(config::Fields& fields, LayerText& text) {
  fields.field({.key = "op", .sentence = "the operator", .required = true}, text.layer.op,
               kOperators);
  fields.field({"shape", "of the input: height, width, channels"}, text.shape, {1, kMostExtent});
  fields.field({"channels", "output channels of a convolution"}, text.layer.output.channels,
               {1, kMostExtent});
  fields.field({"kernel", "rows and columns of the window"}, text.kernel, {1, kMostExtent});
  fields.field({"stride", "rows and columns from one window to the next"}, text.stride,
               {1, kMostExtent});
  fields.field({"pad", "rows and columns around the input"}, text.pad, {0, kMostExtent});
  fields.field({"relu", "true: negative outputs become 0"}, text.layer.relu);
  fields.field({"sparsity", "part of the blocks of weights that is pruned, if any are"},
               text.layer.sparsity, {0, 1});
  fields.field({"output", "expected height, width, channels"}, text.output, {1, kMostExtent});
  require_rules(fields, text);
}

Shape shape_of(const std::vector<std::uint32_t>& values) {
  return {values[0], values[1], values[2]};
}

Window window_of(const LayerText& text) {
  const auto second = [](const std::vector<std::uint32_t>& list) { return list[list.size() > 1]; };
  Window window{text.kernel[0], second(text.kernel), text.stride[0], second(text.stride),
                text.pad[0],    second(text.pad),    text.pad[0],    second(text.pad)};
  if (text.pad.size() == 4) {
    window.bottom = text.pad[2];
    window.right = text.pad[3];
  }
  return window;
}

[[noreturn]] void refuse(const config::Layers& file, const std::string& path, const Json& found,
                         std::string_view allowed) {
  throw ConfigError(file.origin(path), path,
                    fmt::format("found {}, allowed {}", config::shown(found), allowed));
}

std::vector<std::string> names_of(const config::Layers& file, const std::string& path,
                                  const Json& from) {
  const auto is_text = [](const Json& value) { return value.is_string(); };
  if (from.is_string()) return {from.get<std::string>()};
  if (!from.is_array() || !std::all_of(from.begin(), from.end(), is_text))
    refuse(file, path, from, "a layer's name or a list of names");
  return from.get<std::vector<std::string>>();
}

/// Layer `name` of the file; its input defaults to layer `before`.
LayerStatement statement_of(config::Layers& file, const std::string& name, Json object,
                            const std::string& before) {
  const std::string path = config::join("layers", name);
  if (!object.is_object()) refuse(file, path, object, "an object {...}");
  for (const char* key : {"kernel", "stride", "pad"})
    if (object.contains(key) && object[key].is_number()) object[key] = Json::array({object[key]});
  LayerText text;
  config::Reader(file, object, path).read(text, {"from"});
  LayerStatement& made = text.layer;
  made.name = name;
  made.window = window_of(text);
  if (made.op == Operator::input) made.output = shape_of(text.shape);
  if (!text.output.empty()) made.expected = shape_of(text.output);
  if (object.contains("from")) {
    made.from = names_of(file, config::join(path, "from"), object["from"]);
  } else if (!before.empty() && made.op != Operator::input) {
    made.from = {before};
  }
  return made;
}

}  // namespace

NetworkFile load_network_file(const std::string& name_or_file, const std::string& key) {
  const std::vector<config::Preset> presets = config::network_presets();
  for (const auto& [name, text] : presets)
    if (name == name_or_file)
      return {
          parse_network(text, name_or_file, fmt::format("configs/networks/{}.json", name)), {}, {}};
  if (!std::filesystem::exists(name_or_file))
    throw KeyError(key, "found '{}', allowed a file that exists, or one of {}", name_or_file,
                   config::names_near(name_or_file, mapped(presets, &config::Preset::name)));
  const std::filesystem::path path = name_or_file;
  if (path.extension() == ".onnx")
    return parse_onnx(data::read_file(path), path.stem().string(), name_or_file);
  return {
      parse_network(config::read_text(name_or_file), path.stem().string(), name_or_file), {}, {}};
}

Network parse_network(std::string_view text, const std::string& name, const std::string& file) {
  config::Layers layers(config::parse_json(text, file), file);
  const Json& root = layers.value();
  if (!root.is_object()) refuse(layers, "", root, "an object {...}");
  for (const auto& [key, value] : root.items())
    if (key != "layers" && !key.starts_with("//"))
      throw ConfigError(file, key, "found an unknown key, allowed layers");
  if (!root.contains("layers") || !root["layers"].is_object())
    refuse(layers, "layers", root.value("layers", Json()), "an object of layers by name");
  std::vector<std::string> names;
  for (const auto& [key, layer] : root["layers"].items())
    if (!key.starts_with("//")) names.push_back(key);
  NetworkBuilder builder(name, file, names);
  std::string before;
  for (const std::string& layer : names) {
    builder.add(statement_of(layers, layer, root["layers"][layer], before));
    before = layer;
  }
  return builder.finish();
}

}  // namespace tessera::convnet
