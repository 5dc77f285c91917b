#include "service/packed_hosts.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "model/saved_bytes.h"
#include "store/compressed.h"

namespace faultline {
namespace {

// Most jobs have few hosts, which are not worth the time: lists of hosts unpack all jobs.
constexpr std::size_t kSmall = std::size_t{16} << 10;
constexpr char kPlain = 'p';
constexpr char kCompressed = 'z';

// One description of each structure serves both ways: a Packer or an Unpacker is shown each member.
class Packer {
 public:
  static constexpr bool kWrites = true;

  template <class Number>
  void number(const Number& value) {
    bytes_.number(static_cast<std::int64_t>(value));
  }
  void text(const std::string& value) { bytes_.text(value); }
  void time(const Timestamp& value) { bytes_.number(value.time_since_epoch().count()); }

  std::string take() { return bytes_.take(); }

 private:
  SavedBytesWriter bytes_;
};

class Unpacker {
 public:
  static constexpr bool kWrites = false;

  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}

  template <class Number>
  void number(Number& value) {
    value = static_cast<Number>(bytes_.number());
  }
  void text(std::string& value) { value = bytes_.text(); }
  void time(Timestamp& value) { value = Timestamp(Timestamp::duration(bytes_.number())); }

 private:
  SavedBytesReader bytes_;
};

template <class Bytes, class Optional, class Show>
void show_optional(Bytes& bytes, Optional& value, Show show) {
  bool has = value.has_value();
  bytes.number(has);
  if constexpr (!Bytes::kWrites) {
    if (has) value.emplace();
  }
  if (has) show(*value);
}

template <class Bytes, class Items>
void show_all(Bytes& bytes, Items& items);

template <class Bytes, class Event>
  requires std::is_same_v<std::remove_const_t<Event>, HostEvent>
void show(Bytes& bytes, Event& event) {
  bytes.text(event.kind);
  bytes.number(event.cause);
  show_optional(bytes, event.severity, [&](auto& value) { bytes.number(value); });
  show_optional(bytes, event.code, [&](auto& value) { bytes.number(value); });
  bytes.text(event.signature);
  bytes.text(event.part);
  bytes.number(event.count);
  show_optional(bytes, event.first, [&](auto& value) { bytes.time(value); });
  show_optional(bytes, event.last, [&](auto& value) { bytes.time(value); });
  bytes.text(event.source);
  bytes.number(event.line);
  bytes.number(event.offset);
  bytes.text(event.text);
}

template <class Bytes, class Reading>
  requires std::is_same_v<std::remove_const_t<Reading>, CounterReading>
void show(Bytes& bytes, Reading& reading) {
  bytes.number(reading.value);
  show_optional(bytes, reading.time, [&](auto& value) { bytes.time(value); });
}

template <class Bytes, class Series>
  requires std::is_same_v<std::remove_const_t<Series>, CounterSeries>
void show(Bytes& bytes, Series& series) {
  bytes.text(series.counter);
  bytes.text(series.tool);
  bytes.number(series.cause);
  bytes.text(series.link);
  show_optional(bytes, series.full_at, [&](auto& value) { bytes.number(value); });
  show_all(bytes, series.readings);
}

template <class Bytes, class Gpu>
  requires std::is_same_v<std::remove_const_t<Gpu>, HostGpu>
void show(Bytes& bytes, Gpu& gpu) {
  bytes.text(gpu.gpu);
  bytes.text(gpu.uuid);
  bytes.text(gpu.serial);
  show_all(bytes, gpu.counters);
}

template <class Bytes, class Port>
  requires std::is_same_v<std::remove_const_t<Port>, HostPort>
void show(Bytes& bytes, Port& port) {
  bytes.text(port.port);
  bytes.text(port.device);
  bytes.text(port.netdev);
  bytes.text(port.pci);
  bytes.text(port.guid);
  show_all(bytes, port.counters);
}

template <class Bytes, class View>
  requires std::is_same_v<std::remove_const_t<View>, HostView>
void show(Bytes& bytes, View& view) {
  show_all(bytes, view.events);
  show_all(bytes, view.gpus);
  show_all(bytes, view.ports);
}

template <class Bytes, class Items>
void show_all(Bytes& bytes, Items& items) {
  std::size_t count = items.size();
  bytes.number(count);
  if constexpr (!Bytes::kWrites) items.resize(count);
  for (auto& item : items) show(bytes, item);
}

}  // namespace

std::string packed(const HostViews& hosts) {
  Packer bytes;
  bytes.number(hosts.size());
  for (const auto& [name, view] : hosts) {
    bytes.text(name);
    show(bytes, view);
  }
  const std::string all = bytes.take();
  std::string packed = all.size() < kSmall ? kPlain + all : kCompressed + compressed(all);
  packed.shrink_to_fit();
  return packed;
}

HostViews unpacked_hosts(std::string_view packed) {
  const bool is_plain = packed.front() == kPlain;
  packed.remove_prefix(1);
  std::string whole;
  if (!is_plain) {
    Result<std::string> read = decompressed(packed, SIZE_MAX);
    if (!read) throw std::runtime_error(read.error().message);
    whole = *std::move(read);
    packed = whole;
  }
  HostViews hosts;
  Unpacker bytes(packed);
  std::size_t count = 0;
  bytes.number(count);
  for (; count > 0; --count) {
    std::string name;
    bytes.text(name);
    show(bytes, hosts[std::move(name)]);
  }
  return hosts;
}

}  // namespace faultline
