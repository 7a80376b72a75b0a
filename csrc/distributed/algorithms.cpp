#include "distributed/algorithms.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace taeda::distributed {

namespace {

// Up to here the number of messages costs more than the bytes.
constexpr size_t kSmall = 1 << 16;
// Reductions and relays go in pieces that stay in a core's cache.
constexpr size_t kPiece = 1 << 18;
// How many ranks send to each other at once, where all send to all.
constexpr int kAtOnce = 16;

void copy(Part to, Part from) {
  if (from.count && to.data != from.data) std::memcpy(to.data, from.data, from.bytes());
}

int64_t piece_of(const Part& part) { return static_cast<int64_t>(kPiece / info(part.dtype).size); }

// data as one part for each rank, as equal as can be.
Parts split(Part data, int ranks) {
  Parts parts;
  for (int64_t i = 0; i < ranks; ++i) parts.push_back(data.slice(data.count * i / ranks, data.count * (i + 1) / ranks));
  return parts;
}

void finish(ReduceKind kind, Part data, int ranks) {
  if (kind == ReduceKind::Avg) divide(data.dtype, data.data, data.count, ranks);
}

// Each rank's part of what all ranks have; `into` holds this rank's own already. The order of the sum is that of the
// ranks before this one, so that every run gives the same bits.
void reduce_parts(Flow& flow, const Parts& parts, Part into, ReduceKind kind) {
  const int64_t piece = piece_of(into);
  char* buffers[2] = {flow.scratch(std::min(kPiece, into.bytes())), flow.scratch(std::min(kPiece, into.bytes()))};
  struct Arrival {
    size_t message;
    Part target;
    char* from;
  };
  Arrival last{};
  int turn = 0;
  auto take = [&](const Arrival& arrival) {
    flow.wait(arrival.message);
    combine(into.dtype, kind, arrival.target.data, arrival.from, arrival.target.count);
  };
  for (int step = 1; step < flow.size(); ++step) {
    const Part& theirs = parts[static_cast<size_t>(flow.other(step))];
    int64_t sent = 0;
    for (int64_t at = 0; at < into.count || sent < theirs.count; at += piece, sent += piece) {
      Arrival next{};
      if (at < into.count) {
        next.target = into.slice(at, std::min(at + piece, into.count));
        next.from = buffers[turn ^= 1];
        next.message = flow.receive(flow.other(-step), next.from, next.target.bytes());
      }
      if (sent < theirs.count) {
        Part slice = theirs.slice(sent, std::min(sent + piece, theirs.count));
        flow.send(flow.other(step), slice.data, slice.bytes());
      }
      if (last.from) take(last);
      last = next;
    }
  }
  if (last.from) take(last);
  flow.wait_all();
  finish(kind, into, flow.size());
}

void gather_parts(Flow& flow, Part own, const Parts& parts) {
  for (int step = 1; step < flow.size(); ++step) {
    const Part& theirs = parts[static_cast<size_t>(flow.other(-step))];
    flow.receive(flow.other(-step), theirs.data, theirs.bytes());
    flow.send(flow.other(step), own.data, own.bytes());
    if (step % kAtOnce == 0) flow.wait_all();
  }
  flow.wait_all();
}

// Everybody's data to everybody, reduced in order of rank.
void all_reduce_at_once(Flow& flow, Part data, ReduceKind kind) {
  size_t bytes = data.bytes(), ranks = static_cast<size_t>(flow.size());
  char* all = flow.scratch(bytes * ranks);
  std::vector<size_t> messages;
  for (int step = 1; step < flow.size(); ++step)
    messages.push_back(flow.receive(flow.other(-step), all + bytes * static_cast<size_t>(flow.other(-step)), bytes));
  for (int step = 1; step < flow.size(); ++step) flow.send(flow.other(step), data.data, bytes);
  copy({all + bytes * static_cast<size_t>(flow.rank()), data.count, data.dtype}, data);
  for (size_t message : messages) flow.wait(message);
  for (size_t i = 1; i < ranks; ++i) combine(data.dtype, kind, all, all + bytes * i, data.count);
  flow.wait_all();
  copy(data, {all, data.count, data.dtype});
}

// Pairs of ever larger blocks of ranks exchange their sums; ranks beyond a power of two hand theirs over at first.
void all_reduce_by_doubling(Flow& flow, Part data, ReduceKind kind) {
  int rank = flow.rank(), power = static_cast<int>(std::bit_floor(static_cast<unsigned>(flow.size())));
  size_t bytes = data.bytes();
  char* theirs = flow.scratch(bytes);
  if (rank >= power) {
    flow.send(rank - power, data.data, bytes);
    flow.wait_all();
    flow.receive(rank - power, data.data, bytes);
    return flow.wait_all();
  }
  bool doubled = rank + power < flow.size();
  if (doubled) {
    flow.receive(rank + power, theirs, bytes);
    flow.wait_all();
    combine(data.dtype, kind, data.data, theirs, data.count);
  }
  for (int distance = 1; distance < power; distance *= 2) {
    flow.receive(rank ^ distance, theirs, bytes);
    flow.send(rank ^ distance, data.data, bytes);
    flow.wait_all();
    if (rank & distance) {  // the lower block's sum is always the first operand
      combine(data.dtype, kind, theirs, data.data, data.count);
      copy(data, {theirs, data.count, data.dtype});
    } else {
      combine(data.dtype, kind, data.data, theirs, data.count);
    }
  }
  if (doubled) flow.send(rank + power, data.data, bytes);
  flow.wait_all();
}

// From the root to ranks at halving distances, each of which goes on likewise.
void broadcast_by_tree(Flow& flow, Part data, int root) {
  int place = flow.other(-root), top = static_cast<int>(std::bit_ceil(static_cast<unsigned>(flow.size())));
  int distance = place == 0 ? top : place & -place;
  if (place != 0) {
    flow.receive((place - distance + root) % flow.size(), data.data, data.bytes());
    flow.wait_all();
  }
  for (distance /= 2; distance > 0; distance /= 2)
    if (place + distance < flow.size()) flow.send((place + distance + root) % flow.size(), data.data, data.bytes());
  flow.wait_all();
}

// From rank to rank, piece by piece.
void broadcast_by_chain(Flow& flow, Part data, int root) {
  const int64_t piece = piece_of(data);
  int place = flow.other(-root);
  std::vector<size_t> arrivals;
  auto each = [&](auto f) {
    for (int64_t at = 0; at < data.count; at += piece) f(data.slice(at, std::min(at + piece, data.count)));
  };
  if (place > 0) each([&](Part p) { arrivals.push_back(flow.receive(flow.other(-1), p.data, p.bytes())); });
  size_t next = 0;
  each([&](Part p) {
    if (place > 0) flow.wait(arrivals[next++]);
    if (place + 1 < flow.size()) flow.send(flow.other(1), p.data, p.bytes());
  });
  flow.wait_all();
}

void reduce_by_tree(Flow& flow, Part data, ReduceKind kind, int root) {
  int place = flow.other(-root);
  Part sum = data;
  if (place != 0) copy(sum = {flow.scratch(data.bytes()), data.count, data.dtype}, data);
  char* theirs = flow.scratch(data.bytes());
  int distance = 1;
  for (; distance < flow.size() && !(place & distance); distance *= 2) {
    if (place + distance >= flow.size()) continue;
    flow.receive((place + distance + root) % flow.size(), theirs, data.bytes());
    flow.wait_all();
    combine(data.dtype, kind, sum.data, theirs, data.count);
  }
  if (place != 0) flow.send((place - distance + root) % flow.size(), sum.data, sum.bytes());
  flow.wait_all();
}

}  // namespace

void broadcast(Flow& flow, Part data, int root) {
  if (flow.size() == 1) return;
  if (flow.size() == 2 || data.bytes() <= kSmall)
    broadcast_by_tree(flow, data, root);
  else
    broadcast_by_chain(flow, data, root);
}

void all_reduce(Flow& flow, Part data, ReduceKind kind) {
  if (flow.size() == 1) return;
  if (data.bytes() <= kSmall) {
    if (flow.size() <= kAtOnce / 2)
      all_reduce_at_once(flow, data, kind);
    else
      all_reduce_by_doubling(flow, data, kind);
    return finish(kind, data, flow.size());
  }
  Parts parts = split(data, flow.size());
  const Part& own = parts[static_cast<size_t>(flow.rank())];
  reduce_parts(flow, parts, own, kind);
  gather_parts(flow, own, parts);
}

void reduce(Flow& flow, Part data, ReduceKind kind, int root) {
  if (flow.size() == 1) return;
  if (data.bytes() <= kSmall) {
    reduce_by_tree(flow, data, kind, root);
    return flow.rank() == root ? finish(kind, data, flow.size()) : void();
  }
  Parts parts = split(data, flow.size());
  Part own = parts[static_cast<size_t>(flow.rank())];
  if (flow.rank() != root) copy(own = {flow.scratch(own.bytes()), own.count, own.dtype}, parts[flow.rank()]);
  reduce_parts(flow, parts, own, kind);
  gather(flow, own, parts, root);
}

void all_gather(Flow& flow, Part own, const Parts& parts) {
  copy(parts[static_cast<size_t>(flow.rank())], own);
  gather_parts(flow, own, parts);
}

void gather(Flow& flow, Part own, const Parts& parts, int root) {
  if (flow.rank() != root) {
    flow.send(root, own.data, own.bytes());
    return flow.wait_all();
  }
  copy(parts[static_cast<size_t>(root)], own);
  for (int step = 1; step < flow.size(); ++step) {
    const Part& theirs = parts[static_cast<size_t>(flow.other(step))];
    flow.receive(flow.other(step), theirs.data, theirs.bytes());
  }
  flow.wait_all();
}

void scatter(Flow& flow, const Parts& parts, Part own, int root) {
  if (flow.rank() != root) {
    flow.receive(root, own.data, own.bytes());
    return flow.wait_all();
  }
  for (int step = 1; step < flow.size(); ++step) {
    const Part& theirs = parts[static_cast<size_t>(flow.other(step))];
    flow.send(flow.other(step), theirs.data, theirs.bytes());
  }
  copy(own, parts[static_cast<size_t>(root)]);
  flow.wait_all();
}

void reduce_scatter(Flow& flow, const Parts& parts, Part own, ReduceKind kind) {
  copy(own, parts[static_cast<size_t>(flow.rank())]);
  if (flow.size() > 1) reduce_parts(flow, parts, own, kind);
}

void all_to_all(Flow& flow, const Parts& inputs, const Parts& outputs) {
  for (int step = 1; step < flow.size(); ++step) {
    const Part& in = outputs[static_cast<size_t>(flow.other(-step))];
    const Part& out = inputs[static_cast<size_t>(flow.other(step))];
    flow.receive(flow.other(-step), in.data, in.bytes());
    flow.send(flow.other(step), out.data, out.bytes());
    if (step % kAtOnce == 0) flow.wait_all();
  }
  copy(outputs[static_cast<size_t>(flow.rank())], inputs[static_cast<size_t>(flow.rank())]);
  flow.wait_all();
}

void barrier(Flow& flow) {
  char* mail = flow.scratch(2);
  mail[0] = 0;
  for (int distance = 1; distance < flow.size(); distance *= 2) {
    flow.receive(flow.other(-distance), mail + 1, 1);
    flow.send(flow.other(distance), mail, 1);
    flow.wait_all();
  }
}

}  // namespace taeda::distributed
