#include "store/log_check.h"

#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace faultline {
namespace {

// The form of a log: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
constexpr std::size_t kHeaderBytes = 32;
constexpr std::size_t kFrameHeaderBytes = 24;
constexpr std::uint32_t kMagic = 0x377f0682;  // or with its lowest bit set

std::uint32_t number_at(const char* bytes) {
  std::uint32_t number = 0;
  for (int i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

struct Sum {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  bool operator==(const Sum&) const = default;
};

Sum sum_at(const char* bytes) { return {number_at(bytes), number_at(bytes + 4)}; }

class Summing {
 public:
  Summing(Sum from, bool big_endian) : sum_(from), big_endian_(big_endian) {}

  void add(const char* bytes, std::size_t count) {
    for (std::size_t i = 0; i + 8 <= count; i += 8) {
      sum_.first += word(bytes + i) + sum_.second;
      sum_.second += word(bytes + i + 4) + sum_.first;
    }
  }

  Sum sum() const { return sum_; }

 private:
  std::uint32_t word(const char* bytes) const {
    const std::uint32_t number = number_at(bytes);
    return big_endian_ ? number : __builtin_bswap32(number);
  }

  Sum sum_;
  bool big_endian_;
};

struct Header {
  bool big_endian = false;
  std::size_t page_bytes = 0;
  Sum salt;
  Sum sum;  // as stored
  bool sound = false;
};

Header header_in(const std::array<char, kHeaderBytes>& bytes) {
  Header header{.big_endian = (number_at(bytes.data()) & 1U) != 0,
                .page_bytes = number_at(&bytes[8]),
                .salt = sum_at(&bytes[16]),
                .sum = sum_at(&bytes[24])};
  Summing summing({}, header.big_endian);
  summing.add(bytes.data(), 24);
  header.sound = (number_at(bytes.data()) & ~1U) == kMagic && summing.sum() == header.sum;
  return header;
}

bool is_page_size(std::size_t bytes) {
  return bytes >= 512 && bytes <= 65536 && (bytes & (bytes - 1)) == 0;
}

}  // namespace

// The sum of a frame continues the sum that is stored in the frame before. So a frame can be
// checked even if it lies behind a damaged one.
bool is_more_behind_the_end_of_log(const std::filesystem::path& database) {
  std::ifstream log(database.string() + "-wal", std::ios::binary);
  std::array<char, kHeaderBytes> first{};
  if (!log.read(first.data(), first.size())) return false;
  const Header header = header_in(first);
  if (!is_page_size(header.page_bytes)) return log.peek() != std::ifstream::traits_type::eof();

  Sum before = header.sum;
  bool ended = !header.sound;
  std::vector<char> frame(kFrameHeaderBytes + header.page_bytes);
  while (log.read(frame.data(), static_cast<std::streamsize>(frame.size()))) {
    Summing summing(before, header.big_endian);
    summing.add(frame.data(), 8);
    summing.add(&frame[kFrameHeaderBytes], header.page_bytes);
    before = sum_at(&frame[16]);
    const bool whole = sum_at(&frame[8]) == header.salt && summing.sum() == before;
    const bool commits = number_at(&frame[4]) != 0;
    if (ended && whole && commits) return true;
    ended |= !whole;
  }
  return false;
}

}  // namespace faultline
