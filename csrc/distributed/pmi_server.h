// PMI-1, the language in which an MPI library asks whoever started it for rank, size and the other processes'
// addresses; here this process answers itself, over a pair of sockets, with what a store knows.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "distributed/socket.h"

namespace taeda::distributed {

struct PmiJob {
  Ref<Store> store;
  std::string name;  // new for each job
  int rank, size;
  std::string mapping;  // which ranks share a machine, as PMI says it
  Milliseconds timeout;
};

class PmiServer {
 public:
  explicit PmiServer(PmiJob job);
  ~PmiServer();
  // The end for MPI, as PMI_FD.
  int file() const { return theirs_.file(); }

 private:
  void serve();
  std::string answer(const std::string& line);
  void barrier();

  PmiJob job_;
  Socket ours_, theirs_;
  int barriers_ = 0;
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

// As "(vector,(first node, nodes, ranks on each),...)", from the ranks' machines in order of rank.
std::string process_mapping(const std::vector<std::string>& machines);

}  // namespace taeda::distributed
