#include "model/handover.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace faultline {

Action next_step_of(const Finding& finding) {
  const auto with_command = std::ranges::find_if(
      finding.actions, [](const Action& action) { return !action.command.empty(); });
  if (with_command != finding.actions.end()) return *with_command;
  return finding.actions.empty() ? Action{} : finding.actions.front();
}

std::string curl_command(const ServerAddress& server) {
  return server.asks_for_token
             ? "curl -H \"Authorization: Bearer ${FAULTLINE_TOKEN:?a token of this server}\""
             : "curl";
}

std::string acknowledge_command(const ServerAddress& server, std::string_view finding) {
  return fmt::format("{} -X POST '{}/api/v1/findings/{}/review?verdict=acknowledged&by=you'",
                     curl_command(server), server.url, percent_encoded(finding));
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

std::string cut(std::string text, std::size_t size) {
  constexpr std::string_view kMore = "…";
  if (text.size() <= size) return text;
  size -= kMore.size();
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  text.resize(size);
  return text += kMore;
}

std::string cut_at_word(std::string text, std::size_t size) {
  constexpr std::string_view kMore = " …";
  if (text.size() <= size) return text;
  const std::size_t blank = text.rfind(' ', size - kMore.size());
  // One long word: there is no better place.
  if (blank == std::string::npos || blank < size / 2) return cut(std::move(text), size);
  text.resize(text.find_last_not_of(" ,;:(", blank) + 1);
  return text += kMore;
}

}  // namespace faultline
