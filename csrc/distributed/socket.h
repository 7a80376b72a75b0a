// TCP sockets: closed with their owner, waited for with a deadline.
#pragma once
#include <string>
#include <string_view>

#include "distributed/key_table.h"

namespace taeda::distributed {

class Socket {
 public:
  Socket() = default;
  explicit Socket(int file) : file_(file) {}
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  int file() const { return file_; }
  explicit operator bool() const { return file_ >= 0; }
  void close();

  // Whole or DistNetwork errors: the peer has gone, the deadline passed.
  void send(std::string_view bytes, Clock::time_point deadline) const;
  std::string receive(size_t count, Clock::time_point deadline) const;

 private:
  void wait_for(short events, Clock::time_point deadline) const;
  int file_ = -1;
};

// Listens on all addresses, those of IPv6 too where there are any; port 0 picks a free one.
Socket listen_on(int port);
int port_of(const Socket& socket);
// Tries until the deadline: the server may come later. Names may have several addresses.
Socket connect_to(const std::string& host, int port, Clock::time_point deadline);
void set_nonblocking(int file);
// Small messages leave at once; a host that is gone without a word is noticed within a minute.
void set_options(int file);

}  // namespace taeda::distributed
