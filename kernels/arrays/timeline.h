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

/// Transfers that come one after the other on every node: each is waited for before the next is
/// started. Numbers from 0 on.
using Channel = std::uint32_t;

/// A node's next action.
struct Item {
  enum class Kind : std::uint8_t { start, wait, work, mark };
  Kind kind;
  /// Channel of the transfer that it starts or waits for; for a mark its number, from 0 on.
  Channel channel = 0;
  std::uint64_t cycles = 0;  ///< for work and marks; the timeline knows those of starts and waits
  std::uint32_t list = channel;  ///< the node's list that has the transfer
};
using Items = std::vector<Item>;

/// Bytes that a transfer moves over streams of the machine.
struct Flow {
  std::string_view stream;
  std::uint64_t bytes;
  std::uint32_t from;
  std::vector<std::uint32_t> to;
};

/// When nodes that go through lists of items start transfers, wait for them and work. A transfer
/// begins when all its nodes have started it and the ports that it passes are free. Starts and
/// waits take the node an instruction each, and what brings addresses of lists to its registers; a
/// node that does not overlap waits where it starts a transfer, and loads each address anew. Left
/// out: what loops take. What comes back to a state that it had is not gone through again.
class Timeline {
 public:
  /// The list of each node, part by part. Parts are grouped, and groups too: `lengths`, from 1 on,
  /// has the parts of a group of each level, each a multiple of the one before. Groups are alike
  /// but for the first two and the last two of the one around them.
  struct Lists {
    std::uint32_t parts;
    std::vector<std::uint32_t> lengths;
    std::function<void(std::uint32_t node, std::uint32_t part, Items& items)> add;
  };

  /// `machine` is kept by reference.
  Timeline(const MachineConfig& machine, std::uint32_t nodes) : machine_(machine), nodes_(nodes) {}

  /// Adds the flows that each transfer of a channel moves, all at a time.
  void add(Channel channel, const std::vector<Flow>& flows);
  /// Adds transfers with the host, which take a node alone: barriers before and behind each wait.
  void add_own(Channel channel, std::uint32_t node);
  /// Cycles that some port or channel passes bytes in so many transfers of each channel; streams of
  /// a port are alike.
  [[nodiscard]] std::uint64_t least(const std::function<std::uint64_t(Channel)>& transfers) const;
  /// A start or a wait takes no less.
  static constexpr std::uint64_t kLeastControl = 1;
  /// Cycles until all nodes are through the barrier behind their lists. To be called once.
  std::uint64_t run(const Lists& lists);
  /// By mark, when the last node came to it.
  [[nodiscard]] const std::vector<std::uint64_t>& marks() const { return marks_; }

 private:
  using Time = std::uint64_t;
  using Ports = std::vector<Time>;  ///< when each is free
  struct Node {
    bool works = false;
    Time time = 0;
    std::uint32_t part = 0;  ///< that comes behind these items
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
    std::vector<std::uint32_t> started = {};  ///< nodes that have started the next
    Time barriers = 0;                        ///< around each wait
    Time end = 0;                             ///< when the last one ends
  };
  /// States in which the last node began a group: the part, when.
  using Seen = std::map<std::vector<Time>, std::pair<std::uint32_t, Time>>;
  using Event = std::pair<Time, std::uint32_t>;  ///< a node starts its item

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
  std::vector<Seen> seen_;  ///< by level
  Time now_ = 0, skipped_ = 0;
  std::vector<Time> marks_;
};

}  // namespace tessera::arrays
