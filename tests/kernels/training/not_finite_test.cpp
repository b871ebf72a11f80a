#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/data/element.h"
#include "tests/kernels/lone_codelet.h"

using namespace tessera;

/// NaNs and infinities propagate to the loss.
namespace {

using test::LoneCodelet;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

enum : std::uint32_t { kZ = 0x2000, kGradient = 0x4000, kOut = 0x6000, kCall = 0x8000 };

/// A codelet of training whose operands are f32 or f16.
class Elements {
 public:
  Elements(const std::string& name, bool half)
      : codelet_("training", half ? name + "_f16" : name), half_(half) {}

  void put(std::uint32_t base, std::size_t i, float value) {
    std::array<std::byte, 4> stored{};
    data::store_element(type(), stored, 0, static_cast<double>(value));
    for (std::size_t b = 0; b < bytes(); ++b) codelet_.put(at(base, i, b), stored[b]);
  }
  [[nodiscard]] float get(std::uint32_t base, std::size_t i) const {
    std::array<std::byte, 4> stored{};
    for (std::size_t b = 0; b < bytes(); ++b) stored[b] = codelet_.get<std::byte>(at(base, i, b));
    return static_cast<float>(data::load_element(type(), stored, 0));
  }
  void call(const std::vector<std::uint32_t>& words) {
    for (std::uint32_t i = 0; i < words.size(); ++i) codelet_.put(kCall + 4 * i, words[i]);
    codelet_.slots(kCall);
  }
  [[nodiscard]] LoneCodelet& codelet() { return codelet_; }

 private:
  [[nodiscard]] program::Type type() const {
    return half_ ? program::Type::f16 : program::Type::f32;
  }
  [[nodiscard]] std::size_t bytes() const { return data::element_bytes(type()); }
  [[nodiscard]] std::uint32_t at(std::uint32_t base, std::size_t i, std::size_t byte) const {
    return static_cast<std::uint32_t>(base + i * bytes() + byte);
  }
  LoneCodelet codelet_;
  bool half_;
};

/// f(z), or `gradient` propagated back through f, computed in each lane of a word.
std::vector<float> activated(const char* name, bool half, float z, float gradient = 0) {
  constexpr std::uint32_t kNumbers = 8;
  std::vector<float> found;
  for (std::uint32_t lane = 0; lane < kNumbers; ++lane) {
    Elements elements(name, half);
    for (std::uint32_t i = 0; i < kNumbers; ++i) {
      elements.put(kZ, i, i == lane ? z : 1);
      elements.put(kGradient, i, i == lane ? gradient : 1);
    }
    elements.call({kZ, kGradient, kOut, 0, 0, half ? 2U : 4U});
    for (std::uint32_t i = 0; i < kNumbers; ++i)
      if (i != lane) CHECK(std::isfinite(elements.get(kOut, i)));
    found.push_back(elements.get(kOut, lane));
  }
  return found;
}

template <class Holds>
void check_all(const std::vector<float>& found, Holds holds) {
  for (const float each : found) {
    CAPTURE(each);
    CHECK(holds(each));
  }
}

/// The loss of a sample of four classes with one given logit, all others being 1.
float loss_of(bool half, std::uint32_t at, float logit, std::uint32_t label) {
  constexpr std::uint32_t kClasses = 4, kLabels = 0x9000, kResults = 0xa000, kScale = 0xb000;
  Elements elements("training_cross_entropy", half);
  for (std::uint32_t c = 0; c < kClasses; ++c) elements.put(kZ, c, c == at ? logit : 1);
  LoneCodelet& codelet = elements.codelet();
  for (const std::uint32_t i : {0U, 1U, 2U, 3U}) codelet.put(kScale + 4 * i, 1.0F);
  codelet.put(kLabels, label);
  const std::vector<std::uint32_t> words{
      kZ, kGradient, kLabels, kResults, 1, kClasses, kClasses, std::bit_cast<std::uint32_t>(1.0F),
      1,  kScale};
  elements.call(words);
  return codelet.get<float>(kResults);
}

bool is_nan(float value) { return std::isnan(value); }

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("activations and their gradients keep what is no number, in every lane") {
    for (const bool half : {false, true}) {
      CAPTURE(half);
      for (const char* name : {"training_relu", "training_gelu"}) {
        CAPTURE(name);
        check_all(activated(name, half, kNaN), is_nan);
        check_all(activated(name, half, kInfinity), [](float v) { return v == kInfinity; });
        check_all(activated(name, half, 2), [](float v) { return v > 1.9F; });
      }
      check_all(activated("training_relu", half, -kInfinity), [](float v) { return v == 0; });
      for (const char* name : {"training_relu_slope", "training_gelu_slope"}) {
        CAPTURE(name);
        check_all(activated(name, half, 2, kNaN), is_nan);
        check_all(activated(name, half, kNaN, kNaN), is_nan);
        check_all(activated(name, half, 2, kInfinity), [](float v) { return v == kInfinity; });
      }
      const auto slope = [&](float z) { return activated("training_relu_slope", half, z, 3); };
      const float least = half ? 0x1p-24F : std::numeric_limits<float>::denorm_min();
      for (const float z : {kNaN, kInfinity, 2.0F, least})
        check_all(slope(z), [](float v) { return v == 3; });
      for (const float z : {0.0F, -0.0F, -least, -2.0F, -kInfinity})
        check_all(slope(z), [](float v) { return v == 0; });
      check_all(activated("training_gelu_slope", half, kNaN, 3), is_nan);
    }
  }

  TEST_CASE(
      "a loss is no number if a logit is none, and finite if others than the label's are low") {
    for (const bool half : {false, true})
      for (const std::uint32_t at : {0U, 1U, 2U, 3U})
        for (const std::uint32_t label : {0U, 2U, 3U}) {
          CAPTURE(half);
          CAPTURE(at);
          CAPTURE(label);
          CHECK(std::isnan(loss_of(half, at, kNaN, label)));
          CHECK(!std::isfinite(loss_of(half, at, kInfinity, label)));
          CHECK(std::isfinite(loss_of(half, at, -kInfinity, label)) == (at != label));
        }
  }
}
