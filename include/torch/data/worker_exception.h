// What a worker's exception becomes where its batch is asked for.
#pragma once
#include <exception>
#include <string>

namespace torch::data {

struct WorkerException : public std::exception {
  explicit WorkerException(std::exception_ptr original)
      : original_exception(std::move(original)), message("an exception in a thread of the DataLoader") {
    try {
      std::rethrow_exception(original_exception);
    } catch (const std::exception& error) {
      message += std::string(": ") + error.what();
    } catch (...) {
    }
  }
  const char* what() const noexcept override { return message.c_str(); }
  std::exception_ptr original_exception;
  std::string message;
};

}  // namespace torch::data
