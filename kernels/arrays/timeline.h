#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/machine/machine_config.h"

namespace tessera::arrays {

/// Transfers that are sequential on every node: each is waited for before the next is started.
/// Channels are numbered from 0.
using Channel = std::uint32_t;

/// A node's next action.
struct Item {
  enum class Kind : std::uint8_t { start, wait, work, mark };
  Kind kind;
  /// Channel of the transfer to start or wait for; for a mark its number, from 0.
  Channel channel = 0;
  std::uint64_t cycles = 0;      ///< for work and marks only
  std::uint32_t list = channel;  ///< the node's list that has the transfer
};
using Items = std::vector<Item>;

/// Bytes that a transfer moves over a stream of the machine.
struct Flow {
  std::string_view stream;
  std::uint64_t bytes;
  std::uint32_t from;
  std::vector<std::uint32_t> to;
};

/// Computes when nodes that execute lists of items start transfers, wait for them and work. A
/// transfer begins when all its nodes have started it and the ports that it uses are free. A start
/// or wait costs a node one instruction and the loads of list addresses to registers; a node
/// without overlap waits at each start and loads each address anew. Leaves out: the cost of loops.
/// Repeated states are not simulated again.
class Timeline {
 public:
  /// The list of each node, part by part. Parts are grouped, and groups too: `lengths` has the
  /// number of parts in a group of each level, from level 1 on, each a multiple of the previous
  /// one. Groups are equal except for the first two and the last two within the enclosing group.
  struct Lists {
    std::uint32_t parts;
    std::vector<std::uint32_t> lengths;
    std::function<void(std::uint32_t node, std::uint32_t part, Items& items)> add;
  };

  /// `machine` is kept by reference.
  Timeline(const MachineConfig& machine, std::uint32_t nodes) : machine_(machine), nodes_(nodes) {}

  /// Adds the flows that each transfer of a channel moves concurrently.
  void add(Channel channel, const std::vector<Flow>& flows);
  /// Adds host transfers of a single node: each wait has a barrier before and after it.
  void add_own(Channel channel, std::uint32_t node);
  /// Lower bound: cycles in which the busiest port or channel moves its bytes, for the given number
  /// of transfers of each channel; streams of a port count alike.
  [[nodiscard]] std::uint64_t least(const std::function<std::uint64_t(Channel)>& transfers) const;
  /// Minimum cost of a start or a wait.
  static constexpr std::uint64_t kLeastControl = 1;
  /// Cycles until all nodes have passed the barrier after their lists. Call it once.
  std::uint64_t run(const Lists& lists);
  /// By mark, the time at which the last node reached it.
  [[nodiscard]] const std::vector<std::uint64_t>& marks() const { return marks_; }

 private:
  using Time = std::uint64_t;
  using Ports = std::vector<Time>;  ///< time at which each port becomes free
  struct Node {
    bool works = false;
    Time time = 0;
    std::uint32_t part = 0;  ///< part that follows these items
    Items items = {};
    std::size_t at = 0;
  };
  struct Transfers {
    struct Move {
      Time cycles;
      std::vector<Ports*> ports;
    };
    std::vector<Move> moves = {};
    std::vector<std::uint32_t> nodes = {};
    std::vector<std::uint32_t> started = {};  ///< nodes that have started the next transfer
    Time barriers = 0;                        ///< cost of the barriers around each wait
    Time end = 0;                             ///< end of the last transfer
  };
  /// States in which the last node began a group, with the part and the time.
  using Seen = std::map<std::vector<Time>, std::pair<std::uint32_t, Time>>;
  using Event = std::pair<Time, std::uint32_t>;  ///< a node and the start time of its item

  Transfers& transfers(Channel channel);
  void add_blocking_control(std::uint32_t number);
  void add_control(std::uint32_t number);
  void pass(std::uint32_t node, std::uint32_t stream, std::uint32_t ports, bool sends,
            std::vector<Ports*>& all);
  void go_on(std::uint32_t number);
  void start(std::uint32_t number);
  void move(Transfers& transfers) const;
  [[nodiscard]] std::vector<Time> state() const;
  void skip(std::size_t level);

  const MachineConfig& machine_;
  std::vector<Node> nodes_;
  std::vector<Transfers> channels_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, Ports> ports_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  const Lists* lists_ = nullptr;
  std::vector<Seen> seen_;  ///< by level of groups
  Time now_ = 0, skipped_ = 0;
  std::vector<Time> marks_;
};

}  // namespace tessera::arrays
