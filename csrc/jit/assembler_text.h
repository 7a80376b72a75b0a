// The words of a program's text, and the types and values that they spell.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "jit/code.h"

namespace taeda::jit {

// One line at a time, as words: bare ones and "quoted ones", these without their quotes.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  bool next();  // false at the end; empty lines and comments are passed over
  void again() { again_ = true; }
  size_t number() const { return number_; }
  bool done() const { return at_ == words_.size(); }
  bool peek(std::string_view word) const { return !done() && words_[at_].text == word && !words_[at_].quoted; }
  const std::string& word();
  const std::string& peek_word() const;
  bool take(std::string_view word);
  int64_t number_word();
  bool has_equals() const;
  void expect_end() const;
  [[noreturn]] void fail(std::string_view why) const;

  // While a type or value is read that may have others in it.
  class Nested {
   public:
    explicit Nested(Lines& lines) : depth_(lines.depth_) {
      if (depth_ == 256) lines.fail("its types or values lie in each other without end");
      ++depth_;
    }
    ~Nested() { --depth_; }

   private:
    int& depth_;
  };

 private:
  struct Word {
    std::string text;
    bool quoted = false;
  };
  void split(std::string_view line);
  std::string_view rest_;
  std::vector<Word> words_;
  size_t at_ = 0, number_ = 0;
  int depth_ = 0;
  bool again_ = false;
};

// list int | optional Tensor | dict str int | tuple 2 int str | named "P" 2 x int y int | class "__torch__.M" | ...
TypePtr read_type(Lines& lines);
// None | True | 1 | 0.5 | "text" | device "cpu" | complex 1.0 2.0 | list int 2 1 2 | tuple 1 5 | dict str int 1 "a" 2 |
// enum "__torch__.Color" "RED" | external 0
Value read_literal(Lines& lines, std::span<const Value> externals);

}  // namespace taeda::jit
