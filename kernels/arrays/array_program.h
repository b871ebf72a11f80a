#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/arrays/array.h"
#include "sim/program/program.h"

/// A program for nodes that each go through a list of their own: transfers that they start and wait
/// for, and calls. A kernel states the lists without loops; here they become a program, in which
/// transfers that repeat are one exchange with turns, and lists that repeat are loops.
namespace tessera::arrays {

using program::ExchangeId;
using program::Place;
using program::Program;
using program::Stream;
using program::Vertex;

/// A buffer of a node; without `contents` it holds nothing before the run.
program::Buffer buffer_of(std::uint32_t node, std::uint64_t bytes, std::string_view name,
                          std::function<void(std::span<std::byte>)> contents = {});

/// When a program's nodes are through, and when the last of them began each superstep.
struct Estimate {
  std::uint64_t cycles = 0;
  std::vector<std::uint64_t> marks;
};

/// One transfer of a kind: its number among all.
enum class TransferId : std::uint32_t {};

class ArrayProgram {
 public:
  /// Every node of the machine has a list, in a zone of its own. `program` has its buffers.
  explicit ArrayProgram(Program& program);

  /// A transfer of these streams. Those of one kind, a number of the kernel's, come one after the
  /// other on every node: each is waited for before the next is started.
  TransferId transfer(std::uint32_t kind, std::string name, std::vector<Stream> streams);
  /// A transfer of bytes that the host gives a node, zeros, as often as it is started.
  TransferId from_host(std::uint32_t node, std::string name, Place place, std::uint32_t bytes);
  /// Adds to a node's list.
  void start(std::uint32_t node, TransferId id) {
    lists_[node].push_back({Kind::start, number(id)});
  }
  void wait(std::uint32_t node, TransferId id) { lists_[node].push_back({Kind::wait, number(id)}); }
  /// Start and wait on all nodes that take part.
  void start_all(TransferId id) {
    for (const std::uint32_t node : transfers_[number(id)].nodes) start(node, id);
  }
  void wait_all(TransferId id) {
    for (const std::uint32_t node : transfers_[number(id)].nodes) wait(node, id);
  }
  /// Adds calls, one after the other, without a barrier behind a start or wait; `cycles`: an
  /// estimate of what they take, if there is one.
  void call(std::uint32_t node, const std::string& name, std::vector<Vertex> vertices,
            std::uint64_t cycles = 0);
  /// A superstep of that name begins.
  void mark(std::uint32_t node, const std::string& name);
  /// Estimates from the lists as they stand (timeline.h). To be called before finish().
  [[nodiscard]] Estimate estimate(const MachineConfig& machine) const;
  /// Completes the program: exchanges and steps. To be called once.
  void finish();

 private:
  enum class Kind : std::uint8_t { start, wait, call };
  struct Item {
    Kind kind;
    std::uint32_t number;  ///< the transfer's, later the exchange's; the call's
    bool operator==(const Item&) const = default;
  };
  struct Transfer {
    std::string name;
    std::vector<Stream> streams;
    std::vector<std::uint32_t> nodes;
    std::vector<std::uint32_t> shape;    ///< all but where walks begin
    std::vector<std::uint32_t> offsets;  ///< where they begin
    ExchangeId exchange{};
    std::uint32_t kind = 0;
  };
  using List = std::vector<Item>;

  static std::uint32_t number(TransferId id) { return static_cast<std::uint32_t>(id); }
  [[nodiscard]] std::size_t add_exchange(std::span<const std::uint32_t> transfers);
  /// The repetition that `list` begins with: `length` items, `times` times.
  struct Piece {
    std::size_t length = 1, times = 1;
  };
  static Piece piece_of(std::span<const Item> list);
  [[nodiscard]] program::Sequence rolled(std::span<const Item> list) const;

  Program& program_;
  std::vector<Transfer> transfers_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> kinds_;
  std::vector<program::ComputeSet> sets_;
  std::vector<std::uint64_t> set_cycles_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> known_sets_;
  std::vector<List> lists_;  ///< by node
};

}  // namespace tessera::arrays
