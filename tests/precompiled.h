#pragma once

#include <doctest/doctest.h>

#include "kernels/codelet.h"
#include "models/costs/measured_costs.h"
#include "models/simulation.h"
#include "sim/config/fields.h"
#include "sim/plan/description.h"
#include "tests/cli/command.h"
#include "tests/kernels/run_workload.h"

/// Headers that tests of kernels and models include, precompiled.
namespace tessera::test {

/// Instantiates doctest's code for JSON values once: it costs a second in each file. Never called.
inline void check_json(const Json& json, const std::string& text) {
  CHECK(json == json);
  CHECK(json <= json);
  CHECK(json == true);
  CHECK(json == 1);
  CHECK(json > 0);
  CHECK(json == 1.0);
  CHECK(json == text);
  CHECK(json == "text");
  CHECK(json.at("key") == json);
}

}  // namespace tessera::test
