// The server of a TCP store: one thread that serves all connections.
#pragma once
#include <memory>
#include <set>
#include <thread>
#include <unordered_map>

#include "distributed/socket.h"

namespace taeda::distributed {

// What both sides say first, so that strangers on the port are noticed.
constexpr std::string_view kGreeting = "taeda store 1\n\n\n";

class TcpServer {
 public:
  // Takes over `listening`.
  explicit TcpServer(Socket listening);
  ~TcpServer();
  int port() const { return port_; }
  // The server of this process on that port, made if there is none; for multi-tenant stores.
  static std::shared_ptr<TcpServer> shared(int port);

 private:
  struct Client {
    Socket socket;
    std::string in, out;
    bool greeted = false;
    std::vector<StoreRequest> testaments;
    std::optional<StoreRequest> parked;  // waits for keys, until:
    Clock::time_point deadline;
  };

  void serve();
  void accept_all();
  void hear(int file);
  bool take_messages(Client& client);
  void answer(Client& client, const StoreRequest& request);
  void serve_parked(const StoreRequest& written);
  void retry(int file);
  void unpark(Client& client);
  void expire();
  int until_next_deadline() const;
  bool flush(Client& client);
  void drop(int file);
  void watch(int file, bool writing, bool is_new = false) const;

  Socket listening_, epoll_, wake_;
  int port_;
  pid_t process_;
  std::unordered_map<int, Client> clients_;
  std::unordered_map<std::string, std::set<int>> waiting_;  // key to the clients that are parked for it
  std::vector<int> lost_;                                   // to be dropped when the requests at hand are done
  KeyTable table_;
  std::unique_ptr<std::thread> thread_;
};

}  // namespace taeda::distributed
