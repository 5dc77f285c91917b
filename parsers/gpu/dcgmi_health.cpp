#include "parsers/gpu/dcgmi_health.h"

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

bool is_rule(std::string_view text) {
  return text.size() > 2 && text.find_first_not_of("+-=|") == std::string_view::npos;
}

class Health : public PartDocument {
 public:
  Health() : PartDocument("dcgmi-health") {}

 private:
  enum Stage { kHead, kRows };
  enum Word { kEntity, kSystem, kMessage, kWords };

  Line read(std::string_view text) override {
    text = trimmed(text);
    if (text == "Error: Health watches not enabled. Please enable watches.") {
      open("host").value("error", text);
      return Line::last;
    }
    if (is_rule(text)) return stage_ == kRows && text.front() == '+' ? Line::last : Line::part;
    auto cells = cells_of(text);
    if (cells.size() == 1 && cells[0].starts_with("Overall Health:"))  // 1.x
      cells = pieces_of(cells[0], ":", 2);
    if (cells.size() == 1 && cells[0] == "Health Monitor Report") {
      end();
      give_all();
      stage_ = kHead;
      words_.clear();
      return Line::part;
    }
    if (cells.size() != 2) return Line::foreign;
    stage_ = kRows;
    words_.resize(kWords);
    read_row(cells[0], cells[1]);
    return Line::part;
  }

  void end() override { tell_message(); }

  void read_row(std::string_view name, std::string_view text) {
    if (name.empty()) {
      std::string& message = words_[kMessage];
      append(message, message.empty() ? "" : " ");
      append(message, text);
      return;
    }
    tell_message();
    words_[kSystem].clear();
    if (name == "Overall Health") {
      open("host").value(name, text);
    } else if (!take_front(name, "-> ")) {
      set(kEntity, name);  // GPU, NvSwitch: the kind of the parts that follow
    } else if (is_count(trimmed(name)) && words_[kEntity] == "GPU") {
      OpenPart& gpu = open("gpu");
      gpu.name("index", trimmed(name));
      gpu.value("Overall Health", text);
    } else if (is_count(trimmed(name))) {
      OpenPart& part = open("other");
      part.name("entity", words_[kEntity]);
      part.name("index", trimmed(name));
      part.value("Overall Health", text);
    } else if (!text.empty() && last() != nullptr) {
      const HealthValue value = health_value(text);
      set(kSystem, name);
      last()->value(name, value.result);
      set(kMessage, value.message);
    }
  }

  void set(Word word, std::string_view text) {
    words_[word].clear();
    append(words_[word], text);
  }

  void tell_message() {
    if (words_.size() < kWords || words_[kMessage].empty()) return;
    if (!words_[kSystem].empty() && last() != nullptr)
      last()->value(words_[kSystem] + " / message", words_[kMessage]);
    words_[kMessage].clear();
  }
};

}  // namespace

HealthValue health_value(std::string_view text) {
  for (const std::string_view result : {"Healthy", "Warning", "Failure"})
    if (text.starts_with(result)) return {result, trimmed(text.substr(result.size()))};
  return {text, {}};
}

bool begins_dcgmi_health(std::string_view text) {
  text.remove_prefix(indentation(text));
  return text.starts_with("| Health Monitor Report ") ||
         text.starts_with("Error: Health watches not enabled.");
}

std::unique_ptr<Document> make_dcgmi_health() { return std::make_unique<Health>(); }

}  // namespace faultline
