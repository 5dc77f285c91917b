#include "http/multipart.h"

#include <fmt/format.h>

#include <algorithm>

#include "http/message.h"

namespace faultline {
namespace {

Error malformed(std::string_view what) {
  return {Error::Kind::invalid_input,
          fmt::format("the multipart/form-data body is malformed: {}", what)};
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The value of `name=` among ;-separated parameters; quoted ones may escape with a backslash.
std::optional<std::string> parameter_of(std::string_view header, std::string_view name) {
  std::size_t at = header.find(';');
  while (at != std::string_view::npos && at < header.size()) {
    ++at;  // the semicolon
    const std::size_t equals = header.find_first_of("=;", at);
    if (equals == std::string_view::npos) return std::nullopt;
    if (header[equals] == ';') {
      at = equals;
      continue;
    }
    const bool wanted = equal_ignoring_case(without_blanks(header.substr(at, equals - at)), name);
    std::string value;
    at = equals + 1;
    if (at < header.size() && header[at] == '"') {
      for (++at; at < header.size() && header[at] != '"'; ++at) {
        if (header[at] == '\\' && at + 1 < header.size()) ++at;
        value += header[at];
      }
      at = header.find(';', at);
    } else {
      const std::size_t end = std::min(header.find(';', at), header.size());
      value = without_blanks(header.substr(at, end - at));
      at = end;
    }
    if (wanted) return value;
  }
  return std::nullopt;
}

}  // namespace

bool is_multipart(std::string_view content_type) {
  return equal_ignoring_case(without_blanks(content_type.substr(0, content_type.find(';'))),
                             "multipart/form-data");
}

std::optional<std::string> multipart_boundary(std::string_view content_type) {
  if (!is_multipart(content_type)) return std::nullopt;
  std::optional<std::string> boundary = parameter_of(content_type, "boundary");
  if (!boundary || boundary->empty() || boundary->size() > 70) return std::nullopt;
  return boundary;
}

std::optional<std::string> disposed_filename(std::string_view disposition) {
  std::optional<std::string> name = parameter_of(disposition, "filename");
  return name && !name->empty() ? name : std::nullopt;
}

// The body is read as if a line break stood before it, so that the first boundary looks like all
// others.
MultipartParser::MultipartParser(std::string_view boundary, PartVisitor& visitor)
    : delimiter_("\r\n--" + std::string(boundary)), visitor_(visitor), buffer_("\r\n") {}

Result<void> MultipartParser::feed(std::string_view bytes) {
  if (place_ == Place::done) return {};  // the epilogue is ignored
  buffer_.append(bytes);
  Result<void> outcome;
  while (step(outcome)) {
  }
  buffer_.erase(0, at_);
  at_ = 0;
  return outcome;
}

// One step forward through the buffer; false when more bytes are needed or an error was met.
bool MultipartParser::step(Result<void>& outcome) {
  const std::string_view text = std::string_view(buffer_).substr(at_);
  switch (place_) {
    case Place::before:
    case Place::part_body: {
      const std::size_t found = text.find(delimiter_);
      const bool here = found != std::string_view::npos;
      // The last bytes may be the beginning of a delimiter.
      const std::size_t sure =
          here ? found : text.size() - std::min(text.size(), delimiter_.size() - 1);
      if (place_ == Place::part_body && sure > 0) visitor_.part_bytes(text.substr(0, sure));
      if (here && place_ == Place::part_body) visitor_.close_part();
      if (here) place_ = Place::after_boundary;
      at_ += here ? found + delimiter_.size() : sure;
      return here;
    }
    case Place::after_boundary: {
      if (text.size() < 2) return false;
      if (text.substr(0, 2) == "--") {
        place_ = Place::done;
        return false;
      }
      const std::size_t line_end = text.find("\r\n");
      if (line_end == std::string_view::npos && text.size() < kMaxPartHeaderBytes) return false;
      if (line_end == std::string_view::npos || !without_blanks(text.substr(0, line_end)).empty()) {
        outcome = malformed("text follows a boundary on its line");
        return false;
      }
      // Its line break stays, so that the end of the headers is a blank line even if there are
      // none.
      at_ += line_end;
      place_ = Place::part_headers;
      return true;
    }
    case Place::part_headers: {
      const std::size_t end = text.find("\r\n\r\n");
      if (end == std::string_view::npos ? text.size() > kMaxPartHeaderBytes
                                        : end > kMaxPartHeaderBytes) {
        outcome = malformed("a part's headers are longer than 16 KiB");
        return false;
      }
      if (end == std::string_view::npos) return false;
      outcome = open_part(text.substr(0, end));
      if (!outcome) return false;
      at_ += end + 4;
      place_ = Place::part_body;
      return true;
    }
    case Place::done:
      return false;
  }
  return false;
}

Result<void> MultipartParser::open_part(std::string_view headers) {
  while (!headers.empty()) {
    const std::string_view line = headers.substr(0, headers.find("\r\n"));
    headers.remove_prefix(std::min(headers.size(), line.size() + 2));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos ||
        !equal_ignoring_case(line.substr(0, colon), "content-disposition"))
      continue;
    const std::string_view value = line.substr(colon + 1);
    std::optional<std::string> name = disposed_filename(value);
    if (!name) name = parameter_of(value, "name");
    if (!name || name->empty()) break;
    visitor_.open_part(*name);
    return {};
  }
  return malformed("a part has no Content-Disposition that names it");
}

Result<void> MultipartParser::finish() {
  if (place_ == Place::done) return {};
  if (place_ == Place::part_body) {
    visitor_.part_bytes(buffer_);
    visitor_.close_part();
  }
  place_ = Place::done;
  return malformed("it ends before its closing boundary");
}

}  // namespace faultline
