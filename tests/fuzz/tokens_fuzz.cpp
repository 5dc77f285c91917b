// Any text as a file of tokens: what is read, written again, is read the same, and no text of the
// file opens anything. Any text as the Authorization header: its secret is a part of it.
#include "http/tokens.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/access.h"
#include "oracle.h"

namespace {

using namespace faultline;

void read_file(std::string_view text) {
  const auto tokens = Tokens::parse(text);
  if (!tokens.has_value()) {
    require(!tokens.error().message.empty(), "a file that is refused is told why");
    return;
  }
  std::string again;
  for (const Token& token : tokens->all()) again += line_of(token) + "\n";
  const auto read = Tokens::parse(again);
  require(read.has_value() && read->size() == tokens->size(), "tokens written again are as many");
  for (std::size_t i = 0; i < tokens->size(); ++i)
    require(line_of(read->all()[i]) == line_of(tokens->all()[i]), "and are the same");
  require(tokens->with_secret(text) == nullptr, "what stands in the file opens nothing");
}

void read_header(std::string_view text) {
  Request request;
  for (const std::string_view scheme : {"", "Bearer ", "Basic "}) {
    request.headers = {{"Authorization", std::string(scheme) + std::string(text)}};
    require(secret_of(request).size() <= text.size(), "a secret is a part of the header");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_file(text);
  read_header(text);
  return 0;
}
