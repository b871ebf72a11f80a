#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/machine/nodes.h"

namespace tessera::fabric {

/// Port factors of all nodes, by class: multiples of the lanes of a port with the fabric's own
/// rate. A pair of nodes shares its input ports if both are of one class.
class NodePorts {
 public:
  struct Class {
    std::uint32_t end;  ///< one past its last node
    std::uint32_t out = 1;
    std::uint32_t in = 1;
    std::string name = {};
  };

  /// Every node has the fabric's ports.
  NodePorts() : classes_{{UINT32_MAX}} {}
  explicit NodePorts(const MachineConfig& machine) : classes_{{machine.tiles}} {
    using Direction = PortConfig::Direction;
    for (const NodeConfig& node : machine.nodes)
      classes_.push_back({classes_.back().end + node.count,
                          port_factor(machine, node, Direction::send),
                          port_factor(machine, node, Direction::receive), node.name});
    classes_.back().end = UINT32_MAX;  // traffic rounds nodes up to pairs
  }

  [[nodiscard]] const std::vector<Class>& classes() const { return classes_; }
  [[nodiscard]] std::size_t class_of(std::uint32_t node) const {
    std::size_t i = 0;
    while (node >= classes_[i].end) ++i;
    return i;
  }
  [[nodiscard]] const Class& of(std::uint32_t node) const { return classes_[class_of(node)]; }
  [[nodiscard]] bool shares(std::uint32_t one, std::uint32_t other) const {
    return class_of(one) == class_of(other);
  }

 private:
  std::vector<Class> classes_;
};

}  // namespace tessera::fabric
