// Runs code. Calls among functions of programs are frames of the machine, so the depth of C's stack is no limit.
#include <chrono>
#include <set>

#include "autograd/casting.h"
#include "jit/dtype_numbers.h"
#include "jit/error.h"
#include "jit/primitives/arithmetic.h"
#include "jit/primitives/typed.h"
#include "jit/traceback.h"
#include "taeda/core/thread_state.h"
#include "taeda/core/warn.h"

#include "jit/code.h"

namespace taeda::jit {

namespace {

constexpr size_t kMostFrames = 5'000;
constexpr size_t kBlock = 1024;  // registers

// A thread's registers: blocks, of which frames take and give back parts from the end. Free ones hold None.
template <class T>
class Arena {
 public:
  T* take(size_t count) {
    while (block_ < blocks_.size() && used_ + count > blocks_[block_].size) next();
    if (block_ == blocks_.size())
      blocks_.push_back({std::make_unique<T[]>(std::max(count, kBlock)), std::max(count, kBlock)});
    T* taken = blocks_[block_].items.get() + used_;
    used_ += count;
    return taken;
  }
  struct Mark {
    size_t block, used;
  };
  Mark mark() const { return {block_, used_}; }
  void give_back(Mark mark) {
    block_ = mark.block;
    used_ = mark.used;
  }

 private:
  void next() {
    ++block_;
    used_ = 0;
  }
  struct Block {
    std::unique_ptr<T[]> items;
    size_t size;
  };
  std::vector<Block> blocks_;
  size_t block_ = 0, used_ = 0;
};

struct Frame {
  const Function* function;
  const Instruction* next;
  Value* values;
  Number* numbers;
  Arena<Value>::Mark values_before;
  Arena<Number>::Mark numbers_before;
};

class Machine;
struct Registers {
  Arena<Value> values;
  Arena<Number> numbers;
  Stack stack;         // of calls through boxes
  size_t depth = 0;    // frames of all runs in this thread
  uint32_t ticks = 0;  // steps backwards in programs
  Machine* running = nullptr;
  std::chrono::steady_clock::time_point asked{};
};
thread_local std::unique_ptr<Registers> t_registers;
Registers& registers() {
  if (!t_registers) t_registers = std::make_unique<Registers>();
  return *t_registers;
}

// Now and then, on a way back in a loop: whether the user wants to stop.
[[gnu::noinline]] void ask_for_interrupt(Registers& registers) {
  if (!surroundings.check_interrupt) return;
  auto now = std::chrono::steady_clock::now();
  if (now - registers.asked < std::chrono::milliseconds(50)) return;
  registers.asked = now;
  surroundings.check_interrupt();
}

class Machine {
 public:
  explicit Machine(Registers& registers)
      : registers_(registers), outer_(std::exchange(registers.running, this)), bottom_(registers.depth) {}
  ~Machine() {
    while (!frames_.empty()) pop_frame();
    registers_.running = outer_;
  }

  void run(const Function& function, Stack& stack) {
    push_frame(function);
    size_t count = function.code.parameters.size(), base = stack.size() - count;
    for (size_t i = 0; i < count; ++i) put(function.code.parameters[i], std::move(stack[base + i]));
    stack.resize(base);
    bool grad_mode = t_state.grad_mode;
    size_t casts = casting::blocks();
    try {
      stack.push_back(execute());
    } catch (const Failure&) {  // of a program that this one called through something else
      leave_contexts(grad_mode, casts);
      throw;
    } catch (const std::exception& error) {
      Failure failure(std::current_exception(), error.what(), traceback());
      leave_contexts(grad_mode, casts);
      throw failure;
    }
  }

  // Once for each place: in a loop that is the first round.
  void warn(const std::string& message) {
    auto ran = static_cast<size_t>(next_ - frame_.function->code.instructions.data()) - 1;
    SourceLocation place = place_of(*frame_.function, ran);
    if (!warned_.insert({place.file, place.line}).second) return;
    taeda::warn(Warning(Warning::UserWarning(), place, message, /*verbatim=*/true));
  }

 private:
  // --- Frames
  void push_frame(const Function& function) {
    if (registers_.depth >= kMostFrames)
      throw Raised("RecursionError",
                   str("a program calls functions more than ", kMostFrames, " deep; the last one was ", function.name));
    const Code& code = function.code;
    Frame frame{&function, code.instructions.data(), nullptr,
                nullptr,   registers_.values.mark(), registers_.numbers.mark()};
    frame.values = registers_.values.take(static_cast<size_t>(code.values));
    frame.numbers = registers_.numbers.take(static_cast<size_t>(code.numbers));
    std::copy(code.preset.begin(), code.preset.end(), frame.numbers);
    frames_.push_back(frame);
    frame_ = frame;
    ++registers_.depth;
  }

  void pop_frame() {
    Frame& gone = frames_.back();
    for (int32_t i = 0; i < gone.function->code.values; ++i) gone.values[i] = Value();
    registers_.values.give_back(gone.values_before);
    registers_.numbers.give_back(gone.numbers_before);
    frames_.pop_back();
    --registers_.depth;
    if (!frames_.empty()) frame_ = frames_.back();
  }

  // What `with` statements entered is left, as an exception is on its way out; one that this raises goes on instead.
  void leave_contexts(bool grad_mode, size_t casts) {
    std::exception_ptr raised;
    while (!contexts_.empty()) {
      Value object = std::move(contexts_.back());
      contexts_.pop_back();
      try {
        const Method* method = object.to_instance().type->find_method("__exit__");
        Stack stack{std::move(object), Value(), Value(), Value()};
        if (method && method->run) method->run(stack);
      } catch (const std::exception&) {
        raised = std::current_exception();
      }
    }
    while (casting::blocks() > casts) casting::leave_block();
    t_state.grad_mode = grad_mode;
    if (raised) std::rethrow_exception(raised);
  }

  std::string traceback() {
    frames_.back().next = next_;
    std::string text = "Traceback of the program (most recent call last):\n";
    constexpr size_t kShown = 20;
    for (size_t i = 0; i < frames_.size(); ++i) {
      if (frames_.size() > kShown && i == kShown / 2) {
        i = frames_.size() - kShown / 2;
        text += "  ...\n";
      }
      const Frame& frame = frames_[i];
      auto ran = frame.next - frame.function->code.instructions.data();
      text += frame_text(*frame.function, static_cast<size_t>(ran > 0 ? ran - 1 : 0));
    }
    return text;
  }

  // --- Operands
  Value take(const Operand& operand) {
    switch (operand.kind) {
      case Operand::Kind::Copy:
        return frame_.values[operand.index];
      case Operand::Kind::Move:
        return std::move(frame_.values[operand.index]);
      case Operand::Kind::Constant:
        return frame_.function->code.constants[static_cast<size_t>(operand.index)];
      case Operand::Kind::Int:
        return frame_.numbers[operand.index].i;
      case Operand::Kind::Float:
        return frame_.numbers[operand.index].f;
      default:
        return frame_.numbers[operand.index].i != 0;
    }
  }
  // What is only looked at. A number has to be boxed for it, in `box`.
  const Value& look(const Operand& operand, Value& box) {
    if (operand.kind <= Operand::Kind::Move) return frame_.values[operand.index];
    if (operand.kind == Operand::Kind::Constant)
      return frame_.function->code.constants[static_cast<size_t>(operand.index)];
    return box = take(operand);
  }
  // What was looked at for the last time is let go, unless the result stands there now.
  void let_go(const Site& site) {
    for (const Operand& operand : site.inputs) {
      if (operand.kind != Operand::Kind::Move) continue;
      bool taken = !site.outputs.empty() && site.outputs[0].kind <= Operand::Kind::Move &&
                   site.outputs[0].index == operand.index;
      if (!taken) frame_.values[operand.index] = Value();
    }
  }
  int64_t take_int(const Operand& operand) {
    if (operand.kind == Operand::Kind::Int) [[likely]]
      return frame_.numbers[operand.index].i;
    Value box;
    return look(operand, box).to_int();
  }
  void put(const Operand& operand, Value&& value) {
    switch (operand.kind) {
      case Operand::Kind::Int:
        frame_.numbers[operand.index].i = value.to_int();
        return;
      case Operand::Kind::Float:
        frame_.numbers[operand.index].f = value.to_float();
        return;
      case Operand::Kind::Bool:
        frame_.numbers[operand.index].i = value.to_bool();
        return;
      default:
        frame_.values[operand.index] = std::move(value);
    }
  }
  std::vector<Value> take_all(const Site& site) {
    std::vector<Value> values;
    values.reserve(site.inputs.size());
    for (const Operand& operand : site.inputs) values.push_back(take(operand));
    return values;
  }

  // --- Instructions with sites
  void call_op(const Site& site) {
    if (site.direct) return site.direct(site, frame_.values, frame_.numbers);
    size_t base = push_inputs(site);
    Stack& stack = registers_.stack;
    check_tensors(site, base);
    if (site.takes_dtypes)
      for (size_t i = 0; i < site.inputs.size(); ++i) to_argument(stack[base + i], site.op->info().params[i].type);
    site.op->call_boxed(stack);
    for (size_t i = base; i < stack.size(); ++i) to_program(stack[i]);
    pop_results(site, base);
  }
  // Kernels look into tensors that their schemas promise.
  void check_tensors(const Site& site, size_t base) {
    const OpInfo& info = site.op->info();
    for (size_t i = 0; i < info.param_count; ++i)
      if (registers_.stack[base + i].is_none() && info.params[i].type == ArgType::Tensor && !info.params[i].optional)
        TAEDA_FAIL(Type, site.name, " wants a tensor for '", info.params[i].name, "'; got None");
  }
  void call_primitive(const Site& site) {
    size_t base = push_inputs(site);
    site.primitive(registers_.stack, site.inputs.size());
    pop_results(site, base);
  }
  size_t push_inputs(const Site& site) {
    size_t base = registers_.stack.size();
    for (const Operand& operand : site.inputs) registers_.stack.push_back(take(operand));
    return base;
  }
  void pop_results(const Site& site, size_t base) {
    Stack& stack = registers_.stack;
    for (size_t i = 0; i < site.outputs.size(); ++i) {
      TAEDA_CHECK(base + i < stack.size(), site.name, " gave fewer results than the program has places for");
      put(site.outputs[i], std::move(stack[base + i]));
    }
    stack.resize(base);
  }

  void call_function(const Site& site, const Function& function) {
    TAEDA_CHECK(site.inputs.size() == function.code.parameters.size(), function.name, " takes ",
                function.code.parameters.size(), " arguments; it got ", site.inputs.size());
    std::vector<Value> arguments = take_all(site);
    frames_.back().next = next_;
    push_frame(function);
    for (size_t i = 0; i < arguments.size(); ++i) put(function.code.parameters[i], std::move(arguments[i]));
    next_ = frame_.next;
  }
  void call_method(const Site& site) {
    Value box;
    const Instance& object = look(site.inputs[0], box).to_instance();
    const Method* method = object.type->find_method(site.name);
    TAEDA_CHECK(method && method->run, "objects of ", object.type->name(), " have no method '", site.name, "'");
    if (const Function* function = compiled_function(method)) return call_function(site, *function);
    size_t base = push_inputs(site);
    method->run(registers_.stack);
    if (registers_.stack.size() == base) registers_.stack.emplace_back();
    pop_results(site, base);
  }
  // Whether the program goes on.
  bool return_from(const Site& site, Value& result) {
    Value value = take(site.inputs[0]);
    pop_frame();
    if (frames_.empty()) {
      result = std::move(value);
      return false;
    }
    next_ = frame_.next;
    put(frame_.function->code.sites[static_cast<size_t>(next_[-1].a)].outputs[0], std::move(value));
    return true;
  }

  size_t slot_of(const Site& site, const Instance& object) {
    return object.type == site.type ? static_cast<size_t>(site.first) : object.type->attribute_slot(site.name);
  }
  void get(const Site& site) {
    Value box;
    const Instance& object = look(site.inputs[0], box).to_instance();
    put(site.outputs[0], Value(object.slots.at(slot_of(site, object))));
  }
  void set(const Site& site) {
    Value box;
    Instance& object = look(site.inputs[0], box).to_instance();
    object.slots.at(slot_of(site, object)) = take(site.inputs[1]);
  }

  void make_list(const Site& site) {
    ListRef list = ListRef::of(site.type);
    for (const Operand& operand : site.inputs) list.append(take(operand));
    put(site.outputs[0], Value(list.value()));
  }
  void make_dict(const Site& site) {
    auto dict = make_ref<taeda::Dict>(site.types[0], site.types[1]);
    for (size_t i = 0; i < site.inputs.size(); i += 2) {
      Value key = take(site.inputs[i]);
      dict->set(key, take(site.inputs[i + 1]));
    }
    put(site.outputs[0], dict);
  }
  void unpack(const Site& site) {
    Value whole = take(site.inputs[0]);
    bool is_tuple = whole.tag() == Value::Tag::Tuple;
    size_t size = is_tuple ? whole.to_tuple().items.size() : ListRef(whole).size();
    TAEDA_CHECK_VALUE(size == site.outputs.size(), "expected ", site.outputs.size(), " items to unpack, got ", size);
    for (size_t i = 0; i < size; ++i)
      put(site.outputs[i], is_tuple ? Value(whole.to_tuple().items[i]) : ListRef(whole).get(i));
  }
  void tuple_part(const Site& site, bool is_slice) {
    Value box;
    const std::vector<Value>& items = look(site.inputs[0], box).to_tuple().items;
    int64_t size = static_cast<int64_t>(items.size());
    if (!is_slice) {
      int64_t at = site.first < 0 ? site.first + size : site.first;
      TAEDA_CHECK_INDEX(at >= 0 && at < size, "a tuple of ", size, " items has no item ", site.first);
      return put(site.outputs[0], Value(items[static_cast<size_t>(at)]));
    }
    TAEDA_CHECK_INDEX(0 <= site.first && site.first <= site.last && site.last <= size, "a slice is beyond its tuple");
    put(site.outputs[0],
        make_ref<taeda::Tuple>(std::vector<Value>(items.begin() + site.first, items.begin() + site.last)));
  }
  void is_instance(const Site& site) {
    Value box;
    TypePtr type = type_of(look(site.inputs[0], box));
    bool found = std::ranges::any_of(site.types, [&](TypePtr wanted) { return type->is_subtype_of(wanted); });
    put(site.outputs[0], Value(found));
  }

  void list_item(const Site& site) {
    Value box;
    const Value& list = look(site.inputs[0], box);
    int64_t index = take_int(site.inputs[1]);
    auto at = [&](auto& items) -> decltype(auto) {
      int64_t size = static_cast<int64_t>(items.size()), place = index < 0 ? index + size : index;
      TAEDA_CHECK_INDEX(place >= 0 && place < size, "list index out of range: ", index, " of ", size, " items");
      return items[static_cast<size_t>(place)];
    };
    const Operand& to = site.outputs[0];
    switch (list.tag()) {
      case Value::Tag::IntList:
        return to.kind == Operand::Kind::Int ? void(frame_.numbers[to.index].i = at(list.int_items()))
                                             : put(to, at(list.int_items()));
      case Value::Tag::FloatList:
        return to.kind == Operand::Kind::Float ? void(frame_.numbers[to.index].f = at(list.float_items()))
                                               : put(to, at(list.float_items()));
      case Value::Tag::TensorList:
        return put(to, at(list.tensor_items()));
      case Value::Tag::BoolList:
        return put(to, at(list.int_items()) != 0);
      case Value::Tag::ScalarList:
        return put(to, at(list.scalar_items()));
      default:
        return put(to, Value(at(list.to_list().items)));
    }
  }
  void list_size(const Site& site) {
    Value box;
    put(site.outputs[0], static_cast<int64_t>(ListRef(look(site.inputs[0], box)).size()));
  }
  void tensor_size(const Site& site) {
    Value box;
    const Value& value = look(site.inputs[0], box);
    put(site.outputs[0], value.to_tensor().size(take_int(site.inputs[1])));
  }

  // All at once: a place may be where another value comes from.
  void move(const Site& site) {
    if (site.inputs.size() == 1) return put(site.outputs[0], take(site.inputs[0]));
    size_t base = push_inputs(site);
    pop_results(site, base);
  }

  void step_back() {
    if (++registers_.ticks % 512 == 0) [[unlikely]]
      ask_for_interrupt(registers_);
  }

  Value execute();

  Registers& registers_;
  Machine* outer_;
  size_t bottom_;
  std::vector<Frame> frames_;
  std::vector<Value> contexts_;  // of the `with` statements that the program is in
  std::set<std::pair<const char*, uint32_t>> warned_;
  Frame frame_{};
  const Instruction* next_ = nullptr;
};

Value Machine::execute() {
  next_ = frame_.next;
  size_t stack_before = registers_.stack.size();
  Value result;
  struct Restore {
    Stack& stack;
    size_t size;
    ~Restore() { stack.resize(std::min(stack.size(), size)); }
  } restore{registers_.stack, stack_before};
#define SITE frame_.function->code.sites[static_cast<size_t>(in.a)]
#define TO n[in.a]
#define JUMP(place)                                                                  \
  do {                                                                               \
    const Instruction* target = frame_.function->code.instructions.data() + (place); \
    if (target < next_) step_back();                                                 \
    next_ = target;                                                                  \
  } while (0)
#define NUMBER(name, field, expression)         \
  case Opcode::name: {                          \
    auto a = n[in.b], b = n[in.c];              \
    static_cast<void>(a), static_cast<void>(b); \
    TO.field = (expression);                    \
    break;                                      \
  }
#define ONE(name, field, expression) \
  case Opcode::name: {               \
    auto a = n[in.b];                \
    TO.field = (expression);         \
    break;                           \
  }
#define BRANCH(name, condition)    \
  case Opcode::name: {             \
    auto a = n[in.a], b = n[in.b]; \
    if (!(condition)) JUMP(in.c);  \
    break;                         \
  }
  while (true) {
    const Instruction& in = *next_++;
    Number* n = frame_.numbers;
    switch (in.opcode) {
      NUMBER(AddI, i, wrap_add(a.i, b.i))
      NUMBER(SubI, i, wrap_sub(a.i, b.i))
      NUMBER(MulI, i, wrap_mul(a.i, b.i))
      NUMBER(FloorDivI, i, floor_div(a.i, b.i))
      NUMBER(ModI, i, modulo(a.i, b.i))
      NUMBER(AndI, i, a.i & b.i)
      NUMBER(OrI, i, a.i | b.i)
      NUMBER(XorI, i, a.i ^ b.i)
      ONE(NegI, i, wrap_neg(a.i))
      ONE(Not, i, a.i == 0)
      NUMBER(AddF, f, a.f + b.f)
      NUMBER(SubF, f, a.f - b.f)
      NUMBER(MulF, f, a.f * b.f)
      NUMBER(DivF, f, true_div(a.f, b.f))
      NUMBER(FloorDivF, f, floor_div(a.f, b.f))
      NUMBER(ModF, f, modulo(a.f, b.f))
      ONE(NegF, f, -a.f)
      NUMBER(LtI, i, a.i < b.i)
      NUMBER(LeI, i, a.i <= b.i)
      NUMBER(EqI, i, a.i == b.i)
      NUMBER(NeI, i, a.i != b.i)
      NUMBER(LtF, i, a.f < b.f)
      NUMBER(LeF, i, a.f <= b.f)
      NUMBER(EqF, i, a.f == b.f)
      NUMBER(NeF, i, a.f != b.f)
      ONE(ToFloat, f, static_cast<double>(a.i))
      ONE(ToInt, i, to_whole(a.f))
      ONE(ToBoolI, i, a.i != 0)
      ONE(ToBoolF, i, a.f != 0)
      case Opcode::Copy:
        TO = n[in.b];
        break;
      case Opcode::Jump:
        JUMP(in.a);
        break;
      case Opcode::If:
        if (n[in.a].i) JUMP(in.b);
        break;
      case Opcode::Unless:
        if (!n[in.a].i) JUMP(in.b);
        break;
        BRANCH(UnlessLtI, a.i < b.i)
        BRANCH(UnlessLeI, a.i <= b.i)
        BRANCH(UnlessEqI, a.i == b.i)
        BRANCH(UnlessNeI, a.i != b.i)
        BRANCH(UnlessLtF, a.f < b.f)
        BRANCH(UnlessLeF, a.f <= b.f)
      case Opcode::Next:  // the next round of a counted loop
        if (++n[in.a].i < n[in.b].i) JUMP(in.c);
        break;
      case Opcode::Move:
        move(SITE);
        break;
      case Opcode::Drop:
        for (const Operand& operand : SITE.inputs)
          if (operand.kind <= Operand::Kind::Move) frame_.values[operand.index] = Value();
        break;
      case Opcode::Return:
        if (!return_from(SITE, result)) return result;
        break;
      case Opcode::CallOp:
        call_op(SITE);
        break;
      case Opcode::CallPrimitive:
        call_primitive(SITE);
        break;
      case Opcode::CallFunction:
        call_function(SITE, *SITE.function);
        break;
      case Opcode::CallMethod:
        call_method(SITE);
        break;
      case Opcode::Get:
        get(SITE);
        let_go(SITE);
        break;
      case Opcode::Set:
        set(SITE);
        let_go(SITE);
        break;
      case Opcode::New:
        put(SITE.outputs[0], make_ref<Instance>(static_cast<const ClassType*>(SITE.type)));
        break;
      case Opcode::List:
        make_list(SITE);
        break;
      case Opcode::Tuple:
        put(SITE.outputs[0], make_ref<taeda::Tuple>(take_all(SITE), SITE.type));
        break;
      case Opcode::Dict:
        make_dict(SITE);
        break;
      case Opcode::Unpack:
        unpack(SITE);
        break;
      case Opcode::TupleItem:
        tuple_part(SITE, false);
        let_go(SITE);
        break;
      case Opcode::TupleSlice:
        tuple_part(SITE, true);
        let_go(SITE);
        break;
      case Opcode::IsInstance:
        is_instance(SITE);
        let_go(SITE);
        break;
      case Opcode::ListItem:
        list_item(SITE);
        let_go(SITE);
        break;
      case Opcode::ListSize:
        list_size(SITE);
        let_go(SITE);
        break;
      case Opcode::TensorSize:
        tensor_size(SITE);
        let_go(SITE);
        break;
      case Opcode::Entered:
        contexts_.push_back(take(SITE.inputs[0]));
        break;
      case Opcode::Left:
        if (!contexts_.empty()) contexts_.pop_back();
        break;
    }
  }
}

}  // namespace

void warn_from_program(const std::string& message) {
  if (Machine* machine = registers().running) return machine->warn(message);
  warn(message);
}

void Function::run(Stack& stack) const {
  TAEDA_CHECK(stack.size() >= code.parameters.size(), name, " takes ", code.parameters.size(),
              " arguments; the stack holds ", stack.size());
  Machine(registers()).run(*this, stack);
}

}  // namespace taeda::jit
