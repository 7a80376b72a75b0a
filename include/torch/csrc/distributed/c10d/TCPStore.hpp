#pragma once
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace c10d {

struct TCPStoreOptions {
  static constexpr uint16_t kDefaultPort = 29500;
  uint16_t port = kDefaultPort;  // 0: a free one, for the server
  bool isServer = false;
  std::optional<size_t> numWorkers;
  bool waitWorkers = true;  // the server's constructor returns when all have come
  std::chrono::milliseconds timeout = Store::kDefaultTimeout;
  bool multiTenant = false;           // servers of one process and port are one
  std::optional<int> masterListenFd;  // a socket that listens already
  bool useLibUV = true;               // accepted; there is one server
};

// In the memory of one process, the server, that others reach over TCP.
class TORCH_API TCPStore : public NativeStore {
 public:
  explicit TCPStore(std::string host, const TCPStoreOptions& options = {});
  const std::string& getHost() const noexcept { return host_; }
  uint16_t getPort() const noexcept { return port_; }

 private:
  TCPStore(std::string host, const TCPStoreOptions& options, ::taeda::distributed::TcpStore made);
  std::string host_;
  uint16_t port_;
};

}  // namespace c10d
