#include "rules/picture/when/clock_in_words.h"

#include <chrono>

namespace faultline {

std::string clock_in_words(const EventTime& time) {
  std::string text = to_rfc3339(std::chrono::floor<std::chrono::seconds>(*time.wall()));
  text[text.find('T')] = ' ';
  text.erase(text.find('Z'));
  return time.zone_assumed ? text : text + " UTC";
}

}  // namespace faultline
