#include "sim/program/workload.h"

namespace tessera {

void Workload::summarise(WorkloadSummary summary) {
  summary_ = std::move(summary);
  for (const auto& [option, values] : summary_.rounded)
    if (values > 0) summary_.facts["rounded"][option] = values;
}

void Workload::start_workers(std::uint32_t workers) {
  workers_ = workers;
  summary_.facts["started_contexts"] = workers;
}

program::Program Workload::build() const {
  program::Program program = lowered();
  program.start_workers(workers_);
  return program;
}

nlohmann::ordered_json Workload::run_facts(std::uint32_t /*run*/) const {
  return nlohmann::ordered_json::object();
}

nlohmann::ordered_json Workload::results(const TensorReader& /*tensors*/) const {
  return nlohmann::ordered_json::object();
}

}  // namespace tessera
