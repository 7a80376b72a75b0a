// Key-value stores: how processes find and tell each other the first things. Keys and values are bytes.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "taeda/core/error.h"
#include "taeda/core/refcount.h"

namespace taeda::distributed {

using Milliseconds = std::chrono::milliseconds;
constexpr Milliseconds kDefaultTimeout = std::chrono::minutes(5);

// What a store can be asked. Files and networks carry these numbers: new ones go to the end.
enum class StoreOp : uint8_t {
  Set,         // key, value
  Get,         // key: its value, once it is there
  Add,         // key, number: the sum of what the value says in decimals (0 without one) and the number
  Delete,      // key: 1 if it was there
  Check,       // keys: 1 if all are there
  Wait,        // keys: once all are there
  CompareSet,  // key, expected value, desired value: the value afterwards, the expected one where there is none
  Append,      // key, value
  MultiGet,    // keys: their values, once all are there
  MultiSet,    // keys, values
  QueuePush,   // key, value
  QueuePop,    // key, number (whether to wait for one): the oldest value
  QueueLength,
  KeyCount,
  ListKeys,
  Testament  // key, value: what is appended to the key when this process's connection is lost
};

struct StoreRequest {
  StoreOp op;
  std::vector<std::string> keys;
  std::vector<std::string> values;
  int64_t number = 0;
  Milliseconds timeout = kDefaultTimeout;
};
struct StoreReply {
  std::vector<std::string> values;
  int64_t number = 0;
};

class TAEDA_API Store : public RefCounted {
 public:
  // Answers, waiting for keys where the op says so. DistStore errors: the timeout passed; the request makes no sense.
  virtual StoreReply run(const StoreRequest& request) = 0;
  // A store of the same content that does not wait for calls of this one.
  virtual Ref<Store> clone() = 0;
  virtual std::string describe() const = 0;

  void set(std::string key, std::string value) { run({StoreOp::Set, {std::move(key)}, {std::move(value)}}); }
  std::string get(std::string key, Milliseconds timeout) {
    return run({StoreOp::Get, {std::move(key)}, {}, 0, timeout}).values.at(0);
  }
  int64_t add(std::string key, int64_t number) { return run({StoreOp::Add, {std::move(key)}, {}, number}).number; }
  bool check(std::vector<std::string> keys) { return run({StoreOp::Check, std::move(keys), {}}).number; }
  void wait(std::vector<std::string> keys, Milliseconds timeout) {
    run({StoreOp::Wait, std::move(keys), {}, 0, timeout});
  }
};

// In the memory of this process, for its threads.
TAEDA_API Ref<Store> make_hash_store();
// In a file that processes of one machine (or of a file system with locks) share. With `workers` > 0 the last of that
// many to leave removes it.
TAEDA_API Ref<Store> make_file_store(std::string path, int64_t workers);
// Keys of `store` that begin with `prefix` and a slash, without these.
TAEDA_API Ref<Store> make_prefix_store(std::string prefix, Ref<Store> store);

struct TcpStoreOptions {
  std::string host;
  int port = 0;  // 0: a free one, for the server
  int64_t workers = -1;
  bool is_server = false;
  bool wait_for_workers = true;  // the server's constructor returns when all workers have come
  bool multi_tenant = false;     // servers of one process and port are one
  int listen_fd = -1;            // a socket that listens already
  Milliseconds timeout = kDefaultTimeout;
};
struct TcpStore {
  Ref<Store> store;
  int port;
};
TAEDA_API TcpStore make_tcp_store(TcpStoreOptions options);

// Called again and again by whatever waits, without a lock of a store: it may throw (Ctrl-C).
TAEDA_API void set_interruption_check(void (*check)());

}  // namespace taeda::distributed
