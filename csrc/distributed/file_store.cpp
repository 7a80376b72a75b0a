// A store in a file: a log of the requests that changed it, which each process repeats on a table of its own. A lock on
// the file orders the processes.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "distributed/key_table.h"
#include "distributed/store_wire.h"
#include "taeda/core/fork.h"

namespace taeda::distributed {

namespace {

constexpr Milliseconds kShortestPause(1), kLongestPause(50);
const std::string kWorkers{kHidden, 'w', 'o', 'r', 'k', 'e', 'r', 's'};

[[noreturn]] void fail_file(const char* what, const std::string& path) {
  TAEDA_FAIL(DistStore, "cannot ", what, " '", path, "': ", std::strerror(errno));
}

// The file, open and locked. Another process may remove it between the two; then it is made anew.
class LockedFile {
 public:
  explicit LockedFile(const std::string& path) : path_(path) {
    for (;;) {
      file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
      if (file_ < 0) fail_file("open the store's file", path);
      if (!lock()) {
        ::close(file_);
        fail_file("lock the store's file", path);
      }
      struct stat here, there;
      if (::fstat(file_, &here) == 0 && ::stat(path.c_str(), &there) == 0 && here.st_ino == there.st_ino) {
        inode_ = here.st_ino;
        size_ = static_cast<uint64_t>(here.st_size);
        return;
      }
      ::close(file_);
    }
  }
  ~LockedFile() { ::close(file_); }
  LockedFile(const LockedFile&) = delete;

  ino_t inode() const { return inode_; }
  uint64_t size() const { return size_; }

  std::string read(uint64_t begin, uint64_t count) const {
    std::string bytes(count, '\0');
    for (uint64_t done = 0; done < count;) {
      ssize_t got = ::pread(file_, bytes.data() + done, count - done, static_cast<off_t>(begin + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) fail_file("read the store's file", path_);
      done += static_cast<uint64_t>(got);
    }
    return bytes;
  }
  void append(const std::string& bytes) {
    for (uint64_t done = 0; done < bytes.size();) {
      ssize_t put = ::pwrite(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(size_ + done));
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) {
        int cause = errno;
        (void)!::ftruncate(file_, static_cast<off_t>(size_));  // no half of a request stays
        errno = cause;
        fail_file("write the store's file", path_);
      }
      done += static_cast<uint64_t>(put);
    }
    size_ += bytes.size();
  }
  void cut(uint64_t size) {
    if (::ftruncate(file_, static_cast<off_t>(size)) < 0) fail_file("mend the store's file", path_);
    size_ = size;
  }

 private:
  bool lock() const {
    int result;
    do {
      result = ::flock(file_, LOCK_EX);
    } while (result < 0 && errno == EINTR);
    return result == 0;
  }

  const std::string& path_;
  int file_ = -1;
  ino_t inode_ = 0;
  uint64_t size_ = 0;
};

class FileStore final : public Store {
 public:
  FileStore(std::string path, int64_t workers) : path_(std::move(path)), workers_(workers), process_(::getpid()) {
    if (workers_ > 0) add(kWorkers, 1);
  }
  ~FileStore() override {
    if (workers_ <= 0 || process_ != ::getpid()) return;
    try {
      if (add(kWorkers, -1) <= 0) ::unlink(path_.c_str());
    } catch (const std::exception&) {  // gone already
    }
  }

  StoreReply run(const StoreRequest& request) override {
    auto deadline = deadline_of(request.timeout);
    for (Milliseconds pause = kShortestPause;; pause = std::min(2 * pause, kLongestPause)) {
      if (auto reply = try_once(request)) return *reply;
      if (Clock::now() >= deadline) {
        Lock lock(mutex_);
        fail_timeout(request, table_.missing(request));
      }
      check_interruption();
      std::this_thread::sleep_for(pause);
    }
  }
  Ref<Store> clone() override { return Ref<Store>(new FileStore(path_, 0)); }
  std::string describe() const override { return str("FileStore('", path_, "')"); }

 private:
  std::optional<StoreReply> try_once(const StoreRequest& request) {
    Lock lock(mutex_);
    LockedFile file(path_);
    catch_up(file);
    auto reply = table_.apply(request);
    if (reply && KeyTable::writes(request.op)) {
      write(file, to_frame(request));
    }
    return reply;
  }

  // What is not in the file did not happen.
  void write(LockedFile& file, const std::string& frame) {
    try {
      file.append(frame);
      seen_ = file.size();
    } catch (...) {
      inode_ = 0;
      throw;
    }
  }

  // Repeats what other processes wrote. One that died while it wrote left half a request, which is cut off.
  void catch_up(LockedFile& file) {
    if (file.inode() != inode_ || file.size() < seen_) {
      table_ = {};
      inode_ = file.inode();
      seen_ = 0;
    }
    std::string log = file.read(seen_, file.size() - seen_);
    std::string_view rest = log;
    while (rest.size() >= kFrameHeader) {
      uint64_t length = frame_length(rest);
      if (rest.size() - kFrameHeader < length) break;
      table_.apply(request_from(rest.substr(kFrameHeader, length)));
      rest.remove_prefix(kFrameHeader + length);
    }
    seen_ = file.size() - rest.size();
    if (!rest.empty()) file.cut(seen_);
  }

  std::string path_;
  int64_t workers_;
  pid_t process_;
  Mutex mutex_;
  KeyTable table_;
  ino_t inode_ = 0;
  uint64_t seen_ = 0;  // bytes of the log that the table knows
};

}  // namespace

Ref<Store> make_file_store(std::string path, int64_t workers) {
  return Ref<Store>(new FileStore(std::move(path), workers));
}

}  // namespace taeda::distributed
