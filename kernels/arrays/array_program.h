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

/// A program in which each node has its own list of actions: starts of transfers, waits and calls.
/// A kernel states the lists without loops; here they become a program in which repeated transfers
/// are one exchange with turns, and repeated parts of a list are loops.
namespace tessera::arrays {

using program::ExchangeId;
using program::Place;
using program::Program;
using program::Stream;
using program::Vertex;

/// A buffer of a node; without `contents` it is uninitialised.
program::Buffer buffer_of(std::uint32_t node, std::uint64_t bytes, std::string_view name,
                          std::function<void(std::span<std::byte>)> contents = {});

/// Time at which all nodes have ended, and at which the last node began each superstep.
struct Estimate {
  std::uint64_t cycles = 0;
  std::vector<std::uint64_t> marks;
};

/// A transfer, by its index among all transfers.
enum class TransferId : std::uint32_t {};

class ArrayProgram {
 public:
  /// Gives every node of the machine a list and a sync zone of its own. `program` has its buffers.
  explicit ArrayProgram(Program& program);

  /// Adds a transfer of these streams. Transfers of one `kind` (a number chosen by the kernel) are
  /// sequential on every node: each is waited for before the next is started.
  TransferId transfer(std::uint32_t kind, std::string name, std::vector<Stream> streams);
  /// Adds a transfer of zero bytes from the host to a node, for repeated use.
  TransferId from_host(std::uint32_t node, std::string name, Place place, std::uint32_t bytes);
  /// Adds the start of a transfer to a node's list.
  void start(std::uint32_t node, TransferId id) {
    lists_[node].push_back({Kind::start, number(id)});
  }
  void wait(std::uint32_t node, TransferId id) { lists_[node].push_back({Kind::wait, number(id)}); }
  /// Adds the start to the lists of all nodes that take part.
  void start_all(TransferId id) {
    for (const std::uint32_t node : transfers_[number(id)].nodes) start(node, id);
  }
  void wait_all(TransferId id) {
    for (const std::uint32_t node : transfers_[number(id)].nodes) wait(node, id);
  }
  /// Adds calls that run one after the other, without a barrier after a start or wait; `cycles`:
  /// estimated duration, if known.
  void call(std::uint32_t node, const std::string& name, std::vector<Vertex> vertices,
            std::uint64_t cycles = 0);
  /// Marks the beginning of a superstep of that name.
  void mark(std::uint32_t node, const std::string& name);
  /// Estimates the program's time from its lists (timeline.h). Call it before finish().
  [[nodiscard]] Estimate estimate(const MachineConfig& machine) const;
  /// Completes the program's exchanges and steps. Call it once.
  void finish();

 private:
  enum class Kind : std::uint8_t { start, wait, call };
  struct Item {
    Kind kind;
    std::uint32_t number;  ///< index of the transfer, later of the exchange; or of the call
    bool operator==(const Item&) const = default;
  };
  struct Transfer {
    std::string name;
    std::vector<Stream> streams;
    std::vector<std::uint32_t> nodes;
    std::vector<std::uint32_t> shape;    ///< everything but the start offsets of walks
    std::vector<std::uint32_t> offsets;  ///< start offsets of walks
    ExchangeId exchange{};
    std::uint32_t kind = 0;
  };
  using List = std::vector<Item>;

  static std::uint32_t number(TransferId id) { return static_cast<std::uint32_t>(id); }
  [[nodiscard]] std::size_t add_exchange(std::span<const std::uint32_t> transfers);
  /// The repetition at the beginning of `list`: `length` items, `times` times.
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
