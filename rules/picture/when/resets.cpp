#include "rules/picture/when/resets.h"

#include "rules/picture/read/xids_by_place.h"

namespace faultline {
namespace {

constexpr std::int64_t kBeforeUs = 30'000'000;  // a reset takes this long
constexpr std::int64_t kAfterUs = 5'000'000;

}  // namespace

std::string reset_near(const View& view, const BootOfLog& boot, const EventTime& time,
                       const std::string& but) {
  return view.xids().of(boot).reset.first_near(time, -kAfterUs, kBeforeUs, but);
}

}  // namespace faultline
