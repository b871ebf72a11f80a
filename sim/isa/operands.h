#pragma once

#include <array>
#include <cstdint>
#include <string_view>

/// The operand syntax of table.def: one token per operand, in the order of assembly text. Gives
/// each token's shape and the registers it reads and writes.
namespace tessera::isa {

enum class Shape : std::uint8_t {
  x_register,
  f_register,
  vector,       ///< v0 to v11 of the vector unit: 64 bytes
  half,         ///< h0 to h23: half a vector register; h(2n) is the low half of vn
  accumulator,  ///< acc0 to acc7 of the vector unit: 128 bytes of sums
  mode,         ///< the vector unit's mode register, not shown in text
  address,      ///< (rs1)
  displaced,    ///< imm(rs1)
  implicit,     ///< a register not shown in text
  signed_number,
  unsigned_number,
  upper_number,  ///< imm20
  target,        ///< a label; the text shows the absolute address
  csr,
  csr_number,  ///< the number in the rs1 field
  rounding,
  fence
};

enum class Field : std::uint8_t { none, rd, rs1, rs2, rs3, t3, t4, t5 };

/// Content of an f register: 64 raw bits (packed or double) or a NaN-boxed scalar.
enum class Value : std::uint8_t { bits64, f32, f16 };

struct Operand {
  std::string_view token;
  Shape shape = Shape::implicit;
  Field field = Field::none;
  bool reads = false;
  bool writes = false;
  std::uint8_t registers = 1;  ///< size of an aligned group
  Value value = Value::bits64;
};

inline constexpr Operand kOperandTokens[] = {
    {"rd", Shape::x_register, Field::rd, false, true},
    {"rsd", Shape::x_register, Field::rd, true, false},
    {"rs1", Shape::x_register, Field::rs1, true, false},
    {"rs1+", Shape::x_register, Field::rs1, true, true},
    {"rs2", Shape::x_register, Field::rs2, true, false},
    {"rs3", Shape::x_register, Field::rs3, true, false},
    {"fd", Shape::f_register, Field::rd, false, true},
    {"fd:4", Shape::f_register, Field::rd, false, true, 4},
    {"fd2", Shape::f_register, Field::rs3, false, true},
    {"fsd", Shape::f_register, Field::rd, true, false},
    {"fs1", Shape::f_register, Field::rs1, true, false},
    {"fs2", Shape::f_register, Field::rs2, true, false},
    {"fs3", Shape::f_register, Field::rs3, true, false},
    {"fd.s", Shape::f_register, Field::rd, false, true, 1, Value::f32},
    {"fd.h", Shape::f_register, Field::rd, false, true, 1, Value::f16},
    {"fsd.s", Shape::f_register, Field::rd, true, false, 1, Value::f32},
    {"fs1.s", Shape::f_register, Field::rs1, true, false, 1, Value::f32},
    {"fs1.h", Shape::f_register, Field::rs1, true, false, 1, Value::f16},
    {"fs2.s", Shape::f_register, Field::rs2, true, false, 1, Value::f32},
    {"fs2.h", Shape::f_register, Field::rs2, true, false, 1, Value::f16},
    {"(rs1)", Shape::address, Field::rs1, true, false},
    {"(rs1)+", Shape::address, Field::rs1, true, true},
    {"(rs2)", Shape::address, Field::rs2, true, false},
    {"(rs2)+", Shape::address, Field::rs2, true, true},
    {"+(rs1)", Shape::address, Field::rs1, true, true},
    {"+(rs2)", Shape::address, Field::rs2, true, true},
    {"imm(rs1)", Shape::displaced, Field::rs1, true, false},
    {"vd", Shape::vector, Field::rd, false, true},
    {"vs1", Shape::vector, Field::rs1, true, false},
    {"vs2", Shape::vector, Field::rs2, true, false},
    {"hd", Shape::half, Field::rd, false, true},
    {"hsd", Shape::half, Field::rd, true, false},
    {"hs1", Shape::half, Field::rs1, true, false},
    {"hs2", Shape::half, Field::rs2, true, false},
    {"acc", Shape::accumulator, Field::rd, false, true},
    {"acc+", Shape::accumulator, Field::rd, true, true},
    {"accs", Shape::accumulator, Field::rd, true, false},
    {"accs1", Shape::accumulator, Field::rs1, true, false},
    {"{mode}", Shape::mode, Field::none, true, false},
    {"{moded}", Shape::mode, Field::none, false, true},
    {"{t3+}", Shape::implicit, Field::t3, true, true},
    {"{t4+}", Shape::implicit, Field::t4, true, true},
    {"{t5+}", Shape::implicit, Field::t5, true, true},
    {"imm", Shape::signed_number},
    {"uimm", Shape::unsigned_number},
    {"shamt", Shape::unsigned_number},
    {"number7", Shape::unsigned_number},
    {"imm20", Shape::upper_number},
    {"target", Shape::target},
    {"csr", Shape::csr},
    {"zimm", Shape::csr_number},
    {"rm", Shape::rounding},
    {"fence", Shape::fence},
};

/// Registers of the vector unit.
constexpr std::uint32_t kVectors = 12;
constexpr std::uint32_t kHalves = 2 * kVectors;
constexpr std::uint32_t kAccumulators = 8;

/// True if the operand is a register of the vector unit.
constexpr bool is_of_integer_unit(const Operand& operand) {
  return operand.shape >= Shape::vector && operand.shape <= Shape::mode;
}
/// Registers that a field may name; larger numbers are unknown words.
constexpr std::uint32_t register_count(const Operand& operand) {
  constexpr std::uint32_t kOfBase = 32;
  switch (operand.shape) {
    case Shape::vector:
      return kVectors;
    case Shape::half:
      return kHalves;
    case Shape::accumulator:
      return kAccumulators;
    default:
      return kOfBase;
  }
}

/// The operands of one instruction.
class Operands {
 public:
  /// Parses a comma-separated syntax string; an unknown token is a compile error.
  consteval explicit Operands(std::string_view syntax) {
    while (!syntax.empty()) {
      const std::size_t comma = syntax.find(", ");
      operands_[size_++] = find(syntax.substr(0, comma));
      syntax.remove_prefix(comma == std::string_view::npos ? syntax.size() : comma + 2);
    }
  }
  [[nodiscard]] constexpr const Operand* begin() const { return operands_.data(); }
  [[nodiscard]] constexpr const Operand* end() const { return operands_.data() + size_; }

 private:
  static consteval Operand find(std::string_view token) {
    for (const Operand& known : kOperandTokens) {
      if (known.token == token) return known;
    }
    throw "unknown operand token in table.def";
  }

  std::array<Operand, 6> operands_{};
  std::size_t size_ = 0;
};

}  // namespace tessera::isa
