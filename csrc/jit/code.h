// A program as the machine runs it: functions of instructions over registers. Ints, floats and bools that are known to
// be such live in number registers; everything else in value registers.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "jit/primitive.h"
#include "taeda/dispatch/class_type.h"
#include "taeda/dispatch/collections.h"

namespace taeda::jit {

// name, and where its operands go: n numbers, @ a place to jump to; * a list of operands (Site).
// The results come first, behind a colon: add.i takes two numbers and gives one.
// clang-format off
#define TAEDA_FORALL_OPCODES(X) \
  X(AddI, "add.i", "n:nn") X(SubI, "sub.i", "n:nn") X(MulI, "mul.i", "n:nn") X(FloorDivI, "floordiv.i", "n:nn") \
  X(ModI, "mod.i", "n:nn") X(AndI, "and.i", "n:nn") X(OrI, "or.i", "n:nn") X(XorI, "xor.i", "n:nn") \
  X(NegI, "neg.i", "n:n") X(AddF, "add.f", "n:nn") X(SubF, "sub.f", "n:nn") X(MulF, "mul.f", "n:nn") \
  X(DivF, "div.f", "n:nn") X(FloorDivF, "floordiv.f", "n:nn") X(ModF, "mod.f", "n:nn") X(NegF, "neg.f", "n:n") \
  X(LtI, "lt.i", "n:nn") X(LeI, "le.i", "n:nn") X(EqI, "eq.i", "n:nn") X(NeI, "ne.i", "n:nn") \
  X(LtF, "lt.f", "n:nn") X(LeF, "le.f", "n:nn") X(EqF, "eq.f", "n:nn") X(NeF, "ne.f", "n:nn") \
  X(ToFloat, "float", "n:n") X(ToInt, "int", "n:n") X(ToBoolI, "bool.i", "n:n") X(ToBoolF, "bool.f", "n:n") \
  X(Not, "not", "n:n") X(Copy, "copy", "n:n") X(Jump, "jump", ":@") X(If, "if", ":n@") X(Unless, "unless", ":n@") \
  X(UnlessLtI, "unless_lt.i", ":nn@") X(UnlessLeI, "unless_le.i", ":nn@") X(UnlessEqI, "unless_eq.i", ":nn@") \
  X(UnlessNeI, "unless_ne.i", ":nn@") X(UnlessLtF, "unless_lt.f", ":nn@") X(UnlessLeF, "unless_le.f", ":nn@") \
  X(Next, "next", ":nn@") X(Move, "move", "*") X(Drop, "drop", "*") X(Return, "return", "*") \
  X(CallOp, "op", "*") X(CallPrimitive, "primitive", "*") X(CallFunction, "call", "*") \
  X(CallMethod, "method", "*") X(Get, "get", "*") X(Set, "set", "*") X(New, "new", "*") X(List, "list", "*") \
  X(Tuple, "tuple", "*") X(Dict, "dict", "*") X(Unpack, "unpack", "*") X(TupleItem, "tuple_item", "*") \
  X(TupleSlice, "tuple_slice", "*") X(IsInstance, "isinstance", "*") X(ListItem, "item", "*") \
  X(ListSize, "len", "*") X(TensorSize, "size", "*") X(Entered, "entered", "*") X(Left, "left", "*")
// clang-format on

enum class Opcode : uint16_t {
#define X(name, text, operands) name,
  TAEDA_FORALL_OPCODES(X)
#undef X
};

union Number {
  int64_t i;
  double f;
};

// Where a value comes from or goes to.
struct Operand {
  enum class Kind : uint8_t { Copy, Move, Constant, Int, Float, Bool };
  Kind kind = Kind::Copy;
  int32_t index = 0;
};

class Function;
class Code;
struct Site;
using Direct = void (*)(const Site&, Value* values, Number* numbers);

// What an instruction with a list of operands needs beside them.
struct Site {
  std::vector<Operand> inputs, outputs;
  const Op* op = nullptr;
  PrimitiveFunction primitive = nullptr;
  const Function* function = nullptr;
  TypePtr type = nullptr;
  std::vector<TypePtr> types;
  std::string name;
  int64_t first = 0, last = 0;  // of an attribute, an item, a slice
  bool takes_dtypes = false;    // so that ints among the arguments become dtypes
  Direct direct = nullptr;      // for signatures that need no boxes (direct.cpp)
  const Code* code = nullptr;
};

struct Instruction {
  Opcode opcode;
  int32_t a = 0, b = 0, c = 0;  // registers, a place to jump to, or a = the site
};

// A part of the program's source.
struct Source {
  std::string file, text;
  int64_t first_line = 1;
};
struct Place {
  int32_t source = -1, start = 0, end = 0;  // in characters
};

class Code {
 public:
  int32_t values = 0, numbers = 0;  // how many registers
  std::vector<Operand> parameters;
  std::vector<Instruction> instructions;
  std::vector<Place> places;  // of each instruction
  std::vector<Site> sites;
  std::vector<Value> constants;
  std::vector<Number> preset;  // of the first number registers
};

// From the line that this thread's program is at, once in a run; from nowhere if none runs.
void warn_from_program(const std::string& message);

class Unit;

class TAEDA_API Function {
 public:
  std::string name;  // __torch__.M.forward
  Schema schema;
  Code code;
  const Unit* unit = nullptr;

  // Takes the arguments from the stack, one for each of the schema's, and leaves the result. Failure if it fails.
  void run(Stack& stack) const;
};

// Functions that were built together; they live as long as it does.
class TAEDA_API Unit final : public RefCounted {
 public:
  const Function* find(std::string_view name) const;
  const std::deque<Function>& functions() const { return functions_; }

  std::vector<Source> sources;
  std::vector<Ref<const Unit>> others;  // whose functions it calls

 private:
  friend class Assembler;
  std::deque<Function> functions_;
  std::unordered_map<std::string_view, Function*> by_name_;
};

// A method of a class that is a function of a unit: what the class's Method runs.
struct CompiledMethod {
  Ref<const Unit> unit;
  const Function* function;
  void operator()(Stack& stack) const { function->run(stack); }
};
// The function behind a method; null if it is none of a unit.
TAEDA_API const Function* compiled_function(const Method* method);

constexpr int kProgramVersion = 1;
// The functions that a text describes; classes that it names are declared, methods added to them. `constants` are what
// the text refers to by number; `others` are searched for functions that it calls and does not have.
// ValueError that names the line where the text is damaged or wants what this build has not.
TAEDA_API Ref<Unit> assemble(std::string_view text, std::span<const Value> constants,
                             std::vector<Ref<const Unit>> others = {});

}  // namespace taeda::jit
