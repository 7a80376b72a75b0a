#include "distributed/pmi_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <map>

#include "distributed/quiet_thread.h"

namespace taeda::distributed {

namespace {

using Words = std::map<std::string, std::string>;

// "cmd=get kvsname=a key=b" as a map.
Words words_of(const std::string& line) {
  Words words;
  for (size_t at = 0; at < line.size();) {
    size_t end = std::min(line.find(' ', at), line.size()), equals = line.find('=', at);
    if (equals < end) words[line.substr(at, equals - at)] = line.substr(equals + 1, end - equals - 1);
    at = end + 1;
  }
  return words;
}

}  // namespace

std::string process_mapping(const std::vector<std::string>& machines) {
  std::map<std::string, int> numbers;
  std::string mapping = "(vector";
  for (size_t at = 0; at < machines.size();) {
    size_t end = at + 1;
    while (end < machines.size() && machines[end] == machines[at]) ++end;
    int node = numbers.emplace(machines[at], static_cast<int>(numbers.size())).first->second;
    mapping += str(",(", node, ",1,", static_cast<int64_t>(end - at), ")");
    at = end;
  }
  return mapping + ")";
}

PmiServer::PmiServer(PmiJob job) : job_(std::move(job)) {
  int files[2];
  TAEDA_CHECK_KIND(DistBackend, ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, files) == 0,
                   "no file descriptors are left");
  ours_ = Socket(files[0]);
  theirs_ = Socket(files[1]);
  thread_ = quiet_thread([this] { serve(); });
}

PmiServer::~PmiServer() {
  stopped_ = true;
  ::shutdown(ours_.file(), SHUT_RDWR);
  thread_.join();
}

void PmiServer::serve() {
  set_stop_flag(&stopped_);
  std::string heard;
  char buffer[4096];
  for (;;) {
    ssize_t got = ::recv(ours_.file(), buffer, sizeof(buffer), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    heard.append(buffer, static_cast<size_t>(got));
    for (size_t end; (end = heard.find('\n')) != std::string::npos; heard.erase(0, end + 1)) {
      std::string said;
      try {
        said = answer(heard.substr(0, end));
      } catch (const std::exception&) {  // the store is gone: whoever waits for MPI notices at the deadline
        return;
      }
      said += '\n';
      if (::send(ours_.file(), said.data(), said.size(), MSG_NOSIGNAL) < 0) return;
    }
  }
}

std::string PmiServer::answer(const std::string& line) {
  Words words = words_of(line);
  const std::string& command = words["cmd"];
  if (command == "init") return "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1";
  if (command == "get_maxes") return "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=4096";
  if (command == "get_appnum") return "cmd=appnum rc=0 appnum=0";
  if (command == "get_my_kvsname") return "cmd=my_kvsname rc=0 kvsname=" + job_.name;
  if (command == "get_universe_size") return str("cmd=universe_size rc=0 size=", job_.size);
  if (command == "put") {
    job_.store->set(job_.name + "/" + words["key"], words["value"]);
    return "cmd=put_result rc=0 msg=success";
  }
  if (command == "get") {
    std::string key = job_.name + "/" + words["key"];
    if (words["key"] == "PMI_process_mapping") return "cmd=get_result rc=0 msg=success value=" + job_.mapping;
    if (!job_.store->check({key})) return "cmd=get_result rc=-1 msg=key_not_found";
    return "cmd=get_result rc=0 msg=success value=" + job_.store->get(key, job_.timeout);
  }
  if (command == "barrier_in") {
    barrier();
    return "cmd=barrier_out rc=0 msg=success";
  }
  if (command == "finalize") return "cmd=finalize_ack rc=0";
  return "cmd=" + command + " rc=-1 msg=unsupported";
}

void PmiServer::barrier() {
  std::string key = str(job_.name, "/barrier/", ++barriers_), open = key + "/open";
  if (job_.store->add(key, 1) == job_.size) job_.store->set(open, "1");
  job_.store->wait({open}, job_.timeout);
}

}  // namespace taeda::distributed
