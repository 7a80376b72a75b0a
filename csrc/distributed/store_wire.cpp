#include "distributed/store_wire.h"

#include <cstring>

#include "taeda/core/error.h"

namespace taeda::distributed {

namespace {

constexpr uint8_t kFine = 255;  // in the place of an ErrorKind

class Writer {
 public:
  Writer() : bytes_(kFrameHeader, '\0') {}
  template <class T>
  void number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void text(std::string_view value) {
    number<uint64_t>(value.size());
    bytes_.append(value);
  }
  void texts(const std::vector<std::string>& values) {
    number<uint64_t>(values.size());
    for (const std::string& value : values) text(value);
  }
  std::string frame() && {
    uint64_t length = bytes_.size() - kFrameHeader;
    TAEDA_CHECK_KIND(DistStore, length <= kMostBytes, "keys and values of ", length, " bytes; a store takes ",
                     kMostBytes);
    std::memcpy(bytes_.data(), &length, sizeof(length));
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));
    return value;
  }
  std::string text() { return std::string(take(number<uint64_t>())); }
  std::vector<std::string> texts() {
    uint64_t count = number<uint64_t>();
    expect(count <= bytes_.size());  // each has eight bytes at least
    std::vector<std::string> values(count);
    for (std::string& value : values) value = text();
    return values;
  }
  void end() { expect(bytes_.empty()); }

 private:
  static void expect(bool holds) {
    TAEDA_CHECK_KIND(DistNetwork, holds, "bytes that are no message of a store of Taeda's");
  }
  std::string_view take(uint64_t count) {
    expect(count <= bytes_.size());
    std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  std::string_view bytes_;
};

}  // namespace

std::string to_frame(const StoreRequest& request) {
  Writer writer;
  writer.number(static_cast<uint8_t>(request.op));
  writer.number<int64_t>(request.number);
  writer.number<int64_t>(request.timeout.count());
  writer.texts(request.keys);
  writer.texts(request.values);
  return std::move(writer).frame();
}

std::string to_frame(const StoreReply& reply) {
  Writer writer;
  writer.number(kFine);
  writer.number<int64_t>(reply.number);
  writer.texts(reply.values);
  return std::move(writer).frame();
}

std::string error_frame(const std::exception& error) {
  auto* own = dynamic_cast<const Error*>(&error);
  Writer writer;
  writer.number(static_cast<uint8_t>(own ? own->kind() : ErrorKind::DistStore));
  writer.text(error.what());
  return std::move(writer).frame();
}

StoreRequest request_from(std::string_view body) {
  Reader reader(body);
  StoreRequest request{static_cast<StoreOp>(reader.number<uint8_t>()), {}, {}};
  request.number = reader.number<int64_t>();
  request.timeout = Milliseconds(reader.number<int64_t>());
  request.keys = reader.texts();
  request.values = reader.texts();
  reader.end();
  return request;
}

StoreReply reply_from(std::string_view body) {
  Reader reader(body);
  auto kind = reader.number<uint8_t>();
  if (kind != kFine)
    fail(kind <= static_cast<uint8_t>(ErrorKind::QueueEmpty) ? static_cast<ErrorKind>(kind) : ErrorKind::DistStore,
         reader.text());
  StoreReply reply;
  reply.number = reader.number<int64_t>();
  reply.values = reader.texts();
  reader.end();
  return reply;
}

uint64_t frame_length(std::string_view header) {
  uint64_t length;
  std::memcpy(&length, header.data(), sizeof(length));
  TAEDA_CHECK_KIND(DistNetwork, length <= kMostBytes, "a message of ", length, " bytes, where stores send up to ",
                   kMostBytes);
  return length;
}

}  // namespace taeda::distributed
