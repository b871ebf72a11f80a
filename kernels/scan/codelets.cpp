// The sum of some words, by one worker.
namespace {

template <class Number>
struct Sum {
  const Number* words;
  unsigned count;
  Number* sum;
};

template <class Number>
void add_up(const Sum<Number>& call) {
  Number sum = 0;
  for (unsigned i = 0; i < call.count; ++i) sum += call.words[i];
  *call.sum = sum;
}

}  // namespace

extern "C" void scan_add_i32(const Sum<int>* call) { add_up(*call); }
extern "C" void scan_add_f32(const Sum<float>* call) { add_up(*call); }
