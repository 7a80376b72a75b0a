#include <climits>
#include <functional>

#include "distributed/mpi_world.h"
#include "distributed/thread_transport.h"

namespace taeda::distributed {

namespace {

// Long messages go in pieces, of which many are under way at once: what receives one overlaps with what sends the next,
// which MPICH's own way with long messages does several times slower between processes of one machine.
constexpr size_t kPiece = size_t{1} << 18;
// How many: MPICH has room for some, and is slow where more wait for it.
constexpr size_t kUnderWay = 32;

class MpiTransfer final : public Transfer {
 public:
  // `post` is called with a peer, an offset and a number of bytes, and gives MPI's code and a request.
  using Post = std::function<int(int, size_t, int, MpiHandle*)>;

  MpiTransfer(const MpiLibrary& mpi, bool incoming, int peer, size_t bytes, Post post)
      : mpi_(mpi), incoming_(incoming), bytes_(bytes), source_(peer) {
    const size_t first = peer == kAnyone ? 1 : kUnderWay;  // the rest comes from whoever sends the first piece
    do start(peer, post);
    while (at_ < bytes_ && pieces_.size() < first);
    if (at_ < bytes_) post_ = std::move(post);
  }

  bool test() override {
    for (; next_ < pieces_.size(); ++next_) {
      if (!finished(pieces_[next_])) return false;
      while (at_ < bytes_ && pieces_.size() <= next_ + kUnderWay) start(source_, post_);
    }
    return true;
  }

  bool withdraw() override {
    bool all = true;
    for (size_t i = next_; i < pieces_.size(); ++i) all = withdraw(pieces_[i].request) && all;
    return all;
  }

  int source() const override { return source_; }

 private:
  struct Piece {
    MpiHandle request;
    size_t bytes;
  };
  const char* name() const { return incoming_ ? "a receive" : "a send"; }

  void start(int peer, const Post& post) {
    size_t bytes = std::min(bytes_ - at_, kPiece);
    MpiHandle request = 0;
    mpi_.check(post(peer, at_, static_cast<int>(bytes), &request), name());
    pieces_.push_back({request, bytes});
    at_ += bytes;
  }

  bool finished(Piece& piece) {
    int done = 0;
    MpiStatus status{};
    int code = mpi_.test(&piece.request, &done, &status);
    if (code == 0 && !done) return false;
    piece.request = kDone;
    if (incoming_) {
      source_ = status.words[mpi_.source_word];
      check_size(status, piece.bytes);
      if (mpi_.too_long(code)) TAEDA_FAIL(DistBackend, wrong_size(source_, std::nullopt, piece.bytes));
    }
    mpi_.check(code, name());
    return true;
  }

  void check_size(const MpiStatus& status, size_t bytes) const {
    int count = 0;
    if (mpi_.get_count(&status, mpi_.byte, &count) == 0 && count >= 0 && static_cast<size_t>(count) != bytes)
      TAEDA_FAIL(DistBackend, wrong_size(source_, static_cast<size_t>(count), bytes));
  }

  // MPI withdraws receives; what was sent it keeps.
  bool withdraw(MpiHandle& request) {
    if (request == kDone) return true;
    if (!incoming_ || mpi_.cancel(&request) != 0) return false;
    for (int tries = 0; tries < 100; ++tries) {
      int done = 0;
      MpiStatus status{};
      if (mpi_.test(&request, &done, &status) == 0 && done) return true;
    }
    return false;
  }

  static constexpr MpiHandle kDone = ~MpiHandle{0};
  const MpiLibrary& mpi_;
  bool incoming_;
  size_t bytes_, at_ = 0, next_ = 0;
  int source_;
  std::vector<Piece> pieces_;
  Post post_;
};

class MpiTransport final : public Transport {
 public:
  MpiTransport(const MpiLibrary& mpi, MpiHandle communicator, std::vector<int> world_ranks,
               std::shared_ptr<Watch> watch, Progress& progress)
      : mpi_(mpi),
        communicator_(communicator),
        world_ranks_(std::move(world_ranks)),
        watch_(std::move(watch)),
        progress_(progress) {
    mpi_.check(mpi_.comm_rank(communicator_, &rank_), "MPI_Comm_rank");
    int found = 0;
    const int* bound = nullptr;
    mpi_.check(mpi_.comm_get_attr(mpi_.world, mpi_.tag_bound_key, &bound, &found), "MPI_Comm_get_attr");
    most_tag_ = found ? *bound : SHRT_MAX;
  }

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(world_ranks_.size()); }
  int64_t most_tag() const override { return most_tag_; }

  std::unique_ptr<Transfer> send(int to, int64_t tag, const void* data, size_t bytes) override {
    progress_.renew();
    return std::make_unique<MpiTransfer>(mpi_, false, to, bytes,
                                         [this, tag, data](int peer, size_t at, int piece, MpiHandle* request) {
                                           return mpi_.isend(static_cast<const char*>(data) + at, piece, mpi_.byte,
                                                             peer, static_cast<int>(tag), communicator_, request);
                                         });
  }
  std::unique_ptr<Transfer> receive(int from, int64_t tag, void* data, size_t bytes) override {
    return std::make_unique<MpiTransfer>(
        mpi_, true, from, bytes, [this, tag, data](int peer, size_t at, int piece, MpiHandle* request) {
          return mpi_.irecv(static_cast<char*>(data) + at, piece, mpi_.byte, peer == kAnyone ? mpi_.any_source : peer,
                            static_cast<int>(tag), communicator_, request);
        });
  }

  std::string trouble(int only) const override {
    if (!watch_ || watch_->quiet()) return {};
    return watch_->trouble(world_ranks_, only >= 0 ? world_ranks_[static_cast<size_t>(only)] : -1);
  }

 private:
  const MpiLibrary& mpi_;
  MpiHandle communicator_;
  std::vector<int> world_ranks_;
  std::shared_ptr<Watch> watch_;
  Progress& progress_;
  int rank_ = 0;
  int64_t most_tag_ = 0;
};

}  // namespace

Ref<Transport> make_mpi_transport(const MpiLibrary& mpi, MpiHandle communicator, std::vector<int> world_ranks,
                                  std::shared_ptr<Watch> watch, Progress& progress) {
  return Ref<Transport>(new MpiTransport(mpi, communicator, std::move(world_ranks), std::move(watch), progress));
}

}  // namespace taeda::distributed
