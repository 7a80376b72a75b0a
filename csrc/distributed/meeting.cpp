// How processes become a group: they tell each other at a store who they are, and join or find their MPI job.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <sstream>

#include "distributed/engine_group.h"
#include "distributed/mpi_world.h"
#include "distributed/thread_transport.h"

namespace taeda::distributed {

namespace {

constexpr int kTags = 32;  // of groups that one rank makes at the same time

// What a rank says of itself: its machine and process, and its job and rank there, once it has one.
struct Card {
  std::string machine, job = "-";
  int process = 0, rank = -1, tag = 0;
};

std::string to_text(const Card& card) {
  return str(card.machine, " ", card.process, " ", card.job, " ", card.rank, " ", card.tag);
}

Card to_card(const std::string& text) {
  Card card;
  std::istringstream words(text);
  words >> card.machine >> card.process >> card.job >> card.rank >> card.tag;
  return card;
}

Card own_card() {
  static std::atomic<int> made{0};
  Card card;
  card.machine = machine_name();
  card.process = ::getpid();
  if (const MpiWorld* world = MpiWorld::current()) {
    card.job = world->job();
    card.rank = world->rank();
    card.tag = world->rank() * kTags + made++ % kTags;
  }
  return card;
}

std::string key_of(int rank) { return str("engine/rank/", rank); }

[[noreturn]] void fail_absent(Store& store, int size, Milliseconds timeout) {
  std::string absent;
  int count = 0;
  for (int rank = 0; rank < size; ++rank)
    if (!store.check({key_of(rank)})) absent += str(count++ ? ", " : "", rank);
  TAEDA_FAIL(DistStore, "rank", count > 1 ? "s " : " ", absent, " of ", size, " did not come within ",
             int64_t{timeout.count()}, " ms; were all processes started, with this address and world size?");
}

std::vector<Card> exchange(Store& store, int rank, int size, Milliseconds timeout) {
  store.set(key_of(rank), to_text(own_card()));
  StoreRequest request{StoreOp::MultiGet, {}, {}, 0, timeout};
  for (int i = 0; i < size; ++i) request.keys.push_back(key_of(i));
  std::vector<Card> cards;
  try {
    for (const std::string& text : store.run(request).values) cards.push_back(to_card(text));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::DistStore) throw;
    fail_absent(store, size, timeout);
  }
  return cards;
}

std::string random_name() {
  std::random_device device;
  std::string name = "taeda-";
  for (int i = 0; i < 16; ++i) name += "0123456789abcdef"[device() % 16];
  return name;
}

MpiWorld& join(Ref<Store> store, const std::vector<Card>& cards, int rank, Milliseconds timeout,
               const std::string& library) {
  if (rank == 0) store->set("engine/job", random_name());
  std::vector<std::string> machines;
  for (const Card& card : cards) machines.push_back(card.machine);
  bool one_machine = std::count(machines.begin(), machines.end(), machines[0]) == std::ssize(machines);
  PmiJob job{store,  store->get("engine/job", timeout), rank, static_cast<int>(cards.size()), process_mapping(machines),
             timeout};
  return MpiWorld::join(library, std::move(job), one_machine);
}

// The job that all of the ranks are in, joined if none of them is in one.
MpiWorld& common_world(Ref<Store> store, const std::vector<Card>& cards, int rank, Milliseconds timeout,
                       const std::string& library) {
  auto same = [&](const Card& card) { return card.job == cards[0].job; };
  TAEDA_CHECK_KIND(
      DistBackend, std::all_of(cards.begin(), cards.end(), same),
      "some of these processes were in a group together before, and MPI lets no others join them; start new "
      "processes for a group of others");
  return cards[0].rank >= 0 ? *MpiWorld::current() : join(std::move(store), cards, rank, timeout, library);
}

}  // namespace

Ref<ProcessGroup> make_process_group(Ref<Store> store, int rank, int size, Milliseconds timeout,
                                     const std::string& library) {
  TAEDA_CHECK_VALUE(size > 0 && rank >= 0 && rank < size, "rank ", rank, " is none of ", size);
  if (size == 1) return make_thread_group(random_name(), 0, 1);
  if (!MpiWorld::current()) MpiLibrary known(library);  // one that cannot be opened fails before anybody waits
  std::vector<Card> cards = exchange(*store, rank, size, timeout);
  MpiWorld& world = common_world(store, cards, rank, timeout, library);
  std::vector<int> ranks;
  for (int i = 0; i < size; ++i) ranks.push_back(cards[0].rank >= 0 ? cards[static_cast<size_t>(i)].rank : i);
  if (!world.watch()) {
    std::vector<Member> members(static_cast<size_t>(world.size()));
    for (int i = 0; i < size; ++i)
      members[static_cast<size_t>(ranks[static_cast<size_t>(i)])] = {cards[static_cast<size_t>(i)].machine,
                                                                     cards[static_cast<size_t>(i)].process};
    world.set_watch(Watch::start(store->clone(), world.rank(), std::move(members)));
  }
  return make_engine_group(world.connect(std::move(ranks), cards[0].tag, timeout));
}

Ref<ProcessGroup> make_thread_group(const std::string& key, int rank, int size) {
  TAEDA_CHECK_VALUE(size > 0 && rank >= 0 && rank < size, "rank ", rank, " is none of ", size);
  return make_engine_group(make_thread_transport(key, rank, size));
}

void leave_processes() {
  if (MpiWorld* world = MpiWorld::current()) world->leave();
}

void end_processes() {
  leave_processes();
  finalize_mpi();
}

std::string transport_description() {
  const MpiWorld* world = MpiWorld::current();
  return world ? world->mpi().version() : "";
}

}  // namespace taeda::distributed
