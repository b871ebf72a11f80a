// Tile code of a time step: searches for neurons that spike and lists them.
#include "kernels/snn/found.h"

using namespace snn;

namespace {

struct Select {
  const unsigned* marks;
  unsigned count, chunk;  // neurons of the site, of a worker
  Found* found;
  unsigned stride, capacity;  // bytes from worker to worker, ids
  const unsigned* clock;
  const unsigned* key;  // id of the first neuron, seed of random choices
};
/// Sum of the marks up to `stop`, at least one: 2 slots each.
SNN_INLINE unsigned sum_of(const unsigned* mark, const unsigned* stop) {
  unsigned n = static_cast<unsigned>(stop - mark);
  unsigned sum = 0;
  unsigned is;
  asm volatile(
      "rpt %[n], 2f\n"
      "lw.p %[is], %[mark], 4\n"
      "add %[sum], %[sum], %[is]\n"
      "2:\n"
      : [sum] "+r"(sum), [is] "=&r"(is), [mark] "+r"(mark)
      : [n] "r"(n)
      : "memory");
  return sum;
}

/// Counts over all lists, with what their makers left out.
struct Sum {
  unsigned spikes, carriers, left_out;
};
SNN_INLINE Sum sum_of(const Combine* call) {
  Sum sum{0, 0, 0};
  for (unsigned i = 0; i != call->lists; ++i) {
    const Found* found = shifted(call->found, i * call->stride);
    sum.spikes += found->spikes;
    sum.carriers += found->carriers;
    sum.left_out += found->left_out;
  }
  return sum;
}

unsigned kept_spikes(const Combine* call) { return least(sum_of(call).spikes, call->capacity); }

/// Writes the counts of the joined list.
SNN_INLINE void conclude_all(const Combine* call) {
  const Sum all = sum_of(call);
  const unsigned spikes = least(all.spikes, call->capacity);
  const unsigned carriers = least(all.carriers, call->capacity - spikes);
  const unsigned left_out = (all.spikes - spikes) * kSpike + (all.carriers - carriers) * kCarrier;
  conclude(call, {spikes, carriers, all.left_out + left_out});
}

struct Count {
  const unsigned* list;
  float* counts;
};

}  // namespace

/// Lists the marked neurons of a worker's chunk, cyclically from a random one on, while there is
/// room, and counts the others.
extern "C" void snn_select(const Select* call) {
  const unsigned worker = xtile::worker();
  Found* found = shifted(call->found, worker * call->stride);
  const unsigned first = worker * call->chunk;
  unsigned spikes = 0;
  unsigned carriers = 0;
  unsigned left_out = 0;
  if (first < call->count) {
    const unsigned left = call->count - first;
    const unsigned mine = left < call->chunk ? left : call->chunk;
    const unsigned chance = mixed(call->key[1] + *call->clock * 0x9e3779b9U + worker);
    const unsigned* const begin = call->marks + first;
    const unsigned* const end = begin + mine;
    const unsigned* const start = begin + high_product(chance, mine);
    const unsigned* mark = start;
    const unsigned* stop = end;
    for (unsigned round = 0; round < 2; ++round) {
      while (mark != stop) {
        const unsigned is = xtile::lw_p<4>(mark);
        if (__builtin_expect(is == 0, 1)) continue;
        if (spikes + carriers == call->capacity) {
          left_out += sum_of(mark - 1, stop);
          break;
        }
        const unsigned id = call->key[0] + static_cast<unsigned>(mark - call->marks) - 1;
        if (is == kSpike)
          found->ids[spikes++] = id;
        else
          found->ids[call->capacity - ++carriers] = id;
      }
      mark = begin;
      stop = start;
    }
  }
  found->spikes = spikes;
  found->carriers = carriers;
  found->left_out = left_out;
  xtile::xctl<0>();
}

/// Joins what workers or tiles found, spikes first; workers share the copies of each list.
extern "C" void snn_combine(const Combine* call) {
  if (xtile::worker() == 0) conclude_all(call);
  call = again(call);
  const unsigned all = kept_spikes(call);
  unsigned which = first_of(call);
  for (unsigned before = 0; before < all;) {
    const Found* found = shifted(call->found, which * call->stride);
    which = wrapped(call, which + 1);
    const unsigned n = least(all - before, found->spikes);
    unsigned* to = ids_of(call) + before;
    const unsigned behind = stored_behind(call);
    for (unsigned j = xtile::worker(); j < n; j += xtile::workers()) {
      const unsigned id = found->ids[j];
      shifted(to, behind)[j] = id;
      to[j] = id;
    }
    before += n;
  }
  call = again(call);
  const unsigned room = call->capacity - all;
  which = first_of(call);
  unsigned before = 0;
  for (unsigned left = call->lists; left != 0 && before < room; --left) {
    const Found* found = shifted(call->found, which * call->stride);
    which = wrapped(call, which + 1);
    const unsigned n = least(room - before, found->carriers);
    const unsigned* from = found->ids + call->from - 1;
    if (call->part != nullptr) {
      unsigned* to = ids_of(call) + (call->capacity - before) - 1;
      for (unsigned j = xtile::worker(); j < n; j += xtile::workers()) *(to - j) = *(from - j);
    } else {
      unsigned* to = ids_of(call) + all + before;
      const unsigned behind = stored_behind(call);
      for (unsigned j = xtile::worker(); j < n; j += xtile::workers()) {
        const unsigned id = *(from - j);
        shifted(to, behind)[j] = id;
        to[j] = id;
      }
    }
    before += n;
  }
  xtile::xctl<0>();
}

/// Adds the spikes of a list to the neurons' spike counts; one worker.
extern "C" void snn_count(const Count* call) {
  const unsigned* id = call->list + kHeader;
  const float one = constant(1.0F);
  for (unsigned n = call->list[0]; n != 0; --n) {
    float* count = call->counts + xtile::lw_p<4>(id);
    *count += one;
  }
  xtile::xctl<0>();
}
