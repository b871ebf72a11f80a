#include "sim/plot/frame.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace tessera::plot {

bool Box::meets(const Box& other) const {
  return left < other.right && other.left < right && bottom < other.top && other.bottom < top;
}

bool Box::holds(const Box& other) const {
  return left <= other.left && other.right <= right && bottom <= other.bottom && other.top <= top;
}

bool Box::meets(const Spot& from, const Spot& to) const {
  // Liang and Barsky (1984): clips the line to both pairs of sides.
  double first = 0, last = 1;
  const auto cut = [&](double step, double room) {
    if (step == 0) return room >= 0;
    const double at = room / step;
    if (step < 0) first = std::max(first, at);
    if (step > 0) last = std::min(last, at);
    return first <= last;
  };
  const double dx = to.x - from.x, dy = to.y - from.y;
  return cut(-dx, from.x - left) && cut(dx, right - from.x) && cut(-dy, from.y - bottom) &&
         cut(dy, top - from.y);
}

Frame Frame::around(const Headings& texts, const Request& request, const Sheet& sheet, double right,
                    double lines_above) {
  constexpr double kMarks = 6.5;  // letters of the marks and their gap
  const auto lines = [&](const std::string& text, double inches) {
    return sheet.line() * static_cast<double>(lines_of(text, sheet, inches));
  };
  const double title = lines(request.title.value_or(texts.title), heading_width(sheet, "title"));
  const double x = lines(request.xlabel.value_or(texts.x), heading_width(sheet, "xlabel"));
  const double y = lines(request.ylabel.value_or(texts.y), heading_width(sheet, "ylabel"));
  return {sheet,
          {kMarks * sheet.letter() + y, sheet.width - std::max(right, 2.5 * sheet.letter()),
           1.4 * sheet.line() + x + 0.5 * sheet.line(),
           sheet.height - title - (lines_above + (title > 0 ? 0.9 : 0.5)) * sheet.line()}};
}

Frame Frame::with_key(const Headings& texts, const Request& request, const Sheet& sheet,
                      std::span<const std::string> entries) {
  // Letters of an entry's mark and gaps; beside the figure gnuplot leaves more space.
  const double marks = sheet.is_narrow() ? 4.5 : 9.5;
  const double entry =
      std::max(sheet.width_of(texts.key), sheet.widest(entries)) + marks * sheet.letter();
  if (!sheet.is_narrow()) return around(texts, request, sheet, entry, 0);
  // gnuplot arranges a key's entries in columns of equal width.
  const double columns = std::max(1.0, std::floor(0.8 * sheet.width / entry));
  const double lines = std::ceil(static_cast<double>(entries.size()) / columns);
  return around(texts, request, sheet, 0, lines + (texts.key.empty() ? 0 : 1));
}

Spot Frame::spot(const Axis& x, double at_x, const Axis& y, double at_y) const {
  return {box.left + x.place(at_x) * (box.right - box.left),
          box.bottom + y.place(at_y) * (box.top - box.bottom)};
}

std::string Frame::script() const {
  return fmt::format(
      "set lmargin at screen {:.4f}\nset rmargin at screen {:.4f}\nset bmargin at screen {:.4f}\n"
      "set tmargin at screen {:.4f}\n",
      box.left / sheet.width, box.right / sheet.width, box.bottom / sheet.height,
      box.top / sheet.height);
}

std::string Frame::place(const Spot& spot) const {
  return fmt::format("screen {:.4f},{:.4f}", spot.x / sheet.width, spot.y / sheet.height);
}

void Labels::keep_free(const Spot& spot) {
  const double half = 0.35 * frame_.sheet.letter() * 2;
  keep_free({spot.x - half, spot.x + half, spot.y - half, spot.y + half});
}

bool Labels::is_free(const Box& box) const {
  return frame_.box.holds(box) &&
         std::ranges::none_of(taken_, [&](const Box& each) { return each.meets(box); }) &&
         std::ranges::none_of(lines_,
                              [&](const auto& line) { return box.meets(line.first, line.second); });
}

bool Labels::take(const Box& box) {
  if (!is_free(box)) return false;
  taken_.push_back(box);
  return true;
}

std::optional<Box> Labels::put(const std::string& text, const Spot& spot) {
  const double wide = frame_.sheet.width_of(text), tall = 0.9 * frame_.sheet.line();
  const double aside = frame_.sheet.letter();
  // Tries beside, above and below; then farther up and down.
  constexpr std::array kUp = {0.0, 0.6, -0.6, 1.0, -1.0, 1.5, -1.5, 2.2, -2.2};
  for (const double up : kUp) {
    for (const double along : {aside, -wide - aside, -wide / 2}) {
      const Box box{spot.x + along, spot.x + along + wide, spot.y + up * tall - tall / 2,
                    spot.y + up * tall + tall / 2};
      if (take(box)) return box;
    }
  }
  return std::nullopt;
}

std::string Labels::script(const std::string& text, const Box& box, const std::string& ink) const {
  return fmt::format("set label {} at {} left front tc rgb '{}'\n", literal(text),
                     frame_.place({box.left, (box.bottom + box.top) / 2}), ink);
}

}  // namespace tessera::plot
