#include "simulate/noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "simulate/chance.h"

namespace faultline::simulation {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

using Entry = std::vector<std::string_view>;  // lines that are printed together

std::vector<Entry> entries_of(std::string_view name) {
  const auto& files = noise_files();
  std::string_view text = std::ranges::find(files, name, &NoiseFile::name)->text;
  std::vector<Entry> entries;
  Entry entry;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('#')) continue;
    if (!line.empty()) {
      entry.push_back(line);
    } else if (!entry.empty()) {
      entries.push_back(std::move(entry));
      entry.clear();
    }
  }
  if (!entry.empty()) entries.push_back(std::move(entry));
  return entries;
}

struct Catalog {
  std::vector<Entry> harmless = entries_of("harmless.txt");
  std::vector<Entry> frightening = entries_of("frightening.txt");
  std::vector<Entry> serious = entries_of("serious.txt");
};
const Catalog& catalog() {
  static const Catalog all;
  return all;
}

// Values for an entry's placeholders. No part of the job has these addresses, names or processes.
struct Drawn {
  explicit Drawn(Chance& chance) {
    constexpr const char* kTools[] = {"node_exporter", "snmpd",    "fwupd",  "telegraf",
                                      "smartd",        "ipmitool", "chrome", "gnome-shell",
                                      "filebeat",      "collectd", "mc",     "jupyter-lab"};
    constexpr const char* kNics[] = {"eno1", "eno2", "enp1s0f1", "ens9f0"};
    const auto hex = [&](std::uint64_t limit) { return chance.below(limit); };
    values = {
        {"{pci}", fmt::format("0000:{:02x}:{:02x}.{}", 0xe0 + hex(16), hex(31), hex(7))},
        {"{slot}", fmt::format("0000:{:02x}:00", 0xe0 + hex(16))},
        {"{nic}", kNics[chance.below(std::size(kNics))]},
        {"{tool}", kTools[chance.below(std::size(kTools))]},
        {"{disk}", fmt::format("sd{}", static_cast<char>('b' + hex(20)))},
        {"{pid}", fmt::format("{}", 1'400'000 + hex(2'000'000))},
        {"{cpu}", fmt::format("{}", hex(96))},
        {"{n}", fmt::format("{}", 1 + hex(9))},
        {"{hex}", fmt::format("{:07x}", 0x1000000 + hex(0xe000000))},
        {"{ip}", fmt::format("172.31.{}.{}", hex(250), 1 + hex(250))},
        {"{mac}", fmt::format("3c:ec:ef:{:02x}:{:02x}:{:02x}", hex(256), hex(256), hex(256))},
    };
  }

  std::string in(std::string_view line) const {
    std::string text(line);
    for (const auto& [name, value] : values)
      for (std::size_t at = text.find(name); at != std::string::npos;
           at = text.find(name, at + value.size()))
        text.replace(at, name.size(), value);
    return text;
  }

  std::vector<std::pair<std::string_view, std::string>> values;
};

// When an entry is printed, counted from the job's beginning.
microseconds moment(Noise noise, Chance& chance) {
  const auto within = [&](std::chrono::seconds from, std::chrono::seconds span) {
    return microseconds(from) + microseconds(static_cast<std::int64_t>(
                                    chance.fraction() * 1e6 * static_cast<double>(span.count())));
  };
  switch (noise) {
    case Noise::hours:
      return within(-12h, 9h);
    case Noise::day:
      return within(-34h, 9h);
    default:
      // Half of the entries while the job runs, some after it.
      return chance.below(2) == 0 ? within(0s, 50s) : within(-2h, 150min);
  }
}

class Noisy {
 public:
  Noisy(const Job& job, int attempt, Plan& plan, int host)
      : job_(job),
        begins_(beginning_of(attempt)),
        plan_(plan),
        host_(Cluster::host_name(host)),
        chance_(chance(job.options.seed, 0x4015e, attempt, host)) {}

  void speak() {
    const Noise noise = job_.options.noise;
    if (noise != Noise::undated && !plan_.hosts.started(host_))
      plan_.hosts.boot(job_.cluster, host_, beginning_of(1) - 40h);
    say_some(catalog().harmless, 12 + chance_.below(20));
    say_some(catalog().frightening, 3 + chance_.below(6));
    if (noise != Noise::today) say_some(catalog().serious, 1 + chance_.below(2));
    if (noise == Noise::undated) write_undated();
  }

 private:
  struct Line {
    microseconds since;
    std::string text;
  };

  void say_some(const std::vector<Entry>& entries, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const Entry& entry = entries[chance_.below(entries.size())];
      const Drawn drawn(chance_);
      microseconds when = moment(job_.options.noise, chance_);
      for (const std::string_view line : entry) {
        when += microseconds(40 + chance_.below(900));
        if (job_.options.noise == Noise::undated)
          undated_.push_back({when, drawn.in(line)});
        else
          plan_.hosts.say(host_, begins_ + when, drawn.in(line));
      }
    }
  }

  // A dmesg without a line that relates its uptime to a date.
  void write_undated() {
    std::ranges::stable_sort(undated_, {}, &Line::since);
    const microseconds up = 3h + microseconds(chance_.below(900'000'000'000));
    std::string& text = plan_.files[host_ + "/dmesg-tail.txt"];
    for (const Line& line : undated_) {
      const std::int64_t us = (up + line.since).count();
      text += fmt::format("[{:>5}.{:06}] {}\n", us / 1'000'000, us % 1'000'000, line.text);
    }
  }

  const Job& job_;
  Timestamp begins_;
  Plan& plan_;
  std::string host_;
  Chance chance_;
  std::vector<Line> undated_;
};

}  // namespace

void add_noise(const Job& job, int attempt, Plan& plan) {
  if (job.options.noise == Noise::none) return;
  constexpr std::uint64_t kMostHosts = 3;
  Chance chance(simulation::chance(job.options.seed, 0x4015e));
  const int hosts = 1 + static_cast<int>(chance.below(kMostHosts));
  const int first = chance.index(job.cluster.hosts());
  for (int i = 0; i < std::min(hosts, job.cluster.hosts()); ++i)
    Noisy(job, attempt, plan, (first + i) % job.cluster.hosts()).speak();
}

}  // namespace faultline::simulation
