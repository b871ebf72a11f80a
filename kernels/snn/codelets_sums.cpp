// Tile code of a time step backwards: gradients of spikes are added up, and put where they are sent
// from.
#include "kernels/snn/tile_code.h"

using namespace snn;

namespace {

struct Sum {
  const double* parts;
  double* sum;
  unsigned words, stride, count;  // bytes from part to part; parts
};

/// The sums of a word of `count` parts, `stride` bytes from part to part.
SNN_INLINE void sum_word(const double* part, unsigned stride, unsigned count, double* out) {
  double sum = *part;
  for (; --count != 0;) {
    part = shifted(part, stride);
    sum = xtile::add_2s(sum, *part);
  }
  *out = sum;
}

/// The same of four words side by side: 5 slots a part.
SNN_INLINE void sum_words(const double* part, unsigned stride, unsigned count, double* out) {
  double a = part[0];
  double b = part[1];
  double c = part[2];
  double d = part[3];
  double w;
  double v;
  count -= 1;
  asm volatile(
      ".balign 8\n"
      "beqz %[n], 2f\n"
      "rpt %[n], 2f\n"
      "add %[part], %[part], %[stride]\n"
      "fld %[w], 0(%[part])\n"
      "fld %[v], 8(%[part])\n"
      "add.2s %[a], %[a], %[w]\n"
      "fld %[w], 16(%[part])\n"
      "add.2s %[b], %[b], %[v]\n"
      "fld %[v], 24(%[part])\n"
      "add.2s %[c], %[c], %[w]\n"
      "add.2s %[d], %[d], %[v]\n"
      "2:\n"
      : [a] "+f"(a), [b] "+f"(b), [c] "+f"(c), [d] "+f"(d), [w] "=&f"(w), [v] "=&f"(v),
        [part] "+r"(part)
      : [n] "r"(count), [stride] "r"(stride)
      : "memory");
  out[0] = a;
  out[1] = b;
  out[2] = c;
  out[3] = d;
}

}  // namespace

/// Adds up parts in their order, word by word, four words of a worker at a time.
extern "C" void snn_sum(const Sum* call) {
  const unsigned step = xtile::workers() * 4;
  for (unsigned i = xtile::worker() * 4; i < call->words; i += step) {
    const double* part = call->parts + i;
    double* out = call->sum + i;
    unsigned left = call->words - i;
    if (left >= 4) {
      sum_words(part, call->stride, call->count, out);
      continue;
    }
    for (; left != 0; --left) sum_word(part++, call->stride, call->count, out++);
  }
  xtile::xctl<0>();
}

/// The same of so few words that each is a worker's: 2 slots a part.
extern "C" void snn_sum_few(const Sum* call) {
  for (unsigned i = xtile::worker(); i < call->words; i += xtile::workers()) {
    const double* part = call->parts + i;
    double sum = *part;
    double w = xtile::splat_s(constant(-0.0F));
    unsigned left = call->count - 1;
    asm volatile(
        ".balign 8\n"
        "beqz %[n], 2f\n"
        "rpt %[n], 2f\n"
        "add %[part], %[part], %[stride]\n"
        "add.2s %[sum], %[sum], %[w]\n"
        "fld %[w], 0(%[part])\n"
        "2:\n"
        "add.2s %[sum], %[sum], %[w]\n"
        : [sum] "+f"(sum), [w] "+f"(w), [part] "+r"(part)
        : [n] "r"(left), [stride] "r"(call->stride)
        : "memory");
    call->sum[i] = sum;
  }
  xtile::xctl<0>();
}

namespace {

/// From places in a list to neurons.
struct Placing {
  const unsigned* list;
  const float* gradients;  // by place in the list; null: none
  const float* logits;     // gradients by neuron, of outputs; null: none
  float* by_neuron;
};

}  // namespace

/// Gradients of listed spikes go to their neurons: the sum of what there is of both.
extern "C" void snn_place(const Placing* call) {
  const unsigned worker = xtile::worker();
  const unsigned stride = xtile::workers();
  const unsigned* id = call->list + kHeader + worker;
  const unsigned* const end = call->list + kHeader + call->list[1];
  const float* gradient = call->gradients;
  const float* const logits = call->logits;
  float* const to = call->by_neuron;
  if (logits == nullptr) {
    for (gradient += worker; id < end; id += stride, gradient += stride) to[*id] = *gradient;
  } else if (gradient == nullptr) {
    for (; id < end; id += stride) to[*id] = logits[*id];
  } else {
    for (gradient += worker; id < end; id += stride, gradient += stride)
      to[*id] = *gradient + logits[*id];
  }
  xtile::xctl<0>();
}

/// The neurons of a list are listed no longer.
extern "C" void snn_displace(const Placing* call) {
  const unsigned stride = xtile::workers();
  const unsigned* const end = call->list + kHeader + call->list[1];
  const float unlisted = constant(__builtin_bit_cast(float, kUnlisted));
  float* const to = call->by_neuron;
  for (const unsigned* id = call->list + kHeader + xtile::worker(); id < end; id += stride)
    to[*id] = unlisted;
  xtile::xctl<0>();
}
