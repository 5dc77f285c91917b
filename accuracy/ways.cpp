#include "accuracy/ways.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "model/handover.h"
#include "simulate/chance.h"

namespace faultline::accuracy {
namespace {

// gpu-node-3/nccl.log -> gpu-node-3; empty: the file belongs to no host.
std::string host_in(const std::string& name) {
  const std::size_t slash = name.find('/');
  return slash == std::string::npos ? std::string() : name.substr(0, slash);
}

std::string query_of_host(const std::string& name) {
  const std::string host = host_in(name);
  return host.empty() ? std::string() : "&host=" + percent_encoded(host);
}

std::string query_of_file(const std::string& name) {
  return query_of_host(name) + "&source=" + percent_encoded(name);
}

std::string tar_of(const Files& files) {
  constexpr std::size_t kBlock = 512;
  std::string archive;
  for (const auto& [name, text] : files) {
    std::array<char, kBlock> head{};
    const auto put = [&](std::size_t at, std::string_view value) {
      std::memcpy(head.data() + at, value.data(), value.size());
    };
    put(0, name);
    put(100, "0000644");
    put(108, "0000000");
    put(116, "0000000");
    put(124, fmt::format("{:011o}", text.size()));
    put(136, "00000000000");
    put(148, "        ");
    put(156, "0");
    put(257, std::string_view("ustar\00000", 8));
    unsigned sum = 0;
    for (const char c : head) sum += static_cast<unsigned char>(c);
    put(148, fmt::format("{:06o}", sum));
    head[154] = '\0';
    archive.append(head.data(), head.size());
    archive += text;
    archive.append((kBlock - text.size() % kBlock) % kBlock, '\0');
  }
  archive.append(2 * kBlock, '\0');
  return archive;
}

std::string gzip_of(const std::string& text) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib does not start");
  std::string packed(deflateBound(&stream, text.size()), '\0');
  std::string input = text;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// False for a dump or a profile: a part of one means nothing, and no container prints one.
bool is_log(std::string_view bytes) {
  return bytes.find('\0') == std::string_view::npos && !bytes.starts_with('{');
}

constexpr std::string_view kBoundary = "------------------------a-boundary";

std::string form_of(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string body;
  for (const auto& [name, text] : files)
    body += fmt::format(
        "--{}\r\nContent-Disposition: form-data; name=\"f\"; filename=\"{}\"\r\n"
        "Content-Type: application/octet-stream\r\n\r\n{}\r\n",
        kBoundary, name, text);
  return body + fmt::format("--{}--\r\n", kBoundary);
}

std::vector<Sending> forms_of(const Files& files) {
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> by_host;
  for (const auto& [name, text] : files)
    by_host[host_in(name)].emplace_back(name.substr(name.rfind('/') + 1), text);
  std::vector<Sending> all;
  for (const auto& [host, its] : by_host)
    all.push_back({.query = host.empty() ? std::string() : "&host=" + percent_encoded(host),
                   .body = form_of(its),
                   .type = fmt::format("multipart/form-data; boundary={}", kBoundary),
                   .encoding = ""});
  return all;
}

Sending named(const std::string& name, std::string text) {
  return {.query = query_of_file(name), .body = std::move(text), .type = "", .encoding = ""};
}

// The halves of a text; the cut is usually inside a line.
std::pair<std::string, std::string> halves(const std::string& text) {
  const std::size_t half = text.size() / 2;
  return {text.substr(0, half), text.substr(half)};
}

std::vector<Sending> last_in_two(const Files& files, std::uint64_t seed) {
  std::vector<Sending> all;
  std::size_t late = simulation::chance(seed, 7) % files.size();
  const auto is_log_at = [&](std::size_t at) {
    return is_log(std::next(files.begin(), static_cast<std::ptrdiff_t>(at))->second);
  };
  for (std::size_t tries = 0; tries < files.size() && !is_log_at(late); ++tries)
    late = (late + 1) % files.size();
  Sending first;
  Sending second;
  std::size_t number = 0;
  for (const auto& [name, text] : files) {
    if (number++ != late) {
      all.push_back(named(name, text));
      continue;
    }
    auto [begin, rest] = halves(text);
    first = named(name, begin);
    second = named(name, rest);
    first.query += "&offset=0";
    second.query += fmt::format("&offset={}", begin.size());
  }
  all.push_back(std::move(first));
  all.push_back(std::move(second));
  return all;
}

std::vector<Sending> streams_of(const Files& files, std::uint64_t seed) {
  constexpr std::size_t kPieces = 4;
  struct Open {
    const std::string* name;
    const std::string* text;
    std::size_t sent = 0;
    bool done = false;
  };
  std::vector<Open> open;
  for (const auto& [name, text] : files) open.push_back({&name, &text});
  simulation::Chance chance(seed);
  std::vector<Sending> all;
  for (std::size_t left = open.size(); left > 0;) {
    const auto which = static_cast<std::size_t>(chance.below(open.size()));
    Open& one = open[which];
    if (one.done) continue;
    const std::size_t size = std::min(one.text->size() - one.sent, one.text->size() / kPieces + 1);
    Sending piece = named(*one.name, one.text->substr(one.sent, size));
    one.sent += size;
    piece.stream = static_cast<int>(which);
    piece.ends_stream = one.done = one.sent == one.text->size();
    if (one.done) --left;
    all.push_back(std::move(piece));
  }
  return all;
}

}  // namespace

std::string_view name_of(Way way) {
  constexpr std::string_view kNames[] = {
      "one archive", "posts of a host", "named posts", "forms",   "streams",      "last file first",
      "one in two",  "compressed",      "twice",       "kill -9", "Docker's JSON"};
  return kNames[static_cast<std::size_t>(way)];
}

std::vector<Sending> sendings(Way way, const Files& files, std::uint64_t seed) {
  std::vector<Sending> all;
  switch (way) {
    case Way::tar:
      return {{.query = "&source=job.tar", .body = tar_of(files), .type = "", .encoding = ""}};
    case Way::form:
      return forms_of(files);
    case Way::streams:
      return streams_of(files, seed);
    case Way::last_in_two:
      return last_in_two(files, seed);
    default:
      break;
  }
  for (const auto& [name, text] : files) {
    Sending one = named(name, text);
    if (way == Way::posts) one.query = query_of_host(name);
    if (way == Way::compressed) {
      one.body = gzip_of(text);
      one.encoding = "gzip";
    }
    one.kill_before = way == Way::killed && all.size() == files.size() / 2;
    if (way == Way::twice) all.push_back(one);
    all.push_back(std::move(one));
  }
  if (way == Way::reversed) std::ranges::reverse(all);
  return all;
}

}  // namespace faultline::accuracy
