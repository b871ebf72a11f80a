#include "sim/report/timing_run.h"

namespace tessera::report {

nlohmann::ordered_json without_values(nlohmann::ordered_json report) {
  for (const char* section : {"host", "check", "timing", "results"}) report.erase(section);
  report.at("config").at("run").erase("values");
  report.at("config").at("run").erase("check");
  if (report.contains("energy")) report.at("energy").erase("joules_each");
  if (report.contains("runs"))
    for (auto& run : report.at("runs")) run.erase("passed");
  return report;
}

}  // namespace tessera::report
