#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"
#include "tests/tools/viewer/chromium.h"

/// The page of `tessera report` in a real browser. Skipped where Chromium is not installed.
#define NEEDS_CHROMIUM()                                    \
  if (!Chromium::installed()) {                             \
    MESSAGE("skipped: /usr/bin/chromium is not installed"); \
    return;                                                 \
  }

namespace tessera::test {

inline constexpr const char* kGemm = R"({"machine": {"extends": "bow", "tiles": 30},
  "workload": {"kernel": "gemm", "m": 90, "n": 70, "k": 130, "layout": "natural"},
  "report": {"tile_steps": 1000}})";

inline void run_gemm(const CommandFolder& folder, const std::string& arguments) {
  const auto answer = folder.call(arguments, kGemm);
  INFO(answer.err);
  REQUIRE(answer.code == 0);
}

inline void check_quiet(const Chromium& browser, const std::filesystem::path& page) {
  for (const std::string& complaint : browser.complaints()) FAIL_CHECK(complaint);
  CHECK(browser.requests() == std::vector<std::string>{"file://" + page.string()});
}

/// Everything that an element shows.
inline std::string text_of(Chromium& browser, const std::string& selector) {
  return browser.evaluate(fmt::format("document.querySelector('{}').textContent", selector));
}

inline bool contains(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found) MESSAGE("'" << part << "' is not in: " << text);
  return found;
}

}  // namespace tessera::test
