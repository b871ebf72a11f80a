#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sim/isa/intrinsics_names.h"
#include "sim/isa/table.h"

namespace tessera::isa {
namespace {

constexpr std::string_view kEnumerators[] = {
#define X(id, ...) #id,
#include "sim/isa/table.def"
};

constexpr std::string_view kCppProlog = R"(#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wregister"
#endif
#define XTILE __attribute__((always_inline)) inline

// No bdnz: of an asm goto that goes, clang 14 drops what it wrote. Whole loops in one asm may use it.

namespace xtile {

template <int csr>
XTILE unsigned read_csr() {
  unsigned value;
  asm volatile("csrr %0, %1" : "=r"(value) : "i"(csr));
  return value;
}
XTILE unsigned worker() { return read_csr<0xcc0>(); }
XTILE unsigned tile() { return read_csr<0xcc1>(); }
XTILE unsigned workers() { return read_csr<0xcc2>(); }
XTILE unsigned superstep() { return read_csr<0xcc3>(); }

/// A scalar constant made from integer instructions: codelets have no constant pool.
XTILE float constant(float value) {
  unsigned bits = __builtin_bit_cast(unsigned, value);
  asm("" : "+r"(bits));
  return __builtin_bit_cast(float, bits);
}

/// Lanes of a packed value as scalars.
XTILE float low_s(double packed) {
  unsigned bits;
  asm("fmv.x.w %0, %1" : "=r"(bits) : "f"(packed));
  return __builtin_bit_cast(float, bits);
}
#ifdef __FLT16_MAX__
XTILE _Float16 low_h(double packed) {
  _Float16 value;
  unsigned bits;
  asm("fmv.x.h %0, %1" : "=r"(bits) : "f"(packed));
  asm("fmv.h.x %0, %1" : "=f"(value) : "r"(bits));
  return value;
}
#endif

)";

std::string_view type_of(const Operand& operand) {
  if (operand.shape == Shape::x_register) return "unsigned";
  if (operand.value == Value::f32) return "float";
  return operand.value == Value::f16 ? "_Float16" : "double";
}

constexpr const char* kGroup = "ft8";

/// Text of one C++ function, built operand by operand.
class Function {
 public:
  Function(std::string_view name, const InstructionInfo& line) : name_(name), line_(line) {
    for (const Operand& operand : line.operands) {
      if (is_of_integer_unit(operand)) continue;
      results_ += operand.writes && !operand.reads ? operand.registers : 0U;
    }
    // Outputs come first in an asm statement, in both passes in the table's order.
    for (const Operand& operand : line.operands) {
      if (operand.writes && !is_of_integer_unit(operand)) add(operand);
    }
    for (const Operand& operand : line.operands) {
      if (!operand.writes || is_numbered(operand)) add(operand);
    }
    for (const Operand& operand : line.operands) declare(operand);
  }

  [[nodiscard]] std::string text() const {
    const std::string templates =
        numbers_.empty() && templates_.empty()
            ? ""
            : fmt::format("template <{}{}{}>\n", numbers_,
                          numbers_.empty() || templates_.empty() ? "" : ", ", templates_);
    const bool changes_state = line_.issue == IssueClass::control ||
                               line_.cost == CostClass::matrix || name_ == "rnd_64" ||
                               std::ranges::any_of(line_.operands, is_of_integer_unit) ||
                               line_.issue == IssueClass::memory;
    const bool touches_memory =
        line_.issue == IssueClass::memory || line_.issue == IssueClass::control;
    return fmt::format("/// {}\n{}XTILE {} {}({}) {{\n{}  asm{}(\"{}\" : {} : {}{});\n{}}}\n",
                       line_.semantics, templates, returned_.empty() ? "void" : returned_, name_,
                       parameters_, before_, changes_state ? " volatile" : "", instruction(),
                       outputs_, inputs_, touches_memory ? " : \"memory\"" : "", after_);
  }

 private:
  void list(std::string& to, const std::string& item) {
    if (!to.empty()) to += ", ";
    to += item;
  }

  /// Adds the operand to the asm statement.
  void add(const Operand& operand) {
    if (operand.shape == Shape::mode) return;
    if (is_numbered(operand)) {
      return list(inputs_, fmt::format("[{0}] \"i\"({0})", name_of(operand)));
    }
    if (operand.registers > 1) return add_group(operand);
    const char file = is_number(operand) ? 'i' : operand.shape == Shape::f_register ? 'f' : 'r';
    const char* how = operand.writes ? operand.reads ? "+" : "=" : "";
    list(operand.writes ? outputs_ : inputs_,
         fmt::format("[{}] \"{}{}\"({})", name_of(operand), how, file, variable(operand)));
  }

  /// The instruction in the syntax of assembly_macros().
  [[nodiscard]] std::string instruction() const {
    std::string operands;
    for (const Operand& operand : line_.operands) {
      if (operand.shape == Shape::implicit || operand.shape == Shape::mode) continue;
      operands += operands.empty() ? " " : ", ";
      operands += operand.registers > 1 ? kGroup : fmt::format("%[{}]", name_of(operand));
    }
    return fmt::format("{}{}", line_.mnemonic, operands);
  }

  /// A group uses ft8-ft11, the only aligned group that calls neither preserve nor pass.
  void add_group(const Operand& operand) {
    const std::string name = name_of(operand);
    for (unsigned i = 0; i < operand.registers; ++i) {
      before_ += operand.writes
                     ? fmt::format("  register double {0}_{1} asm(\"f{2}\");\n", name, i, 28 + i)
                     : fmt::format("  register double {0}_{1} asm(\"f{2}\") = {0}[{1}];\n", name, i,
                                   28 + i);
      if (operand.writes) after_ += fmt::format("  {0}[{1}] = {0}_{1};\n", name, i);
      list(operand.writes ? outputs_ : inputs_,
           fmt::format("\"{0}f\"({1}_{2})", operand.writes ? "=" : "", name, i));
    }
  }

  /// The C++ variable that the asm statement writes.
  static std::string variable(const Operand& operand) {
    return operand.shape == Shape::implicit ? name_of(operand) + "_register" : name_of(operand);
  }

  /// Adds the operand to the parameters, in the order of the assembly text.
  void declare(const Operand& operand) {
    const std::string name = name_of(operand);
    const bool pointer = operand.shape == Shape::address || operand.shape == Shape::implicit;
    if (operand.shape == Shape::mode) return;
    if (is_number(operand) || is_numbered(operand)) {
      return list(numbers_, "int " + name);
    }
    if (pointer) {
      list(templates_, "class T_" + name);
      list(parameters_, fmt::format("T_{0}*{1} {0}", name, operand.writes ? "&" : ""));
      if (operand.shape == Shape::implicit) bind_fixed(name);
    } else if (operand.registers > 1) {
      list(parameters_, fmt::format("{}double (&{})[{}]", operand.writes ? "" : "const ", name,
                                    operand.registers));
    } else if (operand.writes && results_ == 1) {
      returned_ = type_of(operand);
      before_ += fmt::format("  {} {};\n", returned_, name);
      after_ += fmt::format("  return {};\n", name);
    } else if (operand.shape == Shape::x_register && !operand.writes) {
      list(templates_, "class T_" + name);
      list(parameters_, fmt::format("T_{0} {0}", name));
    } else {
      list(parameters_, fmt::format("{}{} {}", type_of(operand), operand.writes ? "&" : "", name));
    }
  }

  void bind_fixed(const std::string& name) {
    before_ += fmt::format("  register T_{0}* {0}_register asm(\"{0}\") = {0};\n", name);
    after_ += fmt::format("  {0} = {0}_register;\n", name);
  }

  std::string_view name_;
  const InstructionInfo& line_;
  unsigned results_ = 0;
  std::string numbers_, templates_, parameters_, before_, after_, outputs_, inputs_, returned_;
};

}  // namespace

std::string cpp_functions() {
  std::string text(kCppProlog);
  for (std::size_t i = 0; i < kMnemonics; ++i) {
    const InstructionInfo& line = kTable[i];
    if (!is_xtile(line) || is_branch(line)) continue;
    const std::string function = Function(kEnumerators[i], line).text();
    // GCC 12 has no _Float16 for RISC-V.
    const bool half = function.find("_Float16") != function.npos;
    text += half ? "#ifdef __FLT16_MAX__\n" + function + "#endif\n" : function;
  }
  return text +
         "}  // namespace xtile\n#undef XTILE\n#ifdef __clang__\n#pragma clang diagnostic pop\n"
         "#endif\n";
}

}  // namespace tessera::isa
