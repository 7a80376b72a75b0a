#include "distributed/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "taeda/core/error.h"

namespace taeda::distributed {

namespace {

constexpr Milliseconds kShortestPause(10), kLongestPause(500);

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

int milliseconds_to(Clock::time_point deadline, Milliseconds most) {
  auto left = std::chrono::ceil<Milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::clamp(left, Milliseconds(0), most).count());
}

// Null, with `why`, where the name is unknown (as yet).
Addresses resolve(const std::string& host, int port, std::string& why) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (code == EAI_NONAME || code == EAI_ADDRFAMILY) {  // with only a loopback device, that is not configured
    wanted.ai_flags = AI_NUMERICSERV;
    code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  }
  if (code != 0) why = ::gai_strerror(code);
  return Addresses(code == 0 ? found : nullptr, ::freeaddrinfo);
}

Socket try_connect(const addrinfo& address, Clock::time_point deadline, std::string& why) {
  Socket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) {
    why = std::strerror(errno);
    return {};
  }
  int code = 0;
  if (::connect(socket.file(), address.ai_addr, address.ai_addrlen) < 0) {
    code = errno;
    while (code == EINPROGRESS && Clock::now() < deadline) {
      pollfd waiting{socket.file(), POLLOUT, 0};
      int ready = ::poll(&waiting, 1, milliseconds_to(deadline, kSlice));
      check_interruption();
      if (ready <= 0) continue;
      socklen_t size = sizeof(code);
      ::getsockopt(socket.file(), SOL_SOCKET, SO_ERROR, &code, &size);
    }
  }
  if (code != 0) {
    why = code == EINPROGRESS ? "no answer" : std::strerror(code);
    return {};
  }
  set_options(socket.file());
  return socket;
}

}  // namespace

void Socket::close() {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

void Socket::wait_for(short events, Clock::time_point deadline) const {
  for (;;) {
    pollfd waiting{file_, events, 0};
    int ready = ::poll(&waiting, 1, milliseconds_to(deadline, kSlice));
    if (ready > 0) return;
    check_interruption();
    TAEDA_CHECK_KIND(DistNetwork, Clock::now() < deadline, "the server of the store did not answer in time");
  }
}

void Socket::send(std::string_view bytes, Clock::time_point deadline) const {
  while (!bytes.empty()) {
    ssize_t sent = ::send(file_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN || errno == EINTR) {
      wait_for(POLLOUT, deadline);
    } else {
      TAEDA_FAIL(DistNetwork, "the connection to the server of the store is lost (", std::strerror(errno),
                 "); has its process ended?");
    }
  }
}

std::string Socket::receive(size_t count, Clock::time_point deadline) const {
  std::string bytes(count, '\0');
  for (size_t done = 0; done < count;) {
    ssize_t got = ::recv(file_, bytes.data() + done, count - done, 0);
    if (got > 0) {
      done += static_cast<size_t>(got);
    } else if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      wait_for(POLLIN, deadline);
    } else {
      TAEDA_FAIL(DistNetwork, "the connection to the server of the store is lost (",
                 got == 0 ? "it was closed" : std::strerror(errno), "); has its process ended?");
    }
  }
  return bytes;
}

void set_nonblocking(int file) { ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) | O_NONBLOCK); }

// A machine that is cut off is noticed after half a minute, whether this one waits for it or has sent it something.
void set_options(int file) {
  int yes = 1, idle = 10, interval = 5, count = 4;
  unsigned unanswered = 30'000;
  ::setsockopt(file, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered, sizeof(unanswered));
  ::setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  ::setsockopt(file, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
  ::setsockopt(file, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
  ::setsockopt(file, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
  ::setsockopt(file, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}

Socket listen_on(int port) {
  TAEDA_CHECK_VALUE(port >= 0 && port < 65536, "a port is a number from 0 to 65535; got ", port);
  std::string why;
  for (int family : {AF_INET6, AF_INET}) {
    Socket socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    int yes = 1, no = 0;
    if (socket) ::setsockopt(socket.file(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    bool bound = false;
    if (socket && family == AF_INET6) {
      ::setsockopt(socket.file(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
      sockaddr_in6 address{};
      address.sin6_family = AF_INET6;
      address.sin6_addr = in6addr_any;
      address.sin6_port = htons(static_cast<uint16_t>(port));
      bound = ::bind(socket.file(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
    } else if (socket) {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_ANY);
      address.sin_port = htons(static_cast<uint16_t>(port));
      bound = ::bind(socket.file(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
    }
    if (bound && ::listen(socket.file(), SOMAXCONN) == 0) return socket;
    why = std::strerror(errno);
  }
  TAEDA_FAIL(DistNetwork, "cannot listen on port ", port, ": ", why, "; another port, or 0 for a free one, may do");
}

int port_of(const Socket& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  ::getsockname(socket.file(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

Socket connect_to(const std::string& host, int port, Clock::time_point deadline) {
  std::string why = "no address";
  for (Milliseconds pause = kShortestPause;; pause = std::min(2 * pause, kLongestPause)) {
    Addresses addresses = resolve(host, port, why);
    for (const addrinfo* address = addresses.get(); address; address = address->ai_next)
      if (Socket socket = try_connect(*address, deadline, why)) return socket;
    check_interruption();
    TAEDA_CHECK_KIND(DistNetwork, Clock::now() + pause < deadline, "cannot reach the store's server at ", host, ":",
                     port, " (", why, "); does the process of rank 0 run, and is this its address?");
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace taeda::distributed
