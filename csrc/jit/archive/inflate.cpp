#include "jit/archive/inflate.h"

#include <array>
#include <span>
#include <vector>

#include "taeda/core/error.h"

namespace taeda::jit {

namespace {

constexpr size_t kMostBits = 15;  // of a symbol

[[noreturn]] void damaged() { TAEDA_FAIL(Runtime, "the archive is damaged: a record cannot be decompressed"); }

// Symbols by their bits: the codes of one length follow each other, those of a greater length come after.
struct Code {
  std::array<size_t, kMostBits + 1> counts{};  // by length
  std::vector<uint16_t> symbols;               // by length, then value
};

Code code_of(std::span<const uint8_t> lengths) {
  Code code;
  for (size_t length = 1; length <= kMostBits; ++length)
    for (size_t symbol = 0; symbol < lengths.size(); ++symbol)
      if (lengths[symbol] == length) {
        ++code.counts[length];
        code.symbols.push_back(static_cast<uint16_t>(symbol));
      }
  size_t free = 1;  // codes of this length that no shorter one begins
  for (size_t length = 1; length <= kMostBits; ++length) {
    free *= 2;
    if (code.counts[length] > free) damaged();
    free -= code.counts[length];
  }
  return code;
}

// Lengths and distances of what is repeated: a base, and so many bits to be added.
struct Range {
  uint16_t base;
  uint8_t bits;
};
template <size_t n>
constexpr std::array<Range, n> make_ranges(size_t base, size_t plain) {
  std::array<Range, n> ranges{};
  for (size_t i = 0; i < n; ++i) {
    const size_t bits = i < 2 * plain ? 0 : i / plain - 1;
    ranges[i] = {static_cast<uint16_t>(base), static_cast<uint8_t>(bits)};
    base += size_t{1} << bits;
  }
  return ranges;
}
constexpr auto kLengths = [] {
  auto ranges = make_ranges<29>(3, 4);
  ranges[28] = {258, 0};
  return ranges;
}();
constexpr auto kDistances = make_ranges<30>(1, 2);

class Inflater {
 public:
  Inflater(std::string_view packed, size_t size) : packed_(packed), size_(size) {}

  std::string run() {
    for (bool last = false; !last;) {
      last = bits(1);
      switch (bits(2)) {
        case 0:
          stored();
          break;
        case 1:
          fixed();
          break;
        case 2:
          described();
          break;
        default:
          damaged();
      }
    }
    if (out_.size() != size_) damaged();
    return std::move(out_);
  }

 private:
  size_t bits(size_t count) {
    for (; held_ < count; held_ += 8) {
      if (at_ == packed_.size()) damaged();
      buffer_ |= static_cast<uint32_t>(static_cast<unsigned char>(packed_[at_++])) << held_;
    }
    const size_t value = buffer_ & ((uint32_t{1} << count) - 1);
    buffer_ >>= count;
    held_ -= count;
    return value;
  }
  size_t symbol(const Code& code) {
    size_t value = 0, first = 0, before = 0;  // the first code of this length; symbols of shorter ones
    for (size_t length = 1; length <= kMostBits; ++length) {
      value |= bits(1);
      if (value < first + code.counts[length]) return code.symbols[before + value - first];
      before += code.counts[length];
      first = (first + code.counts[length]) * 2;
      value *= 2;
    }
    damaged();
  }

  void stored() {
    buffer_ = 0, held_ = 0;  // up to a whole byte
    const size_t count = bits(16);
    if ((bits(16) ^ count) != 0xffff || packed_.size() - at_ < count || size_ - out_.size() < count) damaged();
    out_ += packed_.substr(at_, count);
    at_ += count;
  }
  void fixed() {
    std::array<uint8_t, 288> lengths{};
    for (size_t i = 0; i < lengths.size(); ++i)
      lengths[i] = static_cast<uint8_t>(i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
    std::array<uint8_t, 30> distances{};
    distances.fill(5);
    block(code_of(lengths), code_of(distances));
  }
  void described() {
    const size_t literals = bits(5) + 257, distances = bits(5) + 1, count = bits(4) + 4;
    constexpr uint8_t kOrder[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    std::array<uint8_t, 19> own{};
    for (size_t i = 0; i < count; ++i) own[kOrder[i]] = static_cast<uint8_t>(bits(3));
    const Code code = code_of(own);
    std::vector<uint8_t> lengths;
    while (lengths.size() < literals + distances) {
      const size_t what = symbol(code);
      if (what < 16) {
        lengths.push_back(static_cast<uint8_t>(what));
        continue;
      }
      if (what == 16 && lengths.empty()) damaged();
      const uint8_t repeated = what == 16 ? lengths.back() : 0;
      lengths.insert(lengths.end(), what == 16 ? 3 + bits(2) : what == 17 ? 3 + bits(3) : 11 + bits(7), repeated);
    }
    if (lengths.size() != literals + distances) damaged();
    const std::span all(lengths);
    block(code_of(all.first(literals)), code_of(all.subspan(literals)));
  }
  void block(const Code& literals, const Code& distances) {
    while (true) {
      const size_t what = symbol(literals);
      if (what == 256) return;
      if (what < 256) {
        if (out_.size() == size_) damaged();
        out_ += static_cast<char>(what);
        continue;
      }
      const size_t length = number(kLengths, what - 257), back = number(kDistances, symbol(distances));
      if (back > out_.size() || length > size_ - out_.size()) damaged();
      for (size_t i = 0; i < length; ++i) out_ += out_[out_.size() - back];  // what is repeated may begin in itself
    }
  }
  size_t number(std::span<const Range> ranges, size_t which) {
    if (which >= ranges.size()) damaged();
    return ranges[which].base + bits(ranges[which].bits);
  }

  std::string_view packed_;
  size_t size_, at_ = 0;
  uint32_t buffer_ = 0;  // the bits that were read and not taken
  size_t held_ = 0;
  std::string out_;
};

}  // namespace

std::string inflate(std::string_view packed, size_t size) { return Inflater(packed, size).run(); }

}  // namespace taeda::jit
