// The client side of a store that processes of several machines share.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "distributed/store_wire.h"
#include "distributed/tcp_server.h"
#include "taeda/core/fork.h"

namespace taeda::distributed {

namespace {

// What a request may take beyond its own timeout before the server counts as gone: the store's, within these.
constexpr Milliseconds kLeastGrace = std::chrono::seconds(5), kMostGrace = std::chrono::seconds(30);
const std::string kWorkers{kHidden, 'w', 'o', 'r', 'k', 'e', 'r', 's'};

// Whether the server answers only once there is what was asked for.
bool waits(StoreOp op) {
  return op == StoreOp::Get || op == StoreOp::MultiGet || op == StoreOp::Wait || op == StoreOp::QueuePop;
}

class Client final : public Store {
 public:
  Client(std::string host, int port, std::shared_ptr<TcpServer> server, Milliseconds timeout)
      : host_(std::move(host)), port_(port), timeout_(timeout), server_(std::move(server)), process_(::getpid()) {
    give_back(connect());
  }

  // Every call in progress has a connection of its own, so that threads do not wait for each other.
  StoreReply run(const StoreRequest& request) override {
    if (request.op == StoreOp::Testament) return leave_word(request);
    Socket socket = take();
    StoreReply reply = ask(socket, request);
    give_back(std::move(socket));
    return reply;
  }
  Ref<Store> clone() override { return Ref<Store>(new Client(host_, port_, server_, timeout_)); }
  std::string describe() const override {
    return str("TCPStore(host='", host_, "', port=", port_, ", is_master=", bool(server_), ")");
  }

 private:
  StoreReply ask(const Socket& socket, const StoreRequest& request) {
    Milliseconds wait =
        waits(request.op) ? std::min<Milliseconds>(request.timeout, std::chrono::hours(24 * 365)) : Milliseconds{};
    auto deadline = deadline_of(wait + std::clamp(timeout_, kLeastGrace, kMostGrace));
    socket.send(to_frame(request), deadline);
    uint64_t length = frame_length(socket.receive(kFrameHeader, deadline));
    return reply_from(socket.receive(length, deadline));
  }

  // The connection whose end the server notices: this process's own, as long as the store lives.
  StoreReply leave_word(const StoreRequest& request) {
    Lock lock(mutex_);
    forget_after_fork();
    if (!will_) will_ = connect();
    return ask(will_, request);
  }

  Socket connect() const {
    auto deadline = deadline_of(timeout_);
    Socket socket = connect_to(host_, port_, deadline);
    socket.send(kGreeting, deadline);
    TAEDA_CHECK_KIND(DistNetwork, socket.receive(kGreeting.size(), deadline) == kGreeting, "what answers at ", host_,
                     ":", port_, " is no store of Taeda's");
    return socket;
  }
  Socket take() {
    {
      Lock lock(mutex_);
      forget_after_fork();
      if (!idle_.empty()) {
        Socket socket = std::move(idle_.back());
        idle_.pop_back();
        return socket;
      }
    }
    return connect();
  }
  void give_back(Socket socket) {
    Lock lock(mutex_);
    idle_.push_back(std::move(socket));
  }
  // A child's requests on its parent's connections would be answered to either.
  void forget_after_fork() {
    if (process_ == ::getpid()) return;
    process_ = ::getpid();
    idle_.clear();
    will_ = {};
    server_.reset();
  }

  std::string host_;
  int port_;
  Milliseconds timeout_;
  std::shared_ptr<TcpServer> server_;
  Mutex mutex_;
  pid_t process_;
  std::vector<Socket> idle_;
  Socket will_;
};

std::shared_ptr<TcpServer> serve(const TcpStoreOptions& options) {
  if (options.listen_fd >= 0) {
    Socket given(options.listen_fd);
    int port = port_of(given);
    TAEDA_CHECK_VALUE(options.port == 0 || options.port == port, "the socket that was given listens on port ", port,
                      ", not on ", options.port);
    return std::make_shared<TcpServer>(std::move(given));
  }
  return options.multi_tenant ? TcpServer::shared(options.port) : std::make_shared<TcpServer>(listen_on(options.port));
}

}  // namespace

TcpStore make_tcp_store(TcpStoreOptions options) {
  std::shared_ptr<TcpServer> server;
  if (options.is_server) {
    server = serve(options);
    options.port = server->port();
  }
  Ref<Store> store(new Client(options.host, options.port, server, options.timeout));
  store->add(kWorkers, 1);
  if (options.is_server && options.wait_for_workers && options.workers > 0) {
    auto deadline = deadline_of(options.timeout);
    for (Milliseconds pause(1);; pause = std::min(2 * pause, kSlice)) {
      int64_t come = store->add(kWorkers, 0);
      if (come >= options.workers) break;
      TAEDA_CHECK_KIND(DistStore, Clock::now() < deadline, come, " of ", options.workers,
                       " processes came to the store within ", int64_t{options.timeout.count()},
                       " ms; are all of them started with this address?");
      check_interruption();
      std::this_thread::sleep_for(pause);
    }
  }
  return {store, options.port};
}

}  // namespace taeda::distributed
