#include "parsers/tool/tool_shell.h"

#include <algorithm>
#include <array>

#include "model/pci_address.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

constexpr std::size_t kMostOfAPrompt = 128;
constexpr std::size_t kMostOfALabel = 64;
constexpr std::size_t kMostOfAHeading = 64;

constexpr std::array<std::string_view, 24> kTools{
    "perfquery",    "ibqueryerrors", "ibstat",      "ibstatus",      "iblinkinfo", "ibnetdiscover",
    "ibv_devinfo",  "ibv_devices",   "ibportstate", "smpquery",      "rdma",       "ethtool",
    "mlxlink",      "show_gids",     "ibping",      "ibhosts",       "ibswitches", "sminfo",
    "ibdev2netdev", "ibcheckerrs",   "ibdiagnet",   "ibcheckerrors", "ibroute",    "ibtracert"};

bool is_tool(std::string_view word) {
  word = word.substr(word.rfind('/') + 1);
  return std::ranges::find(kTools, word) != kTools.end() ||
         (word.starts_with("ib_") && (word.ends_with("_bw") || word.ends_with("_lat")));
}

// A word that may stand before the command: sudo, watch -n 5, time, LC_ALL=C.
bool is_before_command(std::string_view word) {
  return word == "sudo" || word == "watch" || word == "time" || word == "timeout" ||
         word.starts_with('-') || word.find('=') != word.npos || is_decimal(word);
}

std::string_view without_quotes(std::string_view word) {
  while (!word.empty() && (word.front() == '"' || word.front() == '\'')) word.remove_prefix(1);
  while (!word.empty() && (word.back() == '"' || word.back() == '\'' || word.back() == ';'))
    word.remove_suffix(1);
  return word;
}

bool speaks_of_tool(std::string_view command) {
  if (command.find("/sys/class/") != command.npos || command.find("infiniband") != command.npos)
    return true;
  for (const std::string_view word : words_of(command))
    if (is_tool(without_quotes(word))) return true;
  return false;
}

bool is_command_of_ours(std::string_view command) {
  std::string_view rest = command;
  std::string_view first = take_off_word(rest);
  while (is_before_command(first)) first = take_off_word(rest);
  first = without_quotes(first);
  if (first.empty()) return false;
  if (is_tool(first) || first == "date" || first == "hostname") return true;
  if (first == "show")  // of a switch
    return rest.find("pfcwd stats") != rest.npos || rest.find("interfaces counters") != rest.npos;
  if (first == "pfcwd") return rest.find("show stats") != rest.npos;
  for (const std::string_view word :
       {"ssh", "pdsh", "clush", "srun", "for", "while", "grep", "cat", "tail", "head", "echo"})
    if (first == word) return speaks_of_tool(rest);
  return false;
}

// "root@gpu-7:~", "gpu-7:~ ", "root@gpu-7 ~"
std::string_view host_of_prompt(std::string_view text) {
  if (const std::size_t at = text.find('@'); at != text.npos) text.remove_prefix(at + 1);
  text = text.substr(0, text.find_first_of(": "));
  return is_host_name(text) ? text : std::string_view();
}

// The place of the sign that ends a prompt: "# " or "$ ".
std::size_t end_of_prompt(std::string_view text) {
  const std::string_view head = text.substr(0, kMostOfAPrompt);
  const std::size_t root = head.find("# ");
  const std::size_t user = head.find("$ ");
  return std::min(root, user);
}

int two_digits(std::string_view text, std::size_t at) {
  if (at + 2 > text.size() || !is_digit_character(text[at]) || !is_digit_character(text[at + 1]))
    return -1;
  return (text[at] - '0') * 10 + (text[at + 1] - '0');
}

// 1 to 12; 0 if it is not a month
unsigned month_of(std::string_view word) {
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto found = std::ranges::find(kMonths, word.substr(0, 3));
  return found == kMonths.end() ? 0U : static_cast<unsigned>(found - kMonths.begin()) + 1;
}

bool is_weekday(std::string_view word) {
  constexpr std::string_view kWeekdays = "Mon Tue Wed Thu Fri Sat Sun";
  if (word.ends_with(',')) word.remove_suffix(1);
  return word.size() == 3 && kWeekdays.find(word) != kWeekdays.npos;
}

int small_number(std::string_view word) {
  if (!is_decimal(word) || word.size() > 4) return -1;
  int number = 0;
  for (const char c : word) number = number * 10 + (c - '0');
  return number;
}

// Thu Mar  5 02:47:11 UTC 2026, Thu 05 Mar 2026 02:47:11 AM UTC. Read as UTC whatever the zone.
std::optional<Timestamp> read_printed_date(std::string_view text) {
  using namespace std::chrono;
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() < 5 || words.size() > 7 || !is_weekday(words[0])) return std::nullopt;
  unsigned month_number = 0;
  int day_number = -1;
  int year_number = -1;
  int hour = -1;
  int minute = -1;
  int second = -1;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word.size() >= 8 && word[2] == ':' && word[5] == ':') {
      hour = two_digits(word, 0);
      minute = two_digits(word, 3);
      second = two_digits(word, 6);
    } else if (is_decimal(word)) {
      (word.size() == 4 ? year_number : day_number) = small_number(word);
    } else if (word == "AM" || word == "PM") {
      if (hour == 12) hour = 0;
      if (word == "PM" && hour >= 0) hour += 12;
    } else if (month_number == 0) {
      month_number = month_of(word);
    }
  }
  const year_month_day date{year{year_number}, month{month_number},
                            day{static_cast<unsigned>(std::max(day_number, 0))}};
  if (month_number == 0 || year_number < 1970 || !date.ok() || hour < 0 || hour > 23 ||
      minute < 0 || minute > 59 || second < 0 || second > 60)
    return std::nullopt;
  return Timestamp{sys_days{date} + hours{hour} + minutes{minute} + seconds{second}};
}

// Whether a word of a heading cannot be the name of a host: it is a step ("step3", "Test2"), or has
// no number.
bool is_numbered_step(std::string_view word) {
  const std::size_t digit = word.find_first_of("0123456789");
  if (digit == word.npos) return true;
  std::string_view name = word.substr(0, digit);
  while (name.ends_with('-') || name.ends_with('_')) name.remove_suffix(1);
  for (const std::string_view step :
       {"step", "phase", "test", "run", "iteration", "round", "sample", "part", "section", "rank",
        "port", "rail", "card", "pass", "loop", "attempt"})
    if (name == step) return true;
  return !name.empty() && name.front() >= 'A' && name.front() <= 'Z';
}

std::string_view without_ornaments(std::string_view text) {
  constexpr std::string_view kOrnaments = "=-#*<>[]: \t'\"";
  const std::size_t begin = text.find_first_not_of(kOrnaments);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kOrnaments) - begin + 1);
}

bool is_ornamented(std::string_view text) {
  return text.starts_with("==") || text.starts_with("--") || text.starts_with("##") ||
         text.starts_with("**") || text.starts_with("# ");
}

// "/sys/class/infiniband/mlx5_1/ports/1/counters": file names after such a prompt are of that port.
void stand_in_folder_of_port(std::string_view prompt, ShellCommand& read) {
  constexpr std::string_view kDevices = "/sys/class/infiniband/";
  constexpr std::string_view kPorts = "/ports/";
  const std::size_t at = prompt.find(kDevices);
  if (at == prompt.npos || prompt.find(' ', at) != prompt.npos) return;
  if (at > 0 && prompt.substr(0, at).find('@') == prompt.npos) return;  // a command's argument
  std::string_view rest = prompt.substr(at + kDevices.size());
  const std::string_view device = rest.substr(0, rest.find('/'));
  if (!is_rdma_device(device)) return;
  read.device = device;
  rest.remove_prefix(device.size());
  if (!take_off(rest, kPorts)) return;
  const std::string_view port = rest.substr(0, rest.find('/'));
  if (is_decimal(port)) read.port = port;
}

}  // namespace

std::optional<ShellCommand> read_prompt(std::string_view text) {
  if (text.starts_with('(')) {  // the name of a Python environment
    const std::size_t end = text.find(") ");
    if (end == text.npos || end > kMostOfALabel) return std::nullopt;
    text = trimmed(text.substr(end + 2));
  }
  if (text.empty()) return std::nullopt;
  ShellCommand read;
  if (text.starts_with("$ ") || text.starts_with("# ") || text.starts_with("+ ")) {
    read.command = trimmed(text.substr(2));
  } else {
    const std::size_t end = end_of_prompt(text);
    if (end == text.npos || end == 0) return std::nullopt;
    std::string_view prompt = text.substr(0, end);
    if (prompt.front() == '[') {
      prompt.remove_prefix(1);
      if (!prompt.ends_with(']')) return std::nullopt;
      prompt.remove_suffix(1);
    }
    stand_in_folder_of_port(prompt, read);
    read.host = host_of_prompt(prompt);
    if (read.host.empty() && read.device.empty()) return std::nullopt;
    read.command = trimmed(text.substr(end + 1));
  }
  if (read.device.empty() && !is_command_of_ours(read.command)) return std::nullopt;
  return read;
}

std::optional<WatchedCommand> read_watch(std::string_view text) {
  if (!take_off(text, "Every ")) return std::nullopt;
  const std::size_t interval = text.find("s: ");
  if (interval == text.npos || interval > 8) return std::nullopt;
  text.remove_prefix(interval + 3);
  const std::size_t colon = text.rfind(": ");
  if (colon == text.npos) return std::nullopt;
  WatchedCommand watch;
  watch.date = read_date(trimmed(text.substr(colon + 2)));
  const std::string_view before = trimmed(text.substr(0, colon));
  const std::size_t blank = before.find_last_of(" \t");
  if (blank == before.npos) return std::nullopt;
  watch.command = {before.substr(blank + 1), trimmed(before.substr(0, blank))};
  if (!is_host_name(watch.command.host) || !is_command_of_ours(watch.command.command))
    return std::nullopt;
  return watch;
}

bool asks_for_host_name(const ShellCommand& prompt) {
  return prompt.command.starts_with("hostname");
}

void apply_command(const ShellCommand& prompt, ToolContext& context) {
  context.device = prompt.device;
  context.port = prompt.port;
  context.netdev.clear();
  context.pci.clear();
  context.peer.clear();
  if (!prompt.host.empty()) context.host = prompt.host;
  const std::vector<std::string_view> words = words_of(prompt.command);
  std::size_t tool = 0;
  while (tool < words.size() && !is_tool(without_quotes(words[tool]))) ++tool;
  for (std::size_t i = 0; i + 1 < std::min(tool, words.size()); ++i)
    if (words[i] == "ssh" && is_host_name(words[i + 1])) context.host = words[i + 1];
  if (tool >= words.size()) return;
  const std::string_view name = without_quotes(words[tool]);
  for (std::size_t i = tool + 1; i < words.size(); ++i) {
    const std::string_view word = without_quotes(words[i]);
    if (word.starts_with('|') || word.starts_with('2') || word.starts_with('>')) break;
    if (name.ends_with("ethtool") && is_network_interface(word)) context.netdev = word;
    if (name.ends_with("mlxlink")) {
      if (is_rdma_device(word)) context.device = word;
      if (auto pci = normal_pci(word)) context.pci = *std::move(pci);
      if (words[i - 1] == "-p" && is_decimal(word)) context.port = word;
    }
    const bool last = i + 1 == words.size();
    const bool bare = !words[i - 1].starts_with('-') || words[i - 1].starts_with("--");
    if ((name.starts_with("ib_") || name == "ibping") && last && bare && is_host_name(word))
      context.peer = word;
  }
}

std::optional<Timestamp> read_date(std::string_view text) {
  constexpr std::string_view kFirsts = "0123456789MTWFS=-#*[";
  if (text.size() < 19 || text.size() > kMostOfAHeading ||
      kFirsts.find(text.front()) == kFirsts.npos)
    return std::nullopt;
  const std::string_view inner = without_ornaments(text);
  if (inner.size() < 19) return std::nullopt;
  if (is_digit_character(inner.front())) return parse_rfc3339(inner);
  return is_weekday(inner.substr(0, 3)) ? read_printed_date(inner) : std::nullopt;
}

bool read_heading(std::string_view text, ToolContext& context) {
  if (text.size() > kMostOfAHeading) return false;
  std::string_view rest = without_ornaments(text);
  constexpr std::string_view kFirsts = "mrbieqhtdDc";  // devices, interfaces and "device"
  if (rest.empty() || kFirsts.find(rest.front()) == kFirsts.npos) return false;
  std::string_view word = take_off_word(rest);
  if (word == "device" || word == "Device" || word == "Device:" || word == "interface")
    word = take_off_word(rest);
  std::string_view port;
  if (const std::size_t slash = word.find('/'); slash != word.npos) {
    port = word.substr(slash + 1);
    word = word.substr(0, slash);
    if (!is_decimal(port)) return false;
  }
  const bool device = is_rdma_device(word);
  if (!device && !is_network_interface(word)) return false;
  std::string_view next = take_off_word(rest);
  if (next == "port" || next == "Port") {
    port = take_off_word(rest);
    if (port.ends_with(':')) port.remove_suffix(1);
    if (!is_decimal(port)) return false;
    next = take_off_word(rest);
  }
  if (!next.empty()) return false;
  context.device = device ? word : std::string_view();
  context.port = device ? port : std::string_view();
  context.netdev = device ? std::string_view() : word;
  return true;
}

std::string_view host_of_heading(std::string_view text) {
  if (text.size() > kMostOfAHeading) return {};
  if (const std::size_t bar = text.find(" | "); bar != text.npos) {
    const std::string_view host = text.substr(0, bar);
    for (const std::string_view result : {"CHANGED | rc=", "SUCCESS | rc=", "FAILED | rc="})
      if (text.substr(bar + 3).starts_with(result) && is_host_name(host)) return host;
    return {};
  }
  if (!is_ornamented(text)) return {};
  std::string_view inner = without_ornaments(text);
  if (!take_off(inner, "host ") && !take_off(inner, "Host ")) take_off(inner, "node ");
  inner = without_ornaments(inner);
  return is_host_name(inner) && !is_numbered_step(inner) ? inner : std::string_view();
}

}  // namespace faultline
