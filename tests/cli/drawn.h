#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "tests/cli/command.h"

/// `tessera plot` on hosts with gnuplot.
namespace tessera::test {

inline bool has_gnuplot() { return std::system("command -v gnuplot > /dev/null 2>&1") == 0; }

/// Checks that the figure is drawn in all formats, with its table and its script.
inline void check_drawn(const CommandFolder& folder, const std::string& arguments) {
  INFO(arguments);
  const Answer answer = folder.done("plot " + arguments + " --out p --name it");
  CHECK(answer.err.empty());
  CHECK(answer.out == "p/it.svg\np/it.pdf\np/it.png\np/it.csv\np/it.gp\n");
  CHECK(folder.read("p/it.svg").starts_with("<?xml"));
  CHECK(folder.read("p/it.pdf").starts_with("%PDF"));
  CHECK(folder.read("p/it.png").starts_with("\x89PNG"));
  CHECK(std::filesystem::file_size(folder.path() / "p/it.png") > 8000);
  CHECK_FALSE(folder.read("p/it.csv").empty());
  std::filesystem::remove_all(folder.path() / "p");
}

}  // namespace tessera::test
