#include "jit/archive/zip.h"

#include <array>
#include <fstream>
#include <iterator>

#include "jit/archive/inflate.h"
#include "taeda/core/error.h"

namespace taeda::jit {

namespace {

constexpr std::array<uint32_t, 256> make_sums() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t sum = i;
    for (int bit = 0; bit < 8; ++bit) sum = sum & 1 ? 0xedb88320u ^ sum >> 1 : sum >> 1;
    table[i] = sum;
  }
  return table;
}
uint32_t check_sum(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kSums = make_sums();
  uint32_t sum = ~0u;
  for (char byte : bytes) sum = kSums[(sum ^ static_cast<unsigned char>(byte)) & 0xff] ^ sum >> 8;
  return ~sum;
}

constexpr uint64_t kLarge = 0xffffffff;

}  // namespace

uint64_t ZipFile::number(size_t at, int bytes) const {
  TAEDA_CHECK(at <= bytes_.size() && static_cast<size_t>(bytes) <= bytes_.size() - at, path_,
              " is damaged: it ends too early");
  uint64_t value = 0;
  for (int i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes_[at + static_cast<size_t>(i)]);
  return value;
}

ZipFile::ZipFile(const std::string& path) : path_(path) {
  std::ifstream file(path, std::ios::binary);
  TAEDA_CHECK(file, "there is no file ", path, " that could be read");
  bytes_.assign(std::istreambuf_iterator<char>(file), {});
  read_directory();
}

ZipFile::ZipFile(std::string bytes, std::string name) : path_(std::move(name)), bytes_(std::move(bytes)) {
  read_directory();
}

void ZipFile::read_directory() {
  size_t end = bytes_.rfind("PK\x05\x06");
  TAEDA_CHECK(end != bytes_.npos, path_, " is no archive, or is cut off");
  uint64_t count = number(end + 10, 2), at = number(end + 16, 4);
  size_t locator = end >= 20 ? end - 20 : 0;
  if (end >= 20 && bytes_.compare(locator, 4, "PK\x06\x07") == 0) {  // of more, or larger, than old fields can say
    uint64_t large = number(locator + 8, 8);
    count = number(large + 32, 8);
    at = number(large + 48, 8);
  }
  for (; count > 0; --count) {
    TAEDA_CHECK(number(at, 4) == 0x02014b50, path_, " is damaged: its directory is not where it should be");
    Entry entry;
    entry.method = static_cast<uint16_t>(number(at + 10, 2));
    entry.sum = static_cast<uint32_t>(number(at + 16, 4));
    uint64_t header = number(at + 42, 4);
    entry.packed = number(at + 20, 4);
    entry.size = number(at + 24, 4);
    uint64_t name_size = number(at + 28, 2), extra_size = number(at + 30, 2), comment = number(at + 32, 2);
    TAEDA_CHECK(at + 46 + name_size + extra_size <= bytes_.size(), path_, " is damaged: a name runs off its end");
    std::string name = bytes_.substr(at + 46, name_size);
    for (uint64_t extra = at + 46 + name_size, stop = extra + extra_size; extra + 4 <= stop;) {
      uint64_t kind = number(extra, 2), size = number(extra + 2, 2), field = extra + 4;
      if (kind == 1)  // the large numbers, in this order, of those that did not fit
        for (uint64_t* value : {&entry.size, &entry.packed, &header})
          if (*value == kLarge) {
            *value = number(field, 8);
            field += 8;
          }
      extra += 4 + size;
    }
    entry.offset = header + 30 + number(header + 26, 2) + number(header + 28, 2);
    entries_.emplace(name.substr(name.find('/') + 1), entry);
    at += 46 + name_size + extra_size + comment;
  }
}

std::vector<std::string> ZipFile::names() const {
  std::vector<std::string> all;
  for (const auto& [name, entry] : entries_) all.push_back(name);
  return all;
}

std::string_view ZipFile::record(std::string_view name) const {
  auto found = entries_.find(std::string(name));
  TAEDA_CHECK(found != entries_.end(), path_, " has no record ", name);
  const Entry& entry = found->second;
  constexpr uint16_t kStored = 0, kDeflated = 8;
  TAEDA_CHECK(entry.method == kStored || entry.method == kDeflated, path_, ": the record ", name,
              " is compressed by a method that is not DEFLATE");
  const uint64_t stored = entry.method == kStored ? entry.size : entry.packed;
  TAEDA_CHECK(entry.offset <= bytes_.size() && stored <= bytes_.size() - entry.offset, path_,
              " is damaged: the record ", name, " runs off its end");
  std::string_view bytes = std::string_view(bytes_).substr(entry.offset, stored);
  if (entry.method == kDeflated) {
    auto [unpacked, is_new] = unpacked_.try_emplace(found->first);
    if (is_new) unpacked->second = inflate(bytes, entry.size);
    bytes = unpacked->second;
  }
  TAEDA_CHECK(check_sum(bytes) == entry.sum, path_, " is damaged: the record ", name, " has another check sum");
  return bytes;
}

void ZipWriter::number(std::string& to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> 8 * i);
}

void ZipWriter::write(std::string_view record, std::string_view bytes) {
  std::string name = str(folder_, "/", record);
  const uint64_t header = bytes_.size(), size = bytes.size();
  const bool large = size >= kLarge || header >= kLarge;
  const uint32_t sum = check_sum(bytes);
  // What both headers say; sizes that do not fit stand in an extra field.
  auto facts = [&](std::string& to) {
    number(to, 0, 2);  // flags
    number(to, 0, 2);  // stored as it is
    number(to, 0, 4);  // no time
    number(to, sum, 4);
    number(to, large ? kLarge : size, 4);
    number(to, large ? kLarge : size, 4);
    number(to, name.size(), 2);
  };
  std::string extra;
  if (large) {
    number(extra, 1, 2);
    number(extra, 16, 2);
    number(extra, size, 8);
    number(extra, size, 8);
  }
  std::string local = "PK\x03\x04";
  number(local, large ? 45 : 20, 2);
  facts(local);
  uint64_t start = header + 30 + name.size() + extra.size() + 4, padding = (64 - start % 64) % 64;
  std::string local_extra = extra + "FB";
  number(local_extra, padding, 2);
  local_extra.append(padding, 'Z');
  number(local, local_extra.size(), 2);
  bytes_.append(local).append(name).append(local_extra).append(bytes);

  directory_ += "PK\x01\x02";
  number(directory_, large ? 45 : 20, 2);
  number(directory_, large ? 45 : 20, 2);
  facts(directory_);
  if (large) {
    extra[2] = 24;
    number(extra, header, 8);
  }
  number(directory_, extra.size(), 2);
  number(directory_, 0, 2);  // no comment
  number(directory_, 0, 2);
  number(directory_, 0, 2);
  number(directory_, 0, 4);
  number(directory_, large ? kLarge : header, 4);
  directory_.append(name).append(extra);
  ++count_;
}

std::string ZipWriter::finish() {
  const uint64_t at = bytes_.size(), size = directory_.size();
  const bool large = at >= kLarge || count_ >= 0xffff;
  bytes_ += directory_;
  if (large) {
    uint64_t end = bytes_.size();
    bytes_ += "PK\x06\x06";
    number(bytes_, 44, 8);
    number(bytes_, 45, 2);
    number(bytes_, 45, 2);
    number(bytes_, 0, 8);
    number(bytes_, count_, 8);
    number(bytes_, count_, 8);
    number(bytes_, size, 8);
    number(bytes_, at, 8);
    bytes_ += "PK\x06\x07";
    number(bytes_, 0, 4);
    number(bytes_, end, 8);
    number(bytes_, 1, 4);
  }
  bytes_ += "PK\x05\x06";
  number(bytes_, 0, 4);
  number(bytes_, large ? 0xffff : count_, 2);
  number(bytes_, large ? 0xffff : count_, 2);
  number(bytes_, size, 4);
  number(bytes_, large ? kLarge : at, 4);
  number(bytes_, 0, 2);
  return std::move(bytes_);
}

}  // namespace taeda::jit
