#include "sim/program/workload.h"

#include <nlohmann/json.hpp>

namespace tessera {

nlohmann::ordered_json Workload::facts() const { return nlohmann::ordered_json::object(); }

nlohmann::ordered_json Workload::run_facts(std::uint32_t /*run*/) const {
  return nlohmann::ordered_json::object();
}

nlohmann::ordered_json Workload::results(const TensorReader& /*tensors*/) const {
  return nlohmann::ordered_json::object();
}

}  // namespace tessera
