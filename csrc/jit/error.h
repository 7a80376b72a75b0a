// What goes wrong in a program: exceptions by the names of Python's classes, and where in the source it happened.
#pragma once
#include <exception>

#include "taeda/core/error.h"

namespace taeda::jit {

// An exception of a class that the core has no kind for: "ZeroDivisionError", or a program's own.
class TAEDA_API Raised final : public Error {
 public:
  Raised(std::string type, const std::string& message)
      : Error(ErrorKind::Runtime, message), type_(std::move(type)), text_(message) {}
  const std::string& type() const { return type_; }  // as Python names it, with its module but for built-in ones
  const std::string& text() const { return text_; }  // without what others put before it

 private:
  std::string type_, text_;
};

// What leaves the interpreter: the error that ended the program, and the lines that it stood at.
class TAEDA_API Failure final : public Error {
 public:
  Failure(std::exception_ptr cause, const std::string& message, std::string traceback)
      : Error(ErrorKind::Runtime, str(message, "\n", traceback)), cause_(cause), traceback_(std::move(traceback)) {}
  const std::exception_ptr& cause() const { return cause_; }
  const std::string& traceback() const { return traceback_; }

 private:
  std::exception_ptr cause_;
  std::string traceback_;
};

}  // namespace taeda::jit
