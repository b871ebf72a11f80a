#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kernels/gemm/program.h"
#include "kernels/training/matrix.h"
#include "sim/elf/codelet.h"

/// Programs that train networks, while they are put together: what a step of training consists of,
/// as steps of a program. Matrices are of one type, f32 or f16; sums, weights that are updated and
/// what an optimiser keeps are f32.
namespace tessera::training {

enum class Activation : std::uint8_t { none, relu, gelu };

enum class Optimiser : std::uint8_t { momentum, adam };

/// What becomes of the learning rate from step to step.
enum class Schedule : std::uint8_t {
  constant,
  step,   ///< times `decay` every so many steps
  cosine  ///< half a wave down to a share of it at the last step
};

/// How weights follow their gradients.
struct Learning {
  Optimiser optimiser = Optimiser::momentum;
  double rate = 0.05;
  double momentum = 0.9;
  double beta1 = 0.9;  ///< of Adam, as beta2 and epsilon
  double beta2 = 0.999;
  double epsilon = 1e-8;
  Schedule schedule = Schedule::constant;
  std::uint32_t decay_every = 100;  ///< of step
  double decay = 0.5;
  double lowest = 0;            ///< of cosine: what is left of the rate
  std::uint32_t warm_up = 0;    ///< steps over which the rate grows from nothing, before all that
  std::uint32_t all_steps = 0;  ///< of the training, which a workload knows
  std::uint32_t copies = 1;     ///< of the network, each of which updates a share; known as that
};

void describe(config::Fields& fields, Learning& learning);

/// Where batches come from: one that lies on the machine from the beginning, or the host, a batch a
/// step.
enum class Feed : std::uint8_t { device, host };
inline constexpr config::Names<Feed, 2> kFeeds{{{"device", Feed::device}, {"host", Feed::host}}};

/// Refuses a batch of more samples than there are to train on, or to test with if any.
void require_batches(config::Fields& fields, std::uint32_t batch, std::uint32_t samples,
                     std::uint32_t test_samples);
/// The codelet that makes the step size of the step that begins, and its arguments.
const char* schedule_codelet(const Learning& learning);
std::vector<program::Argument> schedule_arguments(const Learning& learning, Place rate);
/// What that starts from, on each tile, kept from step to step.
constexpr std::uint32_t kRateBytes = 24;
std::function<void(std::span<std::byte>)> first_rate(const Learning& learning);

class Assembly {
 public:
  using Fill = std::function<double(std::uint64_t row, std::uint64_t column)>;

  /// `program` and `machine` outlive it.
  Assembly(program::Program& program, const MachineConfig& machine,
           program::Type type = program::Type::f32);

  /// Where steps are added from here on; at first the program's main sequence. Buffers used inside
  /// a loop carry nothing from one turn to the next unless they are filled or kept.
  void add_to(program::Sequence& sequence, bool measured = true);

  struct Contents {
    Fill fill = {};  ///< before the run, called after the assembly is gone; none: undefined
    bool keep = false;
  };
  Matrix matrix(std::uint32_t rows, std::uint32_t columns, std::string_view name,
                const Contents& contents);
  Matrix matrix(std::uint32_t rows, std::uint32_t columns, std::string_view name) {
    return matrix(rows, columns, name, {});
  }
  /// All of it from the host: `fill` is asked for elements of the n-th transfer.
  using Feed = std::function<double(std::uint64_t number, std::uint64_t row, std::uint64_t column)>;
  void add_feed(program::HostTransfer& transfer, const Matrix& matrix, const Feed& feed) const;

  /// c = a b, by a plan of layout natural for the padded sizes.
  void product(const gemm::Geometry& geometry, const Matrix& a, const Matrix& b, const Matrix& c);
  /// to = from transposed.
  void transpose(const Matrix& from, const Matrix& to);
  /// What is turned: whole multiples of `grain` rows and columns, an even number.
  struct Extent {
    std::uint32_t rows, columns, grain;
  };
  /// The same wherever rows lie: zeros where `from` has none, dropped where `to` has none.
  /// `cleared` are zeroed before.
  void transpose(const Lines& from, const Lines& to, const Extent& extent,
                 const std::vector<BufferId>& cleared = {});
  /// Zeros, in a step of its own; nothing for no buffers.
  void clear(const std::vector<BufferId>& buffers);
  program::Vertex clearing(BufferId buffer);
  /// out = activation of z, and 1 in column `ones` of every row that is none of padding.
  void activate(Activation activation, const Matrix& z, const Matrix& out, bool ones);
  /// gradient of z out of that of its activation, 0 in column `ones`. In place, if there is no
  /// activation.
  void slope(Activation activation, const Matrix& z, const Matrix& gradient, const Matrix& out,
             bool ones);

  /// Softmax and cross-entropy of the rows of `logits`: the mean loss and the number of samples
  /// whose largest logit is their label's, as two f32. `gradient` of the mean loss if there is one.
  struct Loss {
    std::uint32_t classes = 0;
    std::vector<BufferId> labels;       ///< u32, as labels() made them
    std::uint32_t samples = 0;          ///< that the mean is over; 0: the rows of `logits`
    std::vector<BufferId> scales = {};  ///< of f16: what gradients are scaled by, by tile
  };
  /// Buffers for the labels of `samples` samples, those of a tile in order.
  std::vector<BufferId> labels(std::uint32_t samples,
                               const std::function<std::uint32_t(std::uint32_t)>& fill = {});
  using LabelFeed = std::function<std::uint32_t(std::uint64_t number, std::uint32_t sample)>;
  void add_feed(program::HostTransfer& transfer, const std::vector<BufferId>& labels,
                std::uint32_t samples, const LabelFeed& feed) const;
  BufferId cross_entropy(const Matrix& logits, const Loss& loss, const Matrix* gradient);

  /// The rate of each step, and the moments of weights, kept from step to step.
  struct Rates {
    std::vector<BufferId> buffers;  ///< by tile
  };
  Rates rates(const Learning& learning, std::uint32_t tiles);
  void schedule(const Learning& learning, const Rates& rates);
  /// The same of one tile, unless `scale` says that the step is skipped.
  program::Vertex scheduling(const Learning& learning, const Rates& rates, std::uint32_t tile,
                             std::optional<BufferId> scale);
  struct Moments {
    Matrix first;
    std::optional<Matrix> second;  ///< of Adam
  };
  Moments moments(const Learning& learning, const Matrix& weights);
  /// weights follow `gradient`.
  void update(const Learning& learning, const Rates& rates, const Matrix& weights,
              const Matrix& gradient, const Moments& moments);
  /// The same of a stretch of f32 on a tile; of sgd, `second` is not used.
  struct Trained {
    BufferId weights, gradient, first, second;
  };
  void update(const Learning& learning, const Rates& rates, const std::vector<Trained>& stretches);

  /// What steps of other folders are made of.
  [[nodiscard]] program::Program& program() { return program_; }
  [[nodiscard]] const MachineConfig& machine() const { return machine_; }
  [[nodiscard]] program::Sequence& sequence() { return *sequence_; }
  [[nodiscard]] bool measured() const { return measured_; }
  [[nodiscard]] gemm::Vertices& dense() { return dense_; }
  BufferId buffer(std::uint32_t tile, std::uint64_t bytes, std::string_view name,
                  std::function<void(std::span<std::byte>)> contents = {}, bool keep = false);
  template <class T>
  BufferId list(std::uint32_t tile, const std::vector<T>& values, std::string_view name) {
    return buffer(tile, values.size() * sizeof(T), name, [values](std::span<std::byte> into) {
      std::memcpy(into.data(), values.data(), values.size() * sizeof(T));
    });
  }
  /// The words of a buffer, divided among workers; those of `bytes`.
  void add_parts(program::Vertex& vertex, BufferId buffer) const;
  void add_parts(program::Vertex& vertex, std::uint64_t bytes) const;
  std::uint32_t codelet(const std::string& name);
  /// The tile code for matrices' type: "training_relu", "training_relu_f16".
  [[nodiscard]] std::string typed(const char* name) const;
  std::uint32_t typed_codelet(const char* name) { return codelet(typed(name)); }
  [[nodiscard]] program::Type type() const { return type_; }
  [[nodiscard]] std::uint32_t element_bytes() const { return data::element_bytes(type_); }
  template <class Action>
  void add_step(Action action) {
    sequence_->steps.push_back({std::move(action), measured_});
  }

 private:
  /// A vertex for each tile that holds some of `matrix`: the words of `leading`, then parts.
  using Leading = std::function<std::vector<program::Argument>(std::uint32_t tile)>;
  void add_elementwise(program::ComputeSet& set, const std::string& name, const Matrix& matrix,
                       const Leading& leading);
  void fill_ones(program::ComputeSet& set, const Matrix& matrix, double value);
  program::Vertex turning(std::uint32_t tile, std::uint64_t rows, std::uint64_t columns,
                          BufferId from, BufferId to);
  [[nodiscard]] kernels::EvenSplit samples_by_tile(std::uint32_t rows) const;

  program::Program& program_;
  const MachineConfig& machine_;
  program::Type type_;
  program::Sequence* sequence_;
  bool measured_ = true;
  elf::KernelCode training_, gemm_, sparse_;
  gemm::Vertices dense_;
  std::map<std::string, std::uint32_t> codelets_;
};

/// The codelet by which a stretch follows its gradient, and its arguments; `words` of 64 bits are
/// dealt out to the workers.
const char* update_codelet(const Learning& learning);
std::vector<program::Argument> update_arguments(const Learning& learning,
                                                const Assembly::Trained& trained, Place rate,
                                                const kernels::EvenSplit& words);

/// Bytes that a program's buffers have for weights, gradients, the optimiser and activations, on
/// all tiles and on the fullest: by their names, as all that is here and in layers gives them.
/// Where lives do not overlap they may share memory.
nlohmann::ordered_json memory_of(const program::Program& program);

}  // namespace tessera::training
