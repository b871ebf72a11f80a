#include "kernels/convnet/onnx_file.h"

#include <bit>
#include <cstring>

namespace tessera::convnet::onnx {

namespace {

/// Reads the fields of one protobuf message in order (protobuf.dev, Encoding). Debian has libonnx
/// and libprotobuf only as shared libraries, which the program would load at every start; the few
/// messages of onnx_file.h need no more than this.
class Wire {
 public:
  /// `file` is used in messages.
  Wire(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  /// Advances to the next field; false at the end. Skips the unread value of the previous one.
  bool next() {
    if (!read_) skip();
    if (bytes_.empty()) return false;
    const std::uint64_t key = varint();
    field_ = key >> 3;
    kind_ = key & 7;
    read_ = false;
    return true;
  }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::uint64_t field() const { return field_; }
  /// True if the field is a single number, not a packed list, a text or a message.
  [[nodiscard]] bool lone() const { return kind_ != kBytes; }

  // These read the field's value, once.
  std::int64_t integer() {
    begin(kVarint);
    return static_cast<std::int64_t>(varint());
  }
  float number() {
    begin(kFixed32);
    const std::string_view four = take(4);
    std::uint32_t bits = 0;
    for (std::size_t i = 4; i-- > 0;) bits = bits << 8 | static_cast<unsigned char>(four[i]);
    return std::bit_cast<float>(bits);
  }
  std::string_view bytes() {
    begin(kBytes);
    return take(varint());
  }
  std::string text() { return std::string(bytes()); }
  Wire message() { return {bytes(), file_}; }
  /// Calls take(number) for each number of a field: many (packed) or one.
  template <class Take>
  void integers(const Take& take) {
    if (lone()) return take(integer());
    for (Wire list(bytes(), file_); !list.bytes_.empty();)
      take(static_cast<std::int64_t>(list.varint()));
  }
  template <class Take>
  void numbers(const Take& take) {
    if (lone()) return take(number());
    Wire list(bytes(), file_);
    list.kind_ = kFixed32;
    while (!list.bytes_.empty()) take(list.number());
  }

  [[noreturn]] void fail(std::string_view problem) const {
    throw UserError("{}: not an ONNX model: {}", file_, problem);
  }

 private:
  static constexpr std::uint64_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;

  void begin(std::uint64_t kind) {
    if (kind_ != kind) fail(fmt::format("field {} has the wire type {}", field_, kind_));
    read_ = true;
  }
  void skip() {
    if (kind_ == kVarint) {
      static_cast<void>(varint());
    } else if (kind_ == kBytes) {
      static_cast<void>(take(varint()));
    } else if (kind_ == kFixed32 || kind_ == kFixed64) {
      static_cast<void>(take(kind_ == kFixed32 ? 4 : 8));
    } else {
      fail(fmt::format("field {} has the wire type {}", field_, kind_));
    }
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    fail("a number of more than 64 bits");
  }
  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size()) fail("it ends inside a field");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  std::string_view bytes_;
  const std::string& file_;
  std::uint64_t field_ = 0, kind_ = 0;
  bool read_ = true;
};

Tensor tensor_of(Wire wire) {
  constexpr std::int64_t kExternal = 1;
  Tensor tensor;
  while (wire.next()) {
    const std::uint64_t field = wire.field();
    if (field == 1) wire.integers([&](std::int64_t extent) { tensor.dims.push_back(extent); });
    if (field == 2) tensor.type = Type{wire.integer()};
    if (field == 4) wire.numbers([&](float value) { tensor.floats.push_back(value); });
    if (field == 5 || field == 7)
      wire.integers([&](std::int64_t value) { tensor.integers.push_back(value); });
    if (field == 8) tensor.name = wire.text();
    if (field == 9) tensor.raw = wire.bytes();
    if (field == 14) tensor.external = wire.integer() == kExternal;
  }
  return tensor;
}

void add_attribute(Wire wire, Node& node) {
  std::string name;
  Attribute attribute;
  while (wire.next()) {
    if (wire.field() == 1) name = wire.text();
    if (wire.field() == 2) attribute.number = wire.number();
    if (wire.field() == 3) attribute.integer = wire.integer();
    if (wire.field() == 4) attribute.text = wire.text();
    if (wire.field() == 5) attribute.tensors.push_back(tensor_of(wire.message()));
    if (wire.field() == 8)
      wire.integers([&](std::int64_t value) { attribute.integers.push_back(value); });
  }
  node.attributes[name] = std::move(attribute);
}

Node node_of(Wire wire) {
  Node node;
  node.file = wire.file();
  while (wire.next()) {
    if (wire.field() == 1) node.inputs.push_back(wire.text());
    if (wire.field() == 2) node.outputs.push_back(wire.text());
    if (wire.field() == 3) node.name = wire.text();
    if (wire.field() == 4) node.type = wire.text();
    if (wire.field() == 5) add_attribute(wire.message(), node);
    if (wire.field() == 7) node.domain = wire.text();
  }
  return node;
}

/// A dimension: its number, or 0 for a name.
std::int64_t extent_of(Wire wire) {
  std::int64_t extent = 0;
  while (wire.next())
    if (wire.field() == 1) extent = wire.integer();
  return extent;
}

/// TypeProto.Tensor
void read_tensor_type(Wire wire, Input& input) {
  while (wire.next()) {
    if (wire.field() == 1) input.type = Type{wire.integer()};
    if (wire.field() != 2) continue;
    Wire shape = wire.message();
    while (shape.next())
      if (shape.field() == 1) input.dims.push_back(extent_of(shape.message()));
  }
}

Input input_of(Wire wire) {
  Input input;
  while (wire.next()) {
    if (wire.field() == 1) input.name = wire.text();
    if (wire.field() != 2) continue;
    Wire type = wire.message();
    while (type.next())
      if (type.field() == 1) read_tensor_type(type.message(), input);
  }
  return input;
}

/// A node; a Constant becomes an initializer.
void add_node(Node node, Model& model) {
  const auto value = node.attributes.find("value");
  if (node.type != "Constant" || value == node.attributes.end() || value->second.tensors.empty() ||
      node.outputs.empty()) {
    model.nodes.push_back(std::move(node));
    return;
  }
  Tensor& tensor = value->second.tensors.front();
  tensor.name = node.outputs.front();
  model.initializers[tensor.name] = std::move(tensor);
}

void read_graph(Wire wire, Model& model) {
  while (wire.next()) {
    if (wire.field() == 1) add_node(node_of(wire.message()), model);
    if (wire.field() == 5) {
      Tensor tensor = tensor_of(wire.message());
      const std::string name = tensor.name;
      model.initializers[name] = std::move(tensor);
    }
    if (wire.field() == 11) model.inputs.push_back(input_of(wire.message()));
    if (wire.field() == 12) model.outputs.push_back(input_of(wire.message()).name);
  }
}

void read_opset(Wire wire, Model& model) {
  std::string domain;
  std::int64_t version = 0;
  while (wire.next()) {
    if (wire.field() == 1) domain = wire.text();
    if (wire.field() == 2) version = wire.integer();
  }
  if (domain.empty() || domain == "ai.onnx") model.opset = version;
}

/// Values of type `Number` in a tensor's bytes.
template <class Number>
std::vector<double> raw_values(std::string_view raw) {
  std::vector<double> values;
  values.reserve(raw.size() / sizeof(Number));
  for (std::size_t at = 0; at + sizeof(Number) <= raw.size(); at += sizeof(Number)) {
    Number value{};
    std::memcpy(&value, raw.data() + at, sizeof value);
    values.push_back(static_cast<double>(value));
  }
  return values;
}

std::vector<double> stored_values(const Tensor& tensor) {
  if (!tensor.floats.empty()) return {tensor.floats.begin(), tensor.floats.end()};
  if (!tensor.integers.empty()) return {tensor.integers.begin(), tensor.integers.end()};
  if (tensor.type == Type::int8) return raw_values<std::int8_t>(tensor.raw);
  if (tensor.type == Type::int32) return raw_values<std::int32_t>(tensor.raw);
  if (tensor.type == Type::int64) return raw_values<std::int64_t>(tensor.raw);
  return raw_values<float>(tensor.raw);
}

}  // namespace

std::string text_of(Type type) {
  constexpr std::pair<Type, const char*> kNames[] = {{Type::float32, "float"},
                                                     {Type::uint8, "uint8"},
                                                     {Type::int8, "int8"},
                                                     {Type::int32, "int32"},
                                                     {Type::int64, "int64"}};
  for (const auto& [named, name] : kNames)
    if (named == type) return name;
  return fmt::format("type {}", static_cast<std::int64_t>(type));
}

Model parse(std::string_view bytes, const std::string& file) {
  Model model;
  Wire wire(bytes, file);
  while (wire.next()) {
    if (wire.field() == 7) read_graph(wire.message(), model);
    if (wire.field() == 8) read_opset(wire.message(), model);
  }
  if (model.nodes.empty()) wire.fail("found no graph with nodes");
  return model;
}

std::vector<double> values_of(const Tensor& tensor, const std::string& file) {
  const auto fail = [&](const std::string& problem) {
    throw UserError("{}: tensor '{}': {}", file, tensor.name, problem);
  };
  if (tensor.external) fail("its values are in another file, allowed in the model");
  if (tensor.type != Type::float32 && tensor.type != Type::int8 && tensor.type != Type::int32 &&
      tensor.type != Type::int64)
    fail(
        fmt::format("found values of {}, allowed float, int8, int32, int64", text_of(tensor.type)));
  std::uint64_t count = 1;
  for (const std::int64_t extent : tensor.dims) {
    if (extent < 1 || static_cast<std::uint64_t>(extent) > kMostWeights / count)
      fail(fmt::format("found an extent of {}, allowed 1 to {} values", extent, kMostWeights));
    count *= static_cast<std::uint64_t>(extent);
  }
  std::vector<double> values = stored_values(tensor);
  if (values.size() != count)
    fail(fmt::format("found {} values, expected {} by its extents", values.size(), count));
  return values;
}

}  // namespace tessera::convnet::onnx
