// The compiled stencil, by words or element by element, and the copies of each worker's cells and
// neighbours.
#include "xtile.h"

namespace {

// The argument block of codelets.S; that of copies has no weights.
struct Lines {
  unsigned in_line, out_line, cell, words;
  struct {
    const char* in;
    char* out;
    unsigned lines, cells;
  } parts[1];
};
struct Stencil {
  float weights[9];
  Lines lines;
};

struct F16x4 {
  static constexpr unsigned kElementBytes = 2;
  using Value = double;
  static double weight(const float& of) {
    return xtile::splat_h(*reinterpret_cast<const _Float16*>(&of));
  }
  static double times(double a, double b) { return xtile::mul_4h(a, b); }
  static double plus(double a, double b, double c) { return xtile::fma_4h(a, b, c); }
};
struct F32x2 {
  static constexpr unsigned kElementBytes = 4;
  using Value = double;
  static double weight(const float& of) { return xtile::splat_s(of); }
  static double times(double a, double b) { return xtile::mul_2s(a, b); }
  static double plus(double a, double b, double c) { return xtile::fma_2s(a, b, c); }
};
struct F32 {
  static constexpr unsigned kElementBytes = 4;
  using Value = float;
  static float weight(const float& of) { return of; }
  static float times(float a, float b) { return a * b; }
  static float plus(float a, float b, float c) { return a * b + c; }
};

template <class Type>
void stencil(const Stencil& call) {
  using Value = typename Type::Value;
  const Lines& lines = call.lines;
  const auto weight = [&call](unsigned i) { return Type::weight(call.weights[i]); };
  const Value nw = weight(0), n = weight(1), ne = weight(2), w = weight(3), m = weight(4),
              e = weight(5), sw = weight(6), s = weight(7), se = weight(8);
  const auto& part = lines.parts[xtile::worker()];
  constexpr unsigned cell = 4 * Type::kElementBytes;
  for (unsigned y = 0; y < part.lines; ++y) {
    asm("" ::: "memory");  // reload a line's numbers: its loop needs the registers
    const char* north = part.in + y * lines.in_line;
    const char* middle = north + lines.in_line;
    const char* south = middle + lines.in_line;
    auto* out = reinterpret_cast<Value*>(part.out + y * lines.out_line);
    Value* const end = out + part.cells * cell / sizeof(Value);
    while (out != end) {
      const auto value = [](const char* at) { return *reinterpret_cast<const Value*>(at); };
      Value sum = Type::times(nw, value(north));
      sum = Type::plus(w, value(middle), sum);
      sum = Type::plus(sw, value(south), sum);
      sum = Type::plus(n, value(north + cell), sum);
      sum = Type::plus(m, value(middle + cell), sum);
      sum = Type::plus(s, value(south + cell), sum);
      sum = Type::plus(ne, value(north + 2 * cell), sum);
      sum = Type::plus(e, value(middle + 2 * cell), sum);
      sum = Type::plus(se, value(south + 2 * cell), sum);
      *out++ = sum;
      north += sizeof(Value);
      middle += sizeof(Value);
      south += sizeof(Value);
    }
  }
}

}  // namespace

extern "C" void stencil_compiled_f16(const Stencil* call) { stencil<F16x4>(*call); }
extern "C" void stencil_compiled_f32(const Stencil* call) { stencil<F32x2>(*call); }
extern "C" void stencil_elements_f32(const Stencil* call) { stencil<F32>(*call); }

extern "C" void stencil_copy(const Lines* call) {
  const auto& part = call->parts[xtile::worker()];
  const unsigned words = part.cells * call->words;
  for (unsigned y = 0; y < part.lines; ++y) {
    auto* in = reinterpret_cast<const double*>(part.in + y * call->in_line);
    auto* out = reinterpret_cast<double*>(part.out + y * call->out_line);
    for (unsigned left = words; left != 0; --left) xtile::fsd_p<8>(xtile::fld_p<8>(in), out);
  }
}
