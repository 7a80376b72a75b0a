// A value that will be there later: what asynchronous work gives.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>

#include <ATen/core/ivalue.h>

namespace c10::ivalue {

class C10_API Future final : public intrusive_ptr_target {
 public:
  // `devices` are those of the tensors in the value; work on them is ordered by whoever completes the future.
  explicit Future(TypePtr type, std::vector<Device> devices = {})
      : type_(std::move(type)), devices_(std::move(devices)) {}

  struct C10_API FutureError final : std::exception {
    FutureError() = default;
    explicit FutureError(std::string&& message) : error_msg(std::move(message)) {}
    const char* what() const noexcept override { return error_msg.c_str(); }
    std::string error_msg;
  };

  void wait();
  void waitAndThrow();  // raises what went wrong
  // Each once; RuntimeError when it is done already.
  void markCompleted(IValue value = {});
  void setError(std::exception_ptr error);
  void setErrorIfNeeded(std::exception_ptr error);  // unless it is done
  // Of one that is done; raises what went wrong.
  IValue value() const;
  const IValue& constValue() const;
  bool completed() const;
  bool hasValue() const;
  bool hasError() const;
  std::exception_ptr exception_ptr() const;
  std::string tryRetrieveErrorMessage() const;

  // Runs `callback(Future&)` when it is done: at once if it is, else in the thread that completes it.
  template <class T>
  void addCallback(T callback, bool uses_future = true) {
    static_assert(std::is_invocable_r_v<void, T, Future&>, "the callback must take a Future&");
    (void)uses_future;
    add(std::move(callback));
  }
  // A future of what `callback(Future&)` gives.
  template <class T>
  intrusive_ptr<Future> then(T callback, TypePtr type) {
    static_assert(std::is_invocable_r_v<IValue, T, Future&>, "the callback must take a Future& and give an IValue");
    intrusive_ptr<Future> next = createInstance(std::move(type));
    add([next, callback = std::move(callback)](Future& self) mutable {
      try {
        next->markCompleted(callback(self));
      } catch (const std::exception&) {
        next->setErrorIfNeeded(std::current_exception());
      }
    });
    return next;
  }
  // A future of what the future that `callback(Future&)` gives will give.
  template <class T>
  intrusive_ptr<Future> thenAsync(T callback, TypePtr type) {
    static_assert(std::is_invocable_r_v<intrusive_ptr<Future>, T, Future&>,
                  "the callback must take a Future& and give a future");
    intrusive_ptr<Future> next = createInstance(std::move(type));
    add([next, callback = std::move(callback)](Future& self) mutable {
      try {
        callback(self)->add([next](Future& inner) {
          if (inner.hasError())
            next->setError(inner.exception_ptr());
          else
            next->markCompleted(inner.constValue());
        });
      } catch (const std::exception&) {
        next->setErrorIfNeeded(std::current_exception());
      }
    });
    return next;
  }

  TypePtr elementType() const { return type_; }
  const std::vector<Device>& devices() const { return devices_; }
  intrusive_ptr<Future> createInstance(TypePtr type) const { return make_intrusive<Future>(std::move(type), devices_); }

 private:
  using Callback = std::function<void(Future&)>;
  void add(Callback callback);
  bool complete(IValue value, std::exception_ptr error);  // false when it is done already
  void check_done() const;

  mutable std::mutex mutex_;
  std::condition_variable done_;
  bool completed_ = false;
  IValue value_;
  std::exception_ptr error_;
  std::vector<Callback> callbacks_;
  const TypePtr type_;
  const std::vector<Device> devices_;
};

}  // namespace c10::ivalue

namespace c10 {

namespace detail {
template <>
struct Box<intrusive_ptr<ivalue::Future>> {
  static Value to(const intrusive_ptr<ivalue::Future>& v) {
    return Value::object(::taeda::Ref<::taeda::RefCounted>(v.get()));
  }
  static intrusive_ptr<ivalue::Future> from(const Value& v) {
    auto* future = dynamic_cast<ivalue::Future*>(v.to_object());
    TORCH_CHECK(future, "the value is no future");
    return intrusive_ptr<ivalue::Future>::reclaim_copy(future);
  }
  static TypePtr type() { return ::taeda::future_type(::taeda::plain_type(TypeKind::Any)); }
};
}  // namespace detail

inline bool IValue::isFuture() const {
  return tag() == Tag::Object && dynamic_cast<const ivalue::Future*>(to_object()) != nullptr;
}
inline intrusive_ptr<ivalue::Future> IValue::toFuture() const {
  return detail::Box<intrusive_ptr<ivalue::Future>>::from(*this);
}

// Futures of the same futures, when all are done, or when one is.
C10_API intrusive_ptr<ivalue::Future> collectAll(const List<intrusive_ptr<ivalue::Future>>& futures);
C10_API intrusive_ptr<ivalue::Future> collectAny(const List<intrusive_ptr<ivalue::Future>>& futures);

}  // namespace c10
