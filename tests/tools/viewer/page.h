#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"
#include "tests/tools/viewer/chromium.h"

/// Tests of the page of `tessera report` in a real browser. Skipped if Chromium is not installed.
#define NEEDS_CHROMIUM()                                    \
  if (!Chromium::installed()) {                             \
    MESSAGE("skipped: /usr/bin/chromium is not installed"); \
    return;                                                 \
  }

namespace tessera::test {

/// Calls the program; its standard input is the config of a product on 30 tiles.
inline void run_product(const CommandFolder& folder, const std::string& arguments) {
  Json config =
      parsed_json(product_config(30, R"("m": 90, "n": 70, "k": 130, "layout": "natural")"));
  config["report"] = {{"tile_steps", 1000}};
  folder.done(arguments, config.dump());
}

inline void check_quiet(const Chromium& browser, const std::filesystem::path& page) {
  for (const std::string& complaint : browser.complaints()) FAIL_CHECK(complaint);
  CHECK(browser.requests() == std::vector<std::string>{"file://" + page.string()});
}

/// Checks that every canvas shows several colours.
inline void check_drawn(Chromium& browser) {
  const Json colours = browser.evaluate(R"([...document.querySelectorAll('canvas')].map(canvas => {
    // For the traffic matrix only the matrix itself, without its labels.
    const gap = canvas.ariaLabel.startsWith('Bytes from each') ? 22 : 0;
    const height = gap > 0 ? canvas.width - gap : canvas.height;
    const {data} = canvas.getContext('2d').getImageData(gap, 0, canvas.width - gap, height);
    return new Set(new Uint32Array(data.buffer)).size;
  }))");
  CHECK(colours.size() >= 6);
  for (const Json& each : colours) CHECK(each > 3);
  CHECK(browser.colours_shown() > 50);
}

/// The text content of an element.
inline std::string text_of(Chromium& browser, const std::string& selector) {
  return browser.evaluate(fmt::format("document.querySelector('{}').textContent", selector));
}

inline bool contains(const std::string& text, const std::string& part) {
  const bool found = holds(text, part);
  if (!found) MESSAGE("'" << part << "' is not in: " << text);
  return found;
}

/// One browser and the runs that its pages show.
struct Shown {
  CommandFolder folder;
  Chromium browser{folder.path() / ".profile"};

  Shown() {
    run_product(folder, "run - --out one");
    run_product(folder, "run - --out two --set workload.layout=blocked");
    run_product(folder, "run - --out three --set machine.clock_ghz=0.9");
  }
};

inline Shown& shown() {
  static Shown made;
  return made;
}

/// An open page. Its destructor checks for no complaints and no request besides the page itself.
struct Page {
  const CommandFolder& folder = shown().folder;
  Chromium& browser = shown().browser;
  const std::filesystem::path file;

  explicit Page(const std::string& name) : file(folder.path() / name) { browser.open(file); }
  /// Creates the page from these runs and opens it.
  Page(const std::string& runs, const std::string& name, bool dark = false)
      : file(folder.path() / name) {
    run_product(folder, "report " + runs);
    browser.open(file, dark);
  }
  ~Page() { check_quiet(browser, file); }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  Json evaluate(const std::string& expression) { return browser.evaluate(expression); }
  /// The number of elements that match a selector.
  [[nodiscard]] Json count(const std::string& selector) const {
    return browser.evaluate(fmt::format("document.querySelectorAll('{}').length", selector));
  }
  [[nodiscard]] std::string text(const std::string& selector) const {
    return text_of(browser, selector);
  }
  /// Checks that an element's text contains each part.
  void shows(const std::string& selector, const std::vector<std::string>& parts) const {
    for (const std::string& part : parts) CHECK(contains(text(selector), part));
  }
};

}  // namespace tessera::test
