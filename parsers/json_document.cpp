#include "parsers/json_document.h"

#include <algorithm>

#include "parsers/ncclras_json.h"

namespace faultline {
namespace {

struct JsonDialect {
  std::string_view name;
  bool (*has_first_key)(std::string_view key);
  std::unique_ptr<JsonReport> (*create)();
};

constexpr JsonDialect kDialects[] = {
    {"ncclras", begins_ncclras_status, make_ncclras_status},
    {"ncclras", begins_ncclras_event, make_ncclras_event},
};

const JsonDialect* dialect_of(std::string_view first_key) {
  const auto* found = std::ranges::find_if(
      kDialects, [&](const JsonDialect& dialect) { return dialect.has_first_key(first_key); });
  return found == std::end(kDialects) ? nullptr : found;
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

class JsonDocument : public Document, private JsonSink {
 public:
  Line feed(const DocumentLine& line, std::vector<DocumentReading>& readings) override {
    const std::size_t before = readings.size();
    line_ = line;
    readings_ = &readings;
    aim();
    const JsonWalker::State state = walker_.read(line.text, *this);
    readings_ = nullptr;
    aim();
    const bool mine = report_ && report_->sense() == JsonReport::Sense::mine;
    if (state == JsonWalker::State::complete && mine) return Line::last;
    if (state == JsonWalker::State::inside && !refused()) return Line::part;
    readings.resize(before);
    return Line::after;
  }

  std::string_view dialect() const override {
    return report_ && report_->sense() == JsonReport::Sense::mine ? dialect_->name
                                                                  : std::string_view();
  }

  std::size_t size() const override { return walker_.size() + (report_ ? report_->size() : 0); }

  void save(SavedBytesWriter& saved) const override {
    walker_.save(saved);
    saved.number(report_ ? dialect_ - kDialects : -1);
    if (report_) report_->save(saved);
  }

  void restore(SavedBytesReader& saved) override {
    walker_.restore(saved);
    const std::int64_t dialect = saved.number();
    if (dialect < 0 || dialect >= std::ssize(kDialects)) return;
    dialect_ = &kDialects[dialect];
    report_ = dialect_->create();
    report_->restore(saved);
  }

 private:
  void key(std::string_view path) override {
    if (!report_ && !unknown_) {
      dialect_ = dialect_of(path);
      unknown_ = dialect_ == nullptr;
      if (dialect_) report_ = dialect_->create();
      aim();
    }
    if (report_) report_->key(path);
  }
  void value(std::string_view path, const JsonValue& value) override {
    if (report_) report_->value(path, value);
  }
  void closed_object(std::string_view path) override {
    if (report_) report_->closed_object(path);
  }

  bool refused() const {
    return unknown_ || (report_ && report_->sense() == JsonReport::Sense::not_mine);
  }
  void aim() {
    if (!report_) return;
    report_->line = line_;
    report_->readings = readings_;
  }

  JsonWalker walker_;
  const JsonDialect* dialect_ = nullptr;
  std::unique_ptr<JsonReport> report_;
  bool unknown_ = false;
  DocumentLine line_;
  std::vector<DocumentReading>* readings_ = nullptr;
};

}  // namespace

bool begins_json_document(std::string_view text) {
  text = without_blanks(text);
  if (!text.starts_with('{')) return false;
  text = without_blanks(text.substr(1));
  if (text.empty()) return true;
  if (!text.starts_with('"')) return false;
  const std::string_view key = text.substr(1, text.find('"', 1) - 1);
  return dialect_of(key) != nullptr;
}

std::unique_ptr<Document> make_json_document() { return std::make_unique<JsonDocument>(); }

}  // namespace faultline
