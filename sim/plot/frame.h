#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/plot/axis.h"
#include "sim/plot/script.h"

/// Figures at a fixed place on the sheet, so that texts can be put into free space.
namespace tessera::plot {

/// A point in inches from the sheet's lower left corner.
struct Spot {
  double x, y;
};

struct Box {
  double left, right, bottom, top;
  [[nodiscard]] bool meets(const Box& other) const;
  [[nodiscard]] bool holds(const Box& other) const;
  /// True if the line between the points crosses the box.
  [[nodiscard]] bool meets(const Spot& from, const Spot& to) const;
};

/// The place of the axes.
struct Frame {
  Sheet sheet;
  Box box;

  /// Makes margins for the headings, `right` inches beside and `lines_above` lines above the axes.
  static Frame around(const Headings& texts, const Request& request, const Sheet& sheet,
                      double right, double lines_above);

  /// Makes a frame with room for a key: beside the figure, on narrow sheets above it.
  static Frame with_key(const Headings& texts, const Request& request, const Sheet& sheet,
                        std::span<const std::string> entries);

  [[nodiscard]] Spot spot(const Axis& x, double at_x, const Axis& y, double at_y) const;
  [[nodiscard]] std::string script() const;
  /// "screen X,Y"
  [[nodiscard]] std::string place(const Spot& spot) const;
};

/// Places texts beside spots, clear of other texts, spots and lines.
class Labels {
 public:
  explicit Labels(const Frame& frame) : frame_(frame) {}

  void keep_free(const Box& box) { taken_.push_back(box); }
  void keep_free(const Spot& spot);
  void add_line(const Spot& from, const Spot& to) { lines_.push_back({from, to}); }

  /// True if the box lies within the frame and overlaps nothing taken.
  [[nodiscard]] bool is_free(const Box& box) const;
  /// Takes the box if it is free.
  bool take(const Box& box);
  /// Finds and takes a box for a text beside `spot`; nullopt if there is no room.
  std::optional<Box> put(const std::string& text, const Spot& spot);

  /// gnuplot's command for a text in a box that put() returned.
  [[nodiscard]] std::string script(const std::string& text, const Box& box,
                                   const std::string& ink = "#333333") const;

 private:
  Frame frame_;
  std::vector<Box> taken_;
  std::vector<std::pair<Spot, Spot>> lines_;
};

}  // namespace tessera::plot
