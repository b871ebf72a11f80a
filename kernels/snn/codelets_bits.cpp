// Tile code of a time step in plan `bits`: makes lists from words of marks, most of which are 0.
#include "kernels/snn/found.h"

using namespace snn;

namespace {

constexpr unsigned kMarks = 16;  // neurons per word

/// Identifies a site's words of marks and seeds its random choices.
struct Key {
  unsigned first;  // the first word's number
  unsigned chance;
  unsigned share;   // 2^31 / words per tile of the layer, rounded up, to divide by them
  unsigned unused;  // bits of a tile's words without a neuron
};

struct SelectCall {
  const unsigned* marks;
  unsigned count, chunk;  // words of the site, of a worker
  Found* found;
  unsigned stride, capacity;  // bytes from worker to worker, ids
  const unsigned* clock;
  const Key* key;
};

/// Counts spikes and carriers, one bit each, without room.
SNN_INLINE void leave_out(Found* found, unsigned spikes, unsigned carriers) {
  unsigned left_out = found->left_out;
  for (; spikes != 0; spikes &= spikes - 1) left_out += kSpike;
  for (; carriers != 0; carriers &= carriers - 1) left_out += kCarrier;
  found->left_out = left_out;
}

/// Lists the neurons of a word from its highest bits down while there is room, and counts the
/// others. In a pair the second neuron has the higher bit.
SNN_INLINE void list_word(const SelectCall*& call, Found* found, const unsigned* at,
                          unsigned word) {
  const unsigned number = call->key->first + static_cast<unsigned>(at - call->marks);
  call = again(call);
  const unsigned tile = high_product(2 * number, call->key->share);
  const unsigned first = number * kMarks - tile * call->key->unused;
  int spikes = static_cast<int>(word << kMarks);
  int carriers = static_cast<int>(opaque(word >> kMarks) << kMarks);
  for (unsigned place = 0; (spikes | carriers) != 0; spikes <<= 1, carriers <<= 1, ++place) {
    if ((spikes | carriers) >= 0) continue;
    if (found->spikes + found->carriers == call->capacity) {
      leave_out(found, static_cast<unsigned>(spikes), static_cast<unsigned>(carriers));
      return;
    }
    const unsigned id = first + (place ^ 1);
    if (spikes < 0)
      found->ids[found->spikes++] = id;
    else
      found->ids[call->capacity - ++found->carriers] = id;
  }
}

/// Returns the next nonzero word and moves `mark` behind it; 0: none up to `stop`.
SNN_INLINE unsigned next_word(const unsigned*& mark, const unsigned* stop) {
  unsigned word;
  asm volatile(
      "li %[word], 0\n"
      "1: beq %[mark], %[stop], 2f\n"
      "lw.p %[word], %[mark], 4\n"
      "beqz %[word], 1b\n"
      "2:\n"
      : [word] "=&r"(word), [mark] "+r"(mark)
      : [stop] "r"(stop)
      : "memory");
  return word;
}

SNN_INLINE const unsigned* words_of(const SelectCall* call) {
  return call->marks + xtile::worker() * call->chunk;
}

/// Address of this step's stored ids, for a whole list.
SNN_INLINE unsigned* stored_ids(const Combine* call) {
  return shifted(call->stored, ((*call->clock + 1) & call->mask) * call->slot) + kHeader;
}

}  // namespace

/// Lists the marked neurons of a worker's words, cyclically from a random neuron on, while there is
/// room, and counts the others.
extern "C" void snn_look(const SelectCall* call) {
  Found* const found = shifted(call->found, xtile::worker() * call->stride);
  found->spikes = 0;
  found->carriers = 0;
  found->left_out = 0;
  const unsigned* const end = call->marks + call->count;
  if (words_of(call) < end) {
    const unsigned left = static_cast<unsigned>(end - words_of(call));
    const unsigned mine = left < call->chunk ? left : call->chunk;
    const unsigned chance = mixed(call->key->chance + *call->clock * 0x9e3779b9U + xtile::worker());
    const unsigned begins = high_product(chance, mine * kMarks);
    const unsigned* const start = words_of(call) + begins / kMarks;
    // The bits of the first word from the random neuron on; those before it come last.
    const unsigned behind = ~0U >> kMarks >> begins % kMarks;
    found->padding = behind | behind << kMarks;
    const unsigned* mark = start;
    const unsigned* stop = words_of(call) + mine;
    for (unsigned rounds = 3; rounds != 0; --rounds) {
      while (true) {
        unsigned word = next_word(mark, stop);
        if (word == 0) break;
        if (mark - 1 == start) word &= (opaque(rounds) & 2) != 0 ? found->padding : ~found->padding;
        call = again(call);
        if (found->left_out != 0)
          leave_out(found, word << kMarks, word >> kMarks);
        else
          list_word(call, found, mark - 1, word);
      }
      call = again(call);
      // Then what lies before the first word, then the first word's other bits.
      mark = (rounds & 1) != 0 ? words_of(call) : start;
      stop = (rounds & 1) != 0 ? start : start + 1;
    }
  }
  xtile::xctl<0>();
}

/// Joins what workers or tiles found, spikes first; each worker takes whole lists.
extern "C" void snn_join(const Combine* call) {
  const Found* found = call->found;
  unsigned spikes = 0;
  unsigned carriers = 0;
  unsigned left_out = 0;
  for (unsigned left = call->lists; left != 0; --left) {
    spikes += found->spikes;
    carriers += found->carriers;
    left_out += found->left_out;
    found = shifted(found, call->stride);
  }
  left_out += spikes * kSpike + carriers * kCarrier;
  spikes = least(spikes, call->capacity);
  const unsigned room = least(carriers, call->capacity - spikes);
  left_out -= spikes * kSpike + room * kCarrier;
  if (xtile::worker() == 0) conclude(call, {spikes, room, left_out});
  call = again(call);
  unsigned which = first_of(call);
  unsigned turn = xtile::worker();
  unsigned before = 0;   // kept spikes of the lists before this one
  unsigned carried = 0;  // kept carriers
  for (unsigned left = call->lists; left != 0; --left) {
    found = shifted(call->found, which * call->stride);
    which = wrapped(call, which + 1);
    unsigned n = least(spikes - before, found->spikes);
    if (turn == 0) {
      const unsigned* id = found->ids;
      unsigned* to = ids_of(call) + before;
      unsigned* stored = call->part != nullptr ? to : stored_ids(call) + before;
      for (unsigned j = n; j != 0; --j) {
        const unsigned is = xtile::lw_p<4>(id);
        *to++ = is;
        *stored++ = is;
      }
      call = again(call);
    }
    before += n;
    n = least(room - carried, found->carriers);
    carried += n;
    if (turn == 0) {
      turn = xtile::workers();
      call = again(call);
      const unsigned* id = found->ids + call->from - n;
      if (call->part != nullptr) {
        unsigned* to = ids_of(call) + (call->capacity - carried);
        for (; n != 0; --n) *to++ = xtile::lw_p<4>(id);
      } else {
        unsigned* stored = stored_ids(call) + (spikes + carried);
        unsigned* to = call->list + kHeader + (spikes + carried);
        for (; n != 0; --n) {
          const unsigned is = xtile::lw_p<4>(id);
          *--to = is;
          *--stored = is;
        }
      }
      call = again(call);
    }
    --turn;
  }
  xtile::xctl<0>();
}
