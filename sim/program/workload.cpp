#include "sim/program/workload.h"

namespace tessera {

void Workload::summarise(WorkloadSummary summary) {
  summary_ = std::move(summary);
  for (const auto& [option, values] : summary_.rounded)
    if (values > 0) summary_.facts["rounded"][option] = values;
}

nlohmann::ordered_json Workload::run_facts(std::uint32_t /*run*/) const {
  return nlohmann::ordered_json::object();
}

nlohmann::ordered_json Workload::results(const TensorReader& /*tensors*/) const {
  return nlohmann::ordered_json::object();
}

}  // namespace tessera
