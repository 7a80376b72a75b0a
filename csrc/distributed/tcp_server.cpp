#include "distributed/tcp_server.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <map>

#include "distributed/store_wire.h"
#include "taeda/core/error.h"
#include "taeda/core/fork.h"

namespace taeda::distributed {

namespace {

// A thread that no signal goes to.
template <class F>
std::unique_ptr<std::thread> quiet_thread(F body) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  auto thread = std::make_unique<std::thread>(body);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

TcpServer::TcpServer(Socket listening)
    : listening_(std::move(listening)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      port_(port_of(listening_)),
      process_(::getpid()) {
  TAEDA_CHECK_KIND(DistNetwork, epoll_ && wake_, "no file descriptors are left for the store's server");
  set_nonblocking(listening_.file());
  watch(listening_.file(), false, true);
  watch(wake_.file(), false, true);
  thread_ = quiet_thread([this] { serve(); });
}

TcpServer::~TcpServer() {
  if (process_ != ::getpid()) {  // a child of a fork has the files, not the thread
    (void)thread_.release();
    return;
  }
  uint64_t one = 1;
  (void)!::write(wake_.file(), &one, sizeof(one));
  thread_->join();
}

std::shared_ptr<TcpServer> TcpServer::shared(int port) {
  static Mutex mutex;
  static std::map<int, std::weak_ptr<TcpServer>> servers;
  Lock lock(mutex);
  if (auto known = servers.find(port); port != 0 && known != servers.end())
    if (auto server = known->second.lock()) return server;
  auto server = std::make_shared<TcpServer>(listen_on(port));
  servers[server->port()] = server;
  return server;
}

void TcpServer::serve() {
  epoll_event events[64];
  for (;;) {
    int count = ::epoll_wait(epoll_.file(), events, 64, until_next_deadline());
    for (int i = 0; i < count; ++i) {
      int file = events[i].data.fd;
      if (file == wake_.file()) return;
      if (file == listening_.file())
        accept_all();
      else
        hear(file);
    }
    expire();
    while (!lost_.empty()) {
      int file = lost_.back();
      lost_.pop_back();
      drop(file);
    }
  }
}

void TcpServer::watch(int file, bool writing, bool is_new) const {
  epoll_event event{};
  event.events = EPOLLIN | (writing ? EPOLLOUT : 0u);
  event.data.fd = file;
  ::epoll_ctl(epoll_.file(), is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, file, &event);
}

void TcpServer::accept_all() {
  for (;;) {
    Socket socket(::accept4(listening_.file(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      // Without descriptors the listening socket would stay ready: others get time to give theirs back.
      if (errno == EMFILE || errno == ENFILE) std::this_thread::sleep_for(Milliseconds(10));
      return;
    }
    int file = socket.file();
    set_options(file);
    watch(file, false, true);
    Client& client = clients_[file];
    client.socket = std::move(socket);
    client.out = kGreeting;
    if (!flush(client)) lost_.push_back(file);
  }
}

void TcpServer::hear(int file) {
  auto found = clients_.find(file);
  if (found == clients_.end()) return;
  Client& client = found->second;
  char buffer[1 << 16];
  for (;;) {
    ssize_t got = ::recv(file, buffer, sizeof(buffer), 0);
    if (got > 0) {
      client.in.append(buffer, static_cast<size_t>(got));
      if (got == sizeof(buffer)) continue;
      break;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    return lost_.push_back(file);
  }
  try {
    if (take_messages(client) && flush(client)) return;
  } catch (const std::exception&) {  // no client of ours, or out of memory for what it sends
  }
  lost_.push_back(file);
}

// False where a stranger speaks.
bool TcpServer::take_messages(Client& client) {
  if (!client.greeted) {
    size_t heard = std::min(client.in.size(), kGreeting.size());
    if (client.in.compare(0, heard, kGreeting, 0, heard) != 0) return false;
    if (heard < kGreeting.size()) return true;
    client.in.erase(0, heard);
    client.greeted = true;
  }
  // A client says one thing at a time, so that what follows a parked request waits.
  while (!client.parked && client.in.size() >= kFrameHeader) {
    uint64_t length = frame_length(client.in);
    if (client.in.size() - kFrameHeader < length) break;
    StoreRequest request = request_from(std::string_view(client.in).substr(kFrameHeader, length));
    client.in.erase(0, kFrameHeader + length);
    answer(client, request);
  }
  return true;
}

void TcpServer::answer(Client& client, const StoreRequest& request) {
  std::optional<StoreReply> reply;
  try {
    reply = table_.apply(request);
  } catch (const std::exception& error) {
    client.out += error_frame(error);
    return;
  }
  if (!reply) {
    client.parked = request;
    client.deadline = deadline_of(request.timeout);
    for (const std::string& key : request.keys) waiting_[key].insert(client.socket.file());
    return;
  }
  client.out += to_frame(*reply);
  if (request.op == StoreOp::Testament) client.testaments.push_back({StoreOp::Append, request.keys, request.values});
  if (KeyTable::writes(request.op)) serve_parked(request);
}

// Those who wait for a key that was written.
void TcpServer::serve_parked(const StoreRequest& written) {
  std::vector<int> files;
  for (const std::string& key : written.keys)
    if (auto found = waiting_.find(key); found != waiting_.end())
      files.insert(files.end(), found->second.begin(), found->second.end());
  for (int file : files) retry(file);
}

void TcpServer::retry(int file) {
  auto found = clients_.find(file);
  if (found == clients_.end() || !found->second.parked) return;
  Client& client = found->second;
  auto reply = table_.apply(*client.parked);
  if (!reply) return;
  unpark(client);
  client.out += to_frame(*reply);
  if (!take_messages(client) || !flush(client)) lost_.push_back(file);
}

void TcpServer::unpark(Client& client) {
  for (const std::string& key : client.parked->keys) {
    auto found = waiting_.find(key);
    if (found == waiting_.end()) continue;
    found->second.erase(client.socket.file());
    if (found->second.empty()) waiting_.erase(found);
  }
  client.parked.reset();
}

void TcpServer::expire() {
  auto now = Clock::now();
  for (auto& [file, client] : clients_) {
    if (!client.parked || client.deadline > now) continue;
    try {
      fail_timeout(*client.parked, table_.missing(*client.parked));
    } catch (const Error& error) {
      client.out += error_frame(error);
    }
    unpark(client);
    if (!flush(client)) lost_.push_back(file);
  }
}

int TcpServer::until_next_deadline() const {
  auto next = Clock::time_point::max();
  for (const auto& [file, client] : clients_)
    if (client.parked) next = std::min(next, client.deadline);
  if (next == Clock::time_point::max()) return -1;
  auto left = std::chrono::ceil<Milliseconds>(next - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 1000 * 3600));
}

bool TcpServer::flush(Client& client) {
  int file = client.socket.file();
  while (!client.out.empty()) {
    ssize_t sent = ::send(file, client.out.data(), client.out.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      client.out.erase(0, static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      return false;
    }
  }
  watch(file, !client.out.empty());
  return true;
}

// A connection that ends without a word: what its process left to say is said.
void TcpServer::drop(int file) {
  auto found = clients_.find(file);
  if (found == clients_.end()) return;
  std::vector<StoreRequest> testaments = std::move(found->second.testaments);
  if (found->second.parked) unpark(found->second);
  clients_.erase(found);
  for (const StoreRequest& testament : testaments) {
    table_.apply(testament);
    serve_parked(testament);
  }
}

}  // namespace taeda::distributed
