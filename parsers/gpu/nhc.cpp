#include "parsers/gpu/nhc.h"

#include <algorithm>
#include <optional>

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr std::string_view kDecimal = "0123456789";

struct Failure {
  std::string_view check;  // check_hw_ib; empty: the message names none
  std::string_view message;
};

bool is_check(std::string_view word) {
  return word.starts_with("check_") &&
         word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == word.npos;
}

// A check may quote a line of the kernel: that line is left to the kernel's parsers.
std::optional<Failure> failure_in(std::string_view text) {
  text = trimmed(text);
  if (take_front(text, "ERROR:")) {
    text = trimmed(text);
    if (!take_front(text, "nhc:")) return {};
    text = trimmed(text);
    if (!take_front(text, "Health check failed:")) return {};
  } else if (!take_front(text, "NHC:")) {
    return {};
  }
  text = trimmed(text);
  if (text.find("NVRM: ") != text.npos) return {};
  Failure failure;
  const std::size_t colon = std::min(text.find(':'), text.size());
  if (is_check(text.substr(0, colon))) {
    failure.check = text.substr(0, colon);
    text.remove_prefix(std::min(colon + 1, text.size()));
  }
  failure.message = trimmed(text);
  if (failure.message.empty()) return {};
  return failure;
}

// The text after `words`, as far as it has only characters of `of`; empty: `words` do not occur.
std::string_view behind(std::string_view text, std::string_view words, std::string_view of) {
  const std::size_t at = text.find(words);
  if (at == text.npos) return {};
  text.remove_prefix(at + words.size());
  return text.substr(0, text.find_first_not_of(of));
}

std::string_view gpu_in(std::string_view message) {
  for (const std::string_view words : {"GPU id ", "on device "})
    if (const std::string_view number = behind(message, words, kDecimal); !number.empty())
      return number;
  return {};
}

class NodeHealthCheck : public PartDocument {
 public:
  NodeHealthCheck() : PartDocument("nhc") {}

 private:
  Line read(std::string_view text) override {
    const auto failure = failure_in(text);
    if (!failure) return Line::after;
    const std::string_view port =
        behind(failure->message, "IB port ", "abcdefghijklmnopqrstuvwxyz_0123456789:");
    const std::size_t colon = port.find(':');
    const std::string_view gpu = gpu_in(failure->message);
    if (colon != port.npos && colon > 0) {
      OpenPart& part = open("port");
      part.name("device", port.substr(0, colon));
      part.name("port", port.substr(colon + 1));
    } else if (!gpu.empty()) {
      open("gpu").name("index", gpu);
    } else {
      open("host");
    }
    last()->value(failure->check.empty() ? "message" : failure->check, failure->message);
    return Line::last;
  }
};

}  // namespace

bool begins_nhc(std::string_view text) { return failure_in(text).has_value(); }

std::unique_ptr<Document> make_nhc() { return std::make_unique<NodeHealthCheck>(); }

}  // namespace faultline
