#include <ATen/core/future.h>
#include <ATen/core/jit_type.h>

namespace c10 {

namespace ivalue {

void Future::wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  done_.wait(lock, [&] { return completed_; });
}

void Future::waitAndThrow() {
  wait();
  if (error_) std::rethrow_exception(error_);
}

bool Future::complete(IValue value, std::exception_ptr error) {
  std::vector<Callback> callbacks;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (completed_) return false;
    value_ = std::move(value);
    error_ = std::move(error);
    completed_ = true;
    callbacks.swap(callbacks_);
  }
  done_.notify_all();
  for (Callback& callback : callbacks) callback(*this);
  return true;
}

void Future::markCompleted(IValue value) {
  TORCH_CHECK(complete(std::move(value), nullptr), "Future.markCompleted: this future is done already");
}
void Future::setError(std::exception_ptr error) {
  TORCH_CHECK(complete({}, std::move(error)), "Future.setError: this future is done already");
}
void Future::setErrorIfNeeded(std::exception_ptr error) { complete({}, std::move(error)); }

// What is set when it is done is never set again: no lock is needed to read it.
void Future::check_done() const { TORCH_CHECK(completed(), "Future.value: this future is not done; wait() for it"); }
IValue Future::value() const { return constValue(); }
const IValue& Future::constValue() const {
  check_done();
  if (error_) std::rethrow_exception(error_);
  return value_;
}

bool Future::completed() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return completed_;
}
bool Future::hasValue() const { return completed() && !error_; }
bool Future::hasError() const { return completed() && error_; }
std::exception_ptr Future::exception_ptr() const { return completed() ? error_ : nullptr; }
std::string Future::tryRetrieveErrorMessage() const {
  TORCH_CHECK(hasError(), "Future.tryRetrieveErrorMessage: nothing went wrong");
  try {
    std::rethrow_exception(error_);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception of a type that is no std::exception";
  }
}

void Future::add(Callback callback) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!completed_) return callbacks_.push_back(std::move(callback));
  }
  callback(*this);
}

}  // namespace ivalue

using ivalue::Future;

intrusive_ptr<Future> collectAll(const List<intrusive_ptr<Future>>& futures) {
  auto done = make_intrusive<Future>(ListType::create(FutureType::create(AnyType::get())));
  if (futures.empty()) done->markCompleted(futures);
  auto left = std::make_shared<std::atomic<size_t>>(futures.size());
  for (const intrusive_ptr<Future>& future : futures.vec())
    future->addCallback([done, futures, left](Future& one) {
      if (one.hasError()) done->setErrorIfNeeded(one.exception_ptr());
      if (--*left == 0 && !done->completed()) done->markCompleted(futures);
    });
  return done;
}

intrusive_ptr<Future> collectAny(const List<intrusive_ptr<Future>>& futures) {
  auto done = make_intrusive<Future>(AnyType::get());
  if (futures.empty()) done->markCompleted();
  auto first = std::make_shared<std::atomic_flag>();
  for (const intrusive_ptr<Future>& future : futures.vec())
    future->addCallback([done, first](Future& one) {
      if (first->test_and_set()) return;
      if (one.hasError())
        done->setError(one.exception_ptr());
      else
        done->markCompleted(one.constValue());
    });
  return done;
}

}  // namespace c10
