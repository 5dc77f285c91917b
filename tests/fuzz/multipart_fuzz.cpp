// Any body as multipart/form-data, cut anywhere: the same parts with the same bytes, or the same
// error. The first byte says how it is cut, the next few are the boundary.
#include "http/multipart.h"

#include <algorithm>
#include <vector>

#include "oracle.h"

namespace {

using namespace faultline;

struct HeardParts : PartVisitor {
  std::vector<std::pair<std::string, std::string>> parts;
  std::string error;
  bool open = false;

  void open_part(std::string_view filename) override {
    require(!open, "a part ends before the next begins");
    require(!filename.empty(), "a part has a name");
    parts.emplace_back(filename, "");
    open = true;
  }
  void part_bytes(std::string_view piece) override {
    require(open, "bytes belong to a part");
    parts.back().second += piece;
  }
  void close_part() override {
    require(open, "only what is open is closed");
    open = false;
  }
};

HeardParts read(std::string_view boundary, std::string_view body, std::size_t piece) {
  HeardParts parts;
  MultipartParser parser(boundary, parts);
  Result<void> outcome;
  for (; outcome && !body.empty(); body.remove_prefix(std::min(piece, body.size())))
    outcome = parser.feed(std::string(body.substr(0, piece)));
  if (outcome) outcome = parser.finish();
  if (!outcome)
    parts.error = outcome.error().message;
  else
    require(!parts.open, "a body that is whole leaves no part open");
  return parts;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::size_t piece = std::size_t{1} + input.byte() % 64;
  const std::string_view line = input.text();
  (void)multipart_boundary(line);
  (void)disposed_filename(line);
  const std::string boundary(line.substr(0, 70));
  if (boundary.empty()) return 0;
  const HeardParts whole = read(boundary, input.rest(), std::max<std::size_t>(1, size));
  const HeardParts pieces = read(boundary, input.rest(), piece);
  require(whole.error == pieces.error, "the same complaint however it is cut");
  require(whole.parts == pieces.parts, "the same parts however they are cut");
  return 0;
}
