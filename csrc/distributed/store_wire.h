// Requests and replies as bytes, for files and networks: little-endian numbers, strings after their lengths.
#pragma once
#include <exception>
#include <string_view>

#include "taeda/distributed/store.h"

namespace taeda::distributed {

// The most bytes of one request or reply: what lengths from elsewhere may ask for.
constexpr uint64_t kMostBytes = uint64_t{1} << 32;
constexpr size_t kFrameHeader = 8;  // the length of what follows

// With the header in front.
std::string to_frame(const StoreRequest& request);
std::string to_frame(const StoreReply& reply);
// Without it. DistNetwork errors where the bytes say no such thing.
StoreRequest request_from(std::string_view body);
StoreReply reply_from(std::string_view body);
// The length that a header tells. DistNetwork error above kMostBytes.
uint64_t frame_length(std::string_view header);

// An error travels as a reply.
std::string error_frame(const std::exception& error);

}  // namespace taeda::distributed
