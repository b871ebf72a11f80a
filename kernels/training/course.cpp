#include "kernels/training/course.h"

#include <fmt/format.h>

namespace tessera::training {

namespace {

constexpr std::uint32_t kMostSteps = 1U << 24;
constexpr config::Names<Feed, 3> kFeeds{
    {{"device", Feed::device}, {"host", Feed::host}, {"external", Feed::external}}};

}  // namespace

void describe(config::Fields& fields, Course& course, std::uint32_t samples,
              std::uint32_t test_samples, std::uint32_t most, const char* weights) {
  fields.field({"batch",
                "samples a step, in the order of the data: a step begins behind the last one's "
                "samples, after the last sample with the first again; they are not shuffled"},
               course.batch, {1, most});
  fields.field({"steps", "batches to train on, or to look at; 0: as many as the epochs have"},
               course.steps, {0, kMostSteps});
  fields.field({"epochs",
                "times that the samples are gone through, each samples / batch steps, rounded "
                "down: what is left of one is where the next one begins",
                "", false, course.steps == 0 ? "" : "steps"},
               course.epochs, {1, 1U << 20});
  fields.require(
      course.steps > 0 || std::uint64_t{course.epochs} * (samples / course.batch) <= kMostSteps,
      "epochs",
      fmt::format("found {} of {} samples in batches of {}, allowed up to {} steps", course.epochs,
                  samples, course.batch, kMostSteps));
  fields.field({"train", "weights follow gradients; false: the samples are looked at only"},
               course.train);
  fields.file({"weights", weights}, course.weights);
  fields.field(
      {"feed",
       "device: one batch, the first, which lies on the machine from the beginning; "
       "host: the next batch comes from the host each step; external: it comes from memory "
       "outside the tiles (machine.external)"},
      course.feed, kFeeds);
  fields.group({"optimiser", "how weights follow their gradients", "", false, course.untrained()},
               course.learning);
  fields.require(
      course.batch <= samples, "batch",
      fmt::format("found {}, allowed 1 to {}, the samples to train on", course.batch, samples));
  fields.require(
      test_samples == 0 || test_samples >= course.batch, "data.test_samples",
      fmt::format("found {}, allowed 0 or at least a batch of {}", test_samples, course.batch));
}

Turns::Turns(const Course& course, std::uint32_t samples, std::uint32_t test_samples)
    : steps(course.steps > 0 ? course.steps : course.epochs * (samples / course.batch)),
      test_steps(test_samples / course.batch),
      training{0, samples, course.batch, course.fed()},
      testing{samples, test_samples, course.batch} {}

}  // namespace tessera::training
