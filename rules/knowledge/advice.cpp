#include "rules/knowledge/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "rules/knowledge/placeholders.h"

namespace faultline {
namespace {

// nvidia-smi prints, and on some versions only accepts, a domain of eight digits in upper case.
std::string smi_address(std::string_view gpu) {
  std::string address(gpu);
  const std::size_t domain = std::min(address.find(':'), address.size());
  if (domain < 8 && !address.empty()) address.insert(0, 8 - domain, '0');
  std::ranges::transform(address, address.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return address;
}

std::string host(const AdviceSubject& subject) { return subject.host; }
std::string gpu(const AdviceSubject& subject) { return subject.gpu; }
std::string gpu_smi(const AdviceSubject& subject) { return smi_address(subject.gpu); }
std::string rank(const AdviceSubject& subject) {
  return subject.rank ? std::to_string(*subject.rank) : std::string();
}

std::string nic(const AdviceSubject& subject) { return subject.nic; }
std::string port(const AdviceSubject& subject) { return subject.port; }

struct Placeholder {
  std::string_view name;
  std::string (*value)(const AdviceSubject&);
};
constexpr Placeholder kPlaceholders[] = {{"host", host}, {"gpu", gpu}, {"gpu_smi", gpu_smi},
                                         {"rank", rank}, {"nic", nic}, {"port", port}};

const Placeholder* placeholder(std::string_view name) {
  const auto* found = std::ranges::find(kPlaceholders, name, &Placeholder::name);
  return found == std::ranges::end(kPlaceholders) ? nullptr : found;
}

}  // namespace

AdviceSubject advice_subject(const Subject& subject) {
  AdviceSubject about;
  const auto part_of = [](const std::string& name) { return name.substr(name.find('/') + 1); };
  if (subject.hosts.size() == 1) about.host = subject.hosts.front();
  if (subject.gpus.size() == 1) about.gpu = part_of(subject.gpus.front());
  if (subject.ranks.size() == 1) about.rank = subject.ranks.front();
  if (subject.nics.size() == 1) {
    about.nic = part_of(subject.nics.front());  // mlx5_4:1
    const std::size_t colon = about.nic.rfind(':');
    const bool numbered = colon != std::string::npos && about.nic.find(':') == colon;
    if (numbered) about.port = about.nic.substr(colon + 1);
    if (numbered) about.nic.resize(colon);
  }
  return about;
}

std::string fill_in(std::string_view text, const AdviceSubject& subject) {
  std::string filled;
  take_apart(
      text, [&](std::string_view plain) { filled += plain; },
      [&](std::string_view name) {
        const Placeholder* known = placeholder(name);
        const std::string value = known ? known->value(subject) : std::string();
        filled += value.empty() ? fmt::format("<{}>", name) : value;
      });
  return filled;
}

Action fill_in(const Action& action, const AdviceSubject& subject) {
  // An unknown host is no place; the contract has an empty one for that.
  return {.what = fill_in(action.what, subject),
          .where = action.where == "{host}" ? subject.host : fill_in(action.where, subject),
          .command = fill_in(action.command, subject)};
}

std::string_view unknown_placeholder(std::string_view text) {
  std::string_view unknown;
  take_apart(
      text, [](std::string_view) {},
      [&](std::string_view name) {
        if (unknown.empty() && !placeholder(name)) unknown = name;
      });
  return unknown;
}

}  // namespace faultline
