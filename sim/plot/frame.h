#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/plot/axis.h"
#include "sim/plot/script.h"

/// Figures whose place on the sheet is fixed, so that texts can be put where nothing else is.
namespace tessera::plot {

/// In inches from the sheet's lower left corner.
struct Spot {
  double x, y;
};

struct Box {
  double left, right, bottom, top;
  [[nodiscard]] bool meets(const Box& other) const;
  [[nodiscard]] bool holds(const Box& other) const;
  /// True if the line between both runs through it.
  [[nodiscard]] bool meets(const Spot& from, const Spot& to) const;
};

/// Where the axes lie.
struct Frame {
  Sheet sheet;
  Box box;

  /// Margins as wide as what stands around: the headings, beside the figure what is `right` inches
  /// wide, and so many lines above it.
  static Frame around(const Headings& texts, const Request& request, const Sheet& sheet,
                      double right, double lines_above);

  /// Makes a frame with a key of these entries beside the figure or, on narrow sheets, above it.
  static Frame with_key(const Headings& texts, const Request& request, const Sheet& sheet,
                        std::span<const std::string> entries);

  [[nodiscard]] Spot spot(const Axis& x, double at_x, const Axis& y, double at_y) const;
  [[nodiscard]] std::string script() const;
  /// "screen X,Y"
  [[nodiscard]] std::string place(const Spot& spot) const;
};

/// Puts texts beside spots where neither other texts, spots nor lines are.
class Labels {
 public:
  explicit Labels(const Frame& frame) : frame_(frame) {}

  void keep_free(const Box& box) { taken_.push_back(box); }
  void keep_free(const Spot& spot);
  void add_line(const Spot& from, const Spot& to) { lines_.push_back({from, to}); }

  /// True if a box lies within the frame, off all that is taken.
  [[nodiscard]] bool is_free(const Box& box) const;
  /// Takes a box, if it is free.
  bool take(const Box& box);
  /// The box of a text beside `spot`, which is then taken; nothing if there is no room.
  std::optional<Box> put(const std::string& text, const Spot& spot);

  /// gnuplot's command for a text that put() found room for.
  [[nodiscard]] std::string script(const std::string& text, const Box& box,
                                   const std::string& ink = "#333333") const;

 private:
  Frame frame_;
  std::vector<Box> taken_;
  std::vector<std::pair<Spot, Spot>> lines_;
};

}  // namespace tessera::plot
