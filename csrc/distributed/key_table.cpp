#include "distributed/key_table.h"

#include <algorithm>
#include <atomic>
#include <charconv>

#include "taeda/core/error.h"

namespace taeda::distributed {

namespace {

std::atomic<void (*)()> g_interruption_check{nullptr};

void check_shape(const StoreRequest& request, size_t keys, size_t values) {
  TAEDA_CHECK_KIND(DistStore, request.keys.size() == keys && request.values.size() == values,
                   "a request of this kind has ", keys, " keys and ", values, " values; got ", request.keys.size(),
                   " and ", request.values.size());
}

thread_local const std::atomic<bool>* g_stop_flag = nullptr;

std::string quoted(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += str(text.empty() ? "'" : ", '", key, "'");
  return text;
}

}  // namespace

void set_interruption_check(void (*check)()) { g_interruption_check = check; }

void set_stop_flag(const std::atomic<bool>* flag) { g_stop_flag = flag; }

void check_interruption() {
  if (g_stop_flag) {
    TAEDA_CHECK_KIND(Dist, !*g_stop_flag, "stopped");
    return;
  }
  if (auto* check = g_interruption_check.load()) check();
}

void fail_timeout(const StoreRequest& request, const std::vector<std::string>& missing) {
  TAEDA_FAIL(DistStore, "waited ", int64_t{request.timeout.count()}, " ms in vain for ", quoted(missing),
             ", which no process has set");
}

bool KeyTable::writes(StoreOp op) {
  switch (op) {
    case StoreOp::Set:
    case StoreOp::Add:
    case StoreOp::Delete:
    case StoreOp::CompareSet:
    case StoreOp::Append:
    case StoreOp::MultiSet:
    case StoreOp::QueuePush:
    case StoreOp::QueuePop:
      return true;
    default:
      return false;
  }
}

std::optional<StoreReply> KeyTable::apply(const StoreRequest& request) {
  const auto& keys = request.keys;
  const auto& values = request.values;
  switch (request.op) {
    case StoreOp::Set:
      check_shape(request, 1, 1);
      values_[keys[0]] = values[0];
      return StoreReply{};
    case StoreOp::Get:
      check_shape(request, 1, 0);
      [[fallthrough]];
    case StoreOp::MultiGet: {
      StoreReply reply;
      for (const std::string& key : keys) {
        auto found = values_.find(key);
        if (found == values_.end()) return std::nullopt;
        reply.values.push_back(found->second);
      }
      return reply;
    }
    case StoreOp::Add:
      check_shape(request, 1, 0);
      return StoreReply{{}, add(keys[0], request.number)};
    case StoreOp::Delete:
      check_shape(request, 1, 0);
      return StoreReply{{}, static_cast<int64_t>(values_.erase(keys[0]) + queues_.erase(keys[0]) > 0)};
    case StoreOp::Check:
      return StoreReply{{}, has_all(keys)};
    case StoreOp::Wait:
      return has_all(keys) ? std::optional(StoreReply{}) : std::nullopt;
    case StoreOp::CompareSet:
      check_shape(request, 1, 2);
      return StoreReply{{compare_set(request)}};
    case StoreOp::Append:
      check_shape(request, 1, 1);
      values_[keys[0]] += values[0];
      return StoreReply{};
    case StoreOp::MultiSet:
      check_shape(request, values.size(), keys.size());
      for (size_t i = 0; i < keys.size(); ++i) values_[keys[i]] = values[i];
      return StoreReply{};
    case StoreOp::QueuePush:
      check_shape(request, 1, 1);
      queues_[keys[0]].push_back(values[0]);
      return StoreReply{};
    case StoreOp::QueuePop:
      check_shape(request, 1, 0);
      return pop(request);
    case StoreOp::QueueLength: {
      check_shape(request, 1, 0);
      auto queue = queues_.find(keys[0]);
      return StoreReply{{}, queue == queues_.end() ? 0 : static_cast<int64_t>(queue->second.size())};
    }
    case StoreOp::KeyCount:
      return StoreReply{{}, static_cast<int64_t>(values_.size() + queues_.size())};
    case StoreOp::ListKeys:
      return StoreReply{list()};
    case StoreOp::Testament:  // only a server sees connections end
      return StoreReply{};
  }
  TAEDA_FAIL(DistStore, "unknown request ", static_cast<int>(request.op));
}

std::vector<std::string> KeyTable::missing(const StoreRequest& request) const {
  std::vector<std::string> found;
  for (const std::string& key : request.keys)
    if (!has(key)) found.push_back(key);
  return found;
}

bool KeyTable::has_all(const std::vector<std::string>& keys) const {
  return std::ranges::all_of(keys, [&](const std::string& key) { return has(key); });
}

std::string KeyTable::compare_set(const StoreRequest& request) {
  auto [found, absent] = values_.try_emplace(request.keys[0]);
  if (absent && !request.values[0].empty()) {
    values_.erase(found);
    return request.values[0];
  }
  if (found->second == request.values[0]) found->second = request.values[1];
  return found->second;
}

int64_t KeyTable::add(const std::string& key, int64_t number) {
  std::string& text = values_[key];
  int64_t old = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), old);
  TAEDA_CHECK_VALUE(text.empty() || (code == std::errc() && end == text.data() + text.size()), "the value of '", key,
                    "' is no number that could be added to");
  int64_t sum;
  TAEDA_CHECK_VALUE(!__builtin_add_overflow(old, number, &sum), "the sum at '", key, "' does not fit 64 bits");
  text = std::to_string(sum);
  return sum;
}

std::optional<StoreReply> KeyTable::pop(const StoreRequest& request) {
  auto queue = queues_.find(request.keys[0]);
  if (queue == queues_.end()) {
    TAEDA_CHECK_KIND(QueueEmpty, request.number, "the queue '", request.keys[0], "' is empty");
    return std::nullopt;
  }
  StoreReply reply{{std::move(queue->second.front())}};
  queue->second.pop_front();
  if (queue->second.empty()) queues_.erase(queue);
  return reply;
}

std::vector<std::string> KeyTable::list() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : values_)
    if (!key.starts_with(kHidden)) keys.push_back(key);
  for (const auto& [key, queue] : queues_) keys.push_back(key);
  return keys;
}

}  // namespace taeda::distributed
