#include "rules/answer/host_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "model/pci_address.h"
#include "rules/knowledge/xid_details.h"
#include "rules/state/gpus.h"
#include "rules/state/ports.h"

namespace faultline {
namespace {

class Gathering {
 public:
  Gathering(const JobState& job, const Catalog& catalog) : job_(job), catalog_(catalog) {}

  HostViews all() {
    for (const std::string& host : job_.sources().hosts()) views_[host];
    for (const XidIncident& incident : job_.hardware().xids()) add(incident);
    for (const SwitchIncident& incident : job_.hardware().switch_errors()) add(incident);
    for (const KernelLog& log : job_.kernel_lines().logs()) add(log);
    add_gpus();
    for (const Member& member : job_.progress().members())
      if (member.init && !member.init->gpu.empty() && !member.host.empty())
        gpu_of(views_[member.host], member.init->gpu);
    add_ports();
    return std::move(views_);
  }

 private:
  // nullptr: the host is not known.
  HostView* view_of(const std::string& host) { return host.empty() ? nullptr : &views_[host]; }

  HostView* view_of(const std::string& spoken_host, std::uint32_t source) {
    return view_of(job_.host_of(spoken_host, source));
  }

  HostEvent event_at(std::string kind, const LineRef& first, const LineRef& last) const {
    HostEvent event;
    event.kind = std::move(kind);
    event.first = job_.dated(first).wall();
    event.last = job_.dated(last).wall();
    event.source = job_.sources().at(first.source).source.name;
    event.line = first.line;
    event.offset = first.offset;
    event.text = first.text;
    return event;
  }

  void add(const XidIncident& incident) {
    HostView* view = view_of(incident.spoken_host, incident.source);
    if (view == nullptr) return;
    HostEvent event = event_at(std::string(GpuXid::kKind), incident.first, incident.last);
    event.code = incident.code;
    event.part = incident.gpu;
    event.count = incident.count;
    if (const XidMeaning* meaning = catalog_.xid(incident.code)) {
      XidReading reading =
          read_xid(catalog_, *meaning, incident.details.empty() ? "" : incident.details.front());
      event.cause = reading.cause;
      event.severity = reading.severity;
    }
    view->events.push_back(std::move(event));
    gpu_of(*view, incident.gpu);
  }

  void add(const SwitchIncident& incident) {
    HostView* view = view_of(incident.spoken_host, incident.source);
    if (view == nullptr) return;
    HostEvent event = event_at(std::string(SwitchError::kKind), incident.first, incident.last);
    event.code = incident.code;
    event.part = incident.nvswitch;
    event.count = incident.count;
    if (const XidMeaning* meaning = catalog_.sxid(incident.code)) {
      event.cause = meaning->cause;
      event.severity = meaning->severity;
    }
    view->events.push_back(std::move(event));
  }

  void add(const KernelLog& log) {
    HostView* view = view_of(log.spoken_host, log.source);
    if (view == nullptr) return;
    for (const KernelBoot& boot : log.boots)
      view->events.push_back(event_at(std::string(HostBooted::kKind), boot.line, boot.line));
    for (const KernelText& text : log.texts) {
      const auto match = catalog_.signatures->match(text.remark);
      if (!match || match->signature->weight == Weight::harmless) continue;
      HostEvent event = event_at(std::string(Remark::kKind), text.first().line, text.last().line);
      event.cause = match->signature->cause;
      event.severity = match->signature->severity;
      event.signature = match->signature->id;
      event.part = part_in(match->fields);
      event.count = text.count;
      view->events.push_back(std::move(event));
    }
  }

  using Fields = std::map<std::string, std::string, std::less<>>;
  static std::string part_in(const Fields& fields) {
    for (const char* name : {"pci", "device", "netdev", "bridge"}) {
      const auto field = fields.find(name);
      if (field == fields.end() || field->second.empty()) continue;
      return normal_pci(field->second).value_or(field->second);
    }
    return {};
  }

  HostGpu& gpu_of(HostView& view, const std::string& address) {
    if (address.empty()) return view.gpus.emplace_back();
    const auto [known, is_new] = gpu_places_.try_emplace({&view, address}, view.gpus.size());
    if (is_new) view.gpus.push_back({.gpu = address});
    return view.gpus[known->second];
  }

  void add_gpus() {
    for (const Hardware::Gpu& told : job_.hardware().gpus()) {
      HostView* view = view_of(told.spoken_host, told.source);
      if (view == nullptr) continue;
      HostGpu& gpu = gpu_of(*view, told.gpu);
      if (!told.uuid.empty()) gpu.uuid = told.uuid;  // the last: a board may have been replaced
      if (!told.serial.empty()) gpu.serial = told.serial;
    }
    for (const GpuPart& part : gpus_of(job_)) {
      HostView* view = view_of(part.host);
      if (view == nullptr) continue;
      HostGpu& gpu = gpu_of(*view, part.pci);
      if (gpu.uuid.empty()) gpu.uuid = part.uuid;
      if (gpu.serial.empty()) gpu.serial = part.serial;
      add_counters(part.records, gpu.counters);
    }
  }

  void add_ports() {
    const Ports ports(job_);
    for (const NetworkPort& port : ports.all()) {
      HostView* view = view_of(port.host);
      if (view == nullptr) continue;
      const std::string label = port.label();
      HostPort& shown = view->ports.emplace_back();
      shown.port = label.substr(std::min(label.size(), port.host.size() + 1));
      shown.device = port.device;
      shown.netdev = port.netdev;
      shown.pci = port.pci;
      shown.guid = port.guid;
      add_counters(port.records, shown.counters);
    }
  }

  using SeriesPlaces = std::map<std::tuple<std::string, std::string, std::string>, std::size_t>;

  void add_counters(std::span<const PartRecord* const> records,
                    std::vector<CounterSeries>& counters) const {
    SeriesPlaces places;
    for (std::size_t i = 0; i < counters.size(); ++i)
      places.try_emplace({counters[i].counter, counters[i].tool, counters[i].link}, i);
    for (const PartRecord* record : records)
      for (const PartSeries& values : record->values) {
        const std::string& spelling = job_.parts().text(values.name);
        const CounterMeaning* meaning = catalog_.counters->find(spelling);
        if (meaning == nullptr || meaning->gauge) continue;
        add_readings(*record, spelling, *meaning, values, places, counters);
      }
  }

  void add_readings(const PartRecord& record, const std::string& spelling,
                    const CounterMeaning& meaning, const PartSeries& values, SeriesPlaces& places,
                    std::vector<CounterSeries>& counters) const {
    const bool is_one_of_many = meaning.name.find('#') != std::string::npos;
    const std::string& name = is_one_of_many ? spelling : meaning.name;
    const std::string link =
        record.kind == "nvlink" ? std::string(record.name("link")) : std::string();
    const auto [known, is_new] = places.try_emplace({name, record.tool, link}, counters.size());
    if (is_new) counters.push_back({.counter = name, .tool = record.tool, .link = link});
    CounterSeries& series = counters[known->second];
    if (is_new) {
      const CounterWidth width = catalog_.counters->width_of(meaning, record.tool);
      if (meaning.of != nullptr) series.cause = meaning.of->finding;
      if (width.saturates || width.open) series.full_at = width.most;
    }
    for (const PartSample& sample : values.samples)
      if (const auto value = number_in(sample.value))
        series.readings.push_back({*value, sample.line->time.wall()});
  }

  static std::optional<std::uint64_t> number_in(std::string_view text) {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
    return value;
  }

  const JobState& job_;
  const Catalog& catalog_;
  HostViews views_;
  std::map<std::pair<const HostView*, std::string>, std::size_t> gpu_places_;  // that have a name
};

}  // namespace

HostViews hosts_of(const JobState& job, const Catalog& catalog) {
  return Gathering(job, catalog).all();
}

}  // namespace faultline
