#include "rules/knowledge/frames_catalog.h"

#include <fmt/format.h>

#include <algorithm>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/yaml_file.h"

namespace faultline {
namespace {

StackWait wait_of(const YamlFile& file, const YamlNode& node) {
  const std::string text = file.text(node, "waits");
  if (text == "collective") return StackWait::collective;
  if (text == "start") return StackWait::start;
  if (text != "gpu")
    file.place(node).refuse(
        fmt::format("waits \"{}\" is unknown; use collective, start or gpu", text));
  return StackWait::gpu;
}

FrameMeaning meaning_in(const YamlFile& file, const YamlNode& entry,
                        std::vector<std::string>& samples) {
  FrameMeaning meaning;
  const auto read_wait = [&](const YamlNode& node) { meaning.wait = wait_of(file, node); };
  file.read_fields(entry, "an entry",
                   {maybe("waits", read_wait), needed("does", meaning.does),
                    needed("functions", meaning.functions), maybe("files", meaning.files),
                    needed("samples", samples)});
  return meaning;
}

// Each sample must be decided by its own entry.
void try_samples(const YamlFile& file, const YamlNode& entry,
                 const std::vector<std::string>& samples, const FramesCatalog& catalog,
                 std::size_t own) {
  for (const std::string& sample : samples) {
    const FrameMeaning* known = catalog.meaning_of({sample}).known;
    if (known == &catalog.meanings[own]) continue;
    file.place(file.field(entry, "samples"))
        .refuse(fmt::format("sample \"{}\" is {}; correct functions, files or the order of entries",
                            sample,
                            known == nullptr ? std::string("known to no entry")
                                             : fmt::format("taken for \"{}\"", known->does)));
  }
}

}  // namespace

StackFrame frame_of(std::string_view text) {
  // faulthandler: File "/opt/train/dataset.py", line 88 in __getitem__
  constexpr std::string_view kFile = "File \"";
  if (text.starts_with(kFile)) {
    text.remove_prefix(kFile.size());
    const std::size_t end = text.find("\", line ");
    const std::size_t in = end == std::string_view::npos ? end : text.find(" in ", end);
    if (in == std::string_view::npos) return {};
    return {text.substr(in + 4), text.substr(0, end)};
  }
  // py-spy: wait (threading.py:320); gdb: f (arguments) at file.c:12, f () from /lib/libc.so.6
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos) return {text, {}};
  StackFrame frame{text.substr(0, open), text.substr(open + 1)};
  while (frame.function.ends_with(' ')) frame.function.remove_suffix(1);
  for (const std::string_view before : {std::string_view(") at "), std::string_view(") from ")})
    if (const std::size_t at = frame.place.rfind(before); at != std::string_view::npos) {
      frame.place.remove_prefix(at + before.size());
      return frame;
    }
  if (frame.place.ends_with(')')) frame.place.remove_suffix(1);
  return frame;
}

bool FrameMeaning::knows(const StackFrame& frame) const {
  if (!matches_any(functions, frame.function)) return false;
  return files.empty() || std::ranges::any_of(files, [&](const std::string& part) {
           return frame.place.find(part) != std::string_view::npos;
         });
}

StackMeaning FramesCatalog::meaning_of(const std::vector<std::string>& frames) const {
  for (const std::string& text : frames) {
    const StackFrame frame = frame_of(text);
    for (const FrameMeaning& meaning : meanings)
      if (meaning.knows(frame)) return {&meaning, text};
  }
  for (const std::string& text : frames) {
    const StackFrame frame = frame_of(text);
    if (!frame.place.empty() && std::ranges::none_of(libraries, [&](const std::string& part) {
          return frame.place.find(part) != std::string_view::npos;
        }))
      return {nullptr, text};
  }
  return {};
}

FramesCatalog read_frames(std::string_view name, std::string_view text) {
  const YamlFile file(name, text);
  FramesCatalog catalog;
  std::vector<std::vector<std::string>> samples;
  file.read_fields(
      file.root(), "the file",
      {each("frames",
            [&](const YamlNode& entry) {
              catalog.meanings.push_back(meaning_in(file, entry, samples.emplace_back()));
            }),
       needed("libraries", catalog.libraries)});
  const auto entries = file.field(file.root(), "frames").items();
  for (std::size_t i = 0; i < samples.size(); ++i)
    try_samples(file, entries[i], samples[i], catalog, i);
  return catalog;
}

}  // namespace faultline
