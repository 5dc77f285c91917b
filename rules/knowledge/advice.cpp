#include "rules/knowledge/advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "model/handover.h"
#include "rules/knowledge/placeholders.h"

namespace faultline {
namespace {

// nvidia-smi prints, and on some versions only accepts, a domain of eight digits in upper case.
std::string smi_address(std::string_view gpu) {
  std::string address(gpu);
  const std::size_t domain = address.find(':');
  if (domain == std::string::npos) return address;  // an index or a UUID, which it takes as well
  if (domain < 8) address.insert(0, 8 - domain, '0');
  return upper(address);
}

std::string host(const AdviceSubject& subject) { return subject.host; }
std::string gpu(const AdviceSubject& subject) { return subject.gpu; }
std::string gpu_smi(const AdviceSubject& subject) { return smi_address(subject.gpu); }
std::string rank(const AdviceSubject& subject) {
  return subject.rank ? std::to_string(*subject.rank) : std::string();
}
std::string nic(const AdviceSubject& subject) { return subject.nic; }
std::string port(const AdviceSubject& subject) { return subject.port; }
std::string pid(const AdviceSubject& subject) {
  return subject.pids.size() == 1 ? std::to_string(subject.pids.front()) : std::string();
}
std::string nothing(const AdviceSubject&) { return {}; }

// All candidates, for a command to loop over: words, or a command that lists them.
std::string all_nics(const AdviceSubject&) { return "$(ls /sys/class/infiniband)"; }

std::string all_netdevs(const AdviceSubject& subject) {
  return subject.nic.empty()
             ? "$(ls /sys/class/net)"
             : fmt::format("$(ls /sys/class/infiniband/{}/device/net)", shell_word(subject.nic));
}

// Launchers put the rank into a process's environment. Without a rank: all processes that use a
// GPU.
std::string all_pids(const AdviceSubject& subject) {
  if (!subject.pids.empty()) return fmt::format("{}", fmt::join(subject.pids, " "));
  if (!subject.rank) return "$(nvidia-smi --query-compute-apps=pid --format=csv,noheader)";
  return fmt::format(
      "$(grep -lszxE '(RANK|SLURM_PROCID|OMPI_COMM_WORLD_RANK)={}' /proc/[0-9]*/environ | cut -d/ "
      "-f3)",
      *subject.rank);
}

struct Placeholder {
  std::string_view name;
  std::string (*value)(const AdviceSubject&) = nothing;
  std::string (*all)(const AdviceSubject&) = nullptr;  // nullptr: a command cannot loop over them
  std::string_view in_prose;                           // what a text says if the value is unknown
  std::string_view is;                                 // what a variable asks for
};
constexpr Placeholder kPlaceholders[] = {
    {"host", host, nullptr, "its host", "the name of the host"},
    {"gpu", gpu, nullptr, "in question", "the PCI address of the GPU"},
    {"gpu_smi", gpu_smi, nullptr, "in question", "the PCI address of the GPU"},
    {"rank", rank, nullptr, "in question", "the number of the rank"},
    {"nic", nic, all_nics, "its NIC", "the name of the NIC"},
    {"port", port, nullptr, "its port", ""},
    {"pid", pid, all_pids, "its process", "the number of the process"},
    {"netdev", nothing, all_netdevs, "its interface", "the name of the interface"},
    {"peer", nothing, nullptr, "the other end", "the address of the other end"},
    {"log", nothing, nullptr, "its log", "the file that the process writes its log to"},
    {"pci", nothing, nullptr, "its address", "the PCI address of the device"},
    {"lid", nothing, nullptr, "its LID", "a LID, as ibqueryerrors prints it"},
    {"server", nothing, nullptr, "the server", "the name of the server"},
    {"path", nothing, nullptr, "its path", "the path of the file"},
    {"node", nothing, nullptr, "its node", "the name of the node"},
};

const Placeholder* placeholder(std::string_view name) {
  const auto* found = std::ranges::find(kPlaceholders, name, &Placeholder::name);
  return found == std::ranges::end(kPlaceholders) ? nullptr : found;
}

std::string value_of(std::string_view name, const AdviceSubject& subject) {
  const Placeholder* known = placeholder(name);
  std::string value = known ? known->value(subject) : std::string();
  if (const auto field = subject.fields.find(name); value.empty() && field != subject.fields.end())
    value = field->second;
  return value;
}

// Whether braces hold a placeholder, and not what the shell or awk mean by them.
bool is_name(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

// False for a word of a log that could be read as an option, a placeholder or the end of the line.
bool fits_in_a_command(std::string_view value) {
  return !value.empty() && value.front() != '-' && std::ranges::none_of(value, [](unsigned char c) {
    return c < 0x20 || c == 0x7f || c == '{' || c == '}';
  });
}

// Replaces each placeholder with replace(name); nullopt leaves it.
template <class Replace>
std::string replaced(std::string_view text, Replace replace) {
  std::string out;
  take_apart(
      text, [&](std::string_view plain) { out += plain; },
      [&](std::string_view name) {
        const bool is_shells = out.ends_with('$') || !is_name(name);
        const std::optional<std::string> value = is_shells ? std::nullopt : replace(name);
        out += value ? *value : fmt::format("{{{}}}", name);
      });
  return out;
}

std::string command_with_known(std::string_view command, const AdviceSubject& subject) {
  return replaced(command, [&](std::string_view name) -> std::optional<std::string> {
    const std::string value = value_of(name, subject);
    return fits_in_a_command(value) ? std::optional(shell_word(value)) : std::nullopt;
  });
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
  return replaced(text, [&](std::string_view name) -> std::optional<std::string> {
    std::string value = value_of(name, subject);
    return value.empty() ? std::nullopt : std::optional(std::move(value));
  });
}

Action fill_in(const Action& action, const AdviceSubject& subject) {
  return {.what = fill_in(action.what, subject),
          .where = fill_in(action.where, subject),
          .command = command_with_known(action.command, subject)};
}

Action completed(const Action& action, const AdviceSubject& subject) {
  Action whole = fill_in(action, subject);
  // The API promises an empty `where` if the host is unknown.
  if (whole.where.find('{') != std::string::npos) whole.where.clear();
  whole.what = replaced(whole.what, [](std::string_view name) -> std::optional<std::string> {
    const Placeholder* known = placeholder(name);
    return known ? std::optional(std::string(known->in_prose)) : std::nullopt;
  });
  whole.command = completed_command(action.command, subject);
  return whole;
}

std::string completed_command(std::string_view command, const AdviceSubject& subject) {
  const std::string known = command_with_known(command, subject);
  const bool may_loop = known.find('#') == std::string::npos;  // nothing may follow a comment
  std::vector<const Placeholder*> loops;
  std::string open = replaced(known, [&](std::string_view name) -> std::optional<std::string> {
    const Placeholder* meant = placeholder(name);
    if (meant != nullptr && meant->all != nullptr && may_loop) {
      if (std::ranges::find(loops, meant) == loops.end()) loops.push_back(meant);
      return fmt::format("\"${}\"", name);
    }
    if (name == "port") return "\"${PORT:-1}\"";  // most adapters have one
    return fmt::format("\"${{{}:?{}}}\"", name == "gpu_smi" ? "GPU" : upper(name),
                       meant != nullptr ? meant->is : "no line names it");
  });
  for (const Placeholder* loop : loops)
    open = fmt::format("for {} in {}; do {}; done", loop->name, loop->all(subject), open);
  return open;
}

std::string shell_word(std::string_view text) {
  const bool is_plain = !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_./:@%+,=-").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (is_plain) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::vector<std::string_view> unknown_placeholders(std::string_view text) {
  std::vector<std::string_view> unknown;
  bool is_shells = false;  // "${...}"
  take_apart(
      text, [&](std::string_view plain) { is_shells = plain.ends_with('$'); },
      [&](std::string_view name) {
        if (!is_shells && !placeholder(name)) unknown.push_back(name);
        is_shells = false;
      });
  return unknown;
}

}  // namespace faultline
