#include "jit/archive/unpickle.h"

#include <bit>
#include <cstring>
#include <deque>

#include "taeda/autograd/meta.h"
#include "taeda/core/thread_state.h"
#include "taeda/dispatch/class_type.h"
#include "taeda/jit/module.h"
#include "taeda/ops/view.h"

namespace taeda::jit {

namespace {

// What stands on the pickle's stack: values, and what becomes part of them.
struct Item {
  enum class Kind : uint8_t { Mark, Plain, Global, Tuple, List, Dict, Storage };
  Kind kind = Kind::Plain;
  Value value;                         // of Plain; the elements of a Storage
  std::string text;                    // of Global
  std::vector<Item>* items = nullptr;  // of Tuple, List; of Dict keys and values in turn
};

DType storage_dtype(std::string_view name) {
  constexpr std::pair<std::string_view, DType> kNames[] = {{"torch FloatStorage", DType::Float32},
                                                           {"torch DoubleStorage", DType::Float64},
                                                           {"torch HalfStorage", DType::Float16},
                                                           {"torch BFloat16Storage", DType::BFloat16},
                                                           {"torch LongStorage", DType::Int64},
                                                           {"torch IntStorage", DType::Int32},
                                                           {"torch ShortStorage", DType::Int16},
                                                           {"torch CharStorage", DType::Int8},
                                                           {"torch ByteStorage", DType::UInt8},
                                                           {"torch BoolStorage", DType::Bool},
                                                           {"torch ComplexFloatStorage", DType::Complex64},
                                                           {"torch ComplexDoubleStorage", DType::Complex128}};
  for (auto [known, dtype] : kNames)
    if (known == name) return dtype;
  TAEDA_FAIL(Runtime, "the archive holds elements of a kind that this build does not read: ", name);
}

class Unpickler {
 public:
  Unpickler(const ZipFile& archive, const std::string& name, bool loosely, const OwnNames& own)
      : archive_(archive), name_(name), bytes_(archive.record(name + ".pkl")), loosely_(loosely), own_(own) {}

  Value run() {
    while (true) {
      switch (static_cast<unsigned char>(*take(1).data())) {
        case 0x80:  // PROTO
          take(1);
          break;
        case '.': {
          Item result = pop();
          return to_value(result, nullptr);
        }
        case '(':
          stack_.push_back({Item::Kind::Mark, {}, {}, {}});
          break;
        case 'N':
          push(Value());
          break;
        case 0x88:
          push(true);
          break;
        case 0x89:
          push(false);
          break;
        case 'K':
          push(static_cast<int64_t>(number<uint8_t>()));
          break;
        case 'M':
          push(static_cast<int64_t>(number<uint16_t>()));
          break;
        case 'J':
          push(static_cast<int64_t>(number<int32_t>()));
          break;
        case 0x8a:
          push(long_number());
          break;
        case 'G':
          push(std::bit_cast<double>(__builtin_bswap64(number<uint64_t>())));
          break;
        case 'X':
          push(take(number<uint32_t>()));
          break;
        case 'c':
          global();
          break;
        case ')':
          push_items(Item::Kind::Tuple, {});
          break;
        case ']':
          push_items(Item::Kind::List, {});
          break;
        case '}':
          push_items(Item::Kind::Dict, {});
          break;
        case 't':
          push_items(Item::Kind::Tuple, pop_to_mark());
          break;
        case 0x85:
        case 0x86:
        case 0x87:
          pop_tuple(static_cast<size_t>(static_cast<unsigned char>(bytes_[at_ - 1]) - 0x84));
          break;
        case 'e':
        case 'u':
          extend(pop_to_mark());
          break;
        case 'a': {
          Item item = pop();
          extend({std::move(item)});
          break;
        }
        case 's': {
          Item value = pop(), key = pop();
          extend({std::move(key), std::move(value)});
          break;
        }
        case 'q':
          memo_[number<uint8_t>()] = top();
          break;
        case 'r':
          memo_[number<uint32_t>()] = top();
          break;
        case 'h':
          get(number<uint8_t>());
          break;
        case 'j':
          get(number<uint32_t>());
          break;
        case 'Q':
          storage();
          break;
        case 'R':
          reduce();
          break;
        case 0x81:
          make_object();
          break;
        case 'b':
          build();
          break;
        default:
          damaged("it has an instruction that archives do not use");
      }
    }
  }

 private:
  [[noreturn]] void damaged(std::string_view why) const { TAEDA_FAIL(Runtime, name_, ".pkl is damaged: ", why); }

  // --- Bytes
  std::string_view take(size_t count) {
    if (count > bytes_.size() - at_) damaged("it ends too early");
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  int64_t long_number() {
    size_t size = number<uint8_t>();
    if (size > 8) damaged("a number does not fit in 64 bits");
    std::string_view digits = take(size);
    uint64_t value = size && static_cast<signed char>(digits.back()) < 0 ? ~uint64_t{0} : 0;
    for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(digits[i]);
    return static_cast<int64_t>(value);
  }
  std::string_view line() {
    size_t end = bytes_.find('\n', at_);
    if (end == bytes_.npos) damaged("a name does not end");
    std::string_view text = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }

  // --- The stack
  void push(Value value) { stack_.push_back({Item::Kind::Plain, std::move(value), {}, {}}); }
  void push_items(Item::Kind kind, std::vector<Item> items) {
    stack_.push_back({kind, {}, {}, &collections_.emplace_back(std::move(items))});
  }
  Item& top() {
    if (stack_.empty()) damaged("its stack is empty");
    return stack_.back();
  }
  Item pop() {
    Item item = std::move(top());
    stack_.pop_back();
    return item;
  }
  std::vector<Item> pop_to_mark() {
    size_t at = stack_.size();
    while (at > 0 && stack_[at - 1].kind != Item::Kind::Mark) --at;
    if (at == 0) damaged("a mark is missing");
    std::vector<Item> items(std::make_move_iterator(stack_.begin() + static_cast<ptrdiff_t>(at)),
                            std::make_move_iterator(stack_.end()));
    stack_.resize(at - 1);
    return items;
  }
  void pop_tuple(size_t count) {
    if (stack_.size() < count) damaged("its stack is empty");
    std::vector<Item> items(std::make_move_iterator(stack_.end() - static_cast<ptrdiff_t>(count)),
                            std::make_move_iterator(stack_.end()));
    stack_.resize(stack_.size() - count);
    push_items(Item::Kind::Tuple, std::move(items));
  }
  void extend(std::vector<Item> items) {
    if (!top().items || top().kind == Item::Kind::Tuple) damaged("items are added to what holds none");
    top().items->insert(top().items->end(), std::make_move_iterator(items.begin()),
                        std::make_move_iterator(items.end()));
  }
  void get(uint32_t place) {
    auto found = memo_.find(place);
    if (found == memo_.end()) damaged("it refers to what it does not hold");
    stack_.push_back(found->second);
  }
  void global() {
    std::string_view module = line();
    std::string name(line());
    stack_.push_back({Item::Kind::Global, {}, std::string(module) + " " + name, {}});
  }

  const std::vector<Item>& tuple(const Item& item, size_t least) const {
    if (item.kind != Item::Kind::Tuple || item.items->size() < least) damaged("arguments are missing");
    return *item.items;
  }

  // --- Tensors
  // ("storage", type, key, device, count)
  void storage() {
    Item description = pop();
    const std::vector<Item>& parts = tuple(description, 5);
    DType dtype = storage_dtype(parts[1].text);
    std::string key(parts[2].value.to_string());
    auto [place, is_new] = storages_.try_emplace(key);
    if (is_new) {
      int64_t count = parts[4].value.to_int();
      std::string_view bytes = archive_.record(name_ + "/" + key);
      TAEDA_CHECK(count >= 0 && bytes.size() / static_cast<size_t>(itemsize(dtype)) == static_cast<size_t>(count),
                  "the record ", name_, "/", key, " has another size than the archive says");
      place->second = new_tensor(std::vector<int64_t>{count}, dtype);
      if (count) std::memcpy(place->second.data<char>(), bytes.data(), bytes.size());
    }
    stack_.push_back({Item::Kind::Storage, place->second, {}, {}});
  }

  std::vector<int64_t> ints(const Item& item) const {
    std::vector<int64_t> out;
    for (const Item& part : tuple(item, 0)) out.push_back(part.value.to_int());
    return out;
  }

  // (storage, offset, sizes, strides, requires_grad, hooks)
  Value tensor(const std::vector<Item>& parts) const {
    if (parts.size() < 5 || parts[0].kind != Item::Kind::Storage) damaged("a tensor has no elements");
    Tensor made = [&] {
      BelowAutograd unrecorded;
      std::vector<int64_t> sizes = ints(parts[2]), strides = ints(parts[3]);
      int64_t offset = parts[1].value.to_int();
      Tensor elements = parts[0].value.to_tensor();
      TAEDA_CHECK(sizes.size() == strides.size() && extent(sizes, strides, offset) <= elements.numel(),
                  "a tensor reaches beyond its elements");
      return ops::as_strided(elements, sizes, strides, offset);
    }();
    made = autograd::variable_data(made);
    if (parts[4].value.to_bool()) autograd::set_requires_grad(made, true);
    return made;
  }

  // --- Calls and objects
  void reduce() {
    Item arguments = pop(), function = pop();
    const std::string& name = function.text;
    if (name.starts_with("__torch__")) {  // a member of an enumeration, by its value
      if (!loosely_) return enumeration(name, arguments);
      stack_.push_back(std::move(arguments));
      return;
    }
    const std::vector<Item>& parts = tuple(arguments, 0);
    if (name == "torch._utils _rebuild_tensor_v2") return push(tensor(parts));
    if (name == "torch._utils _rebuild_parameter") return push(to_value(tuple(arguments, 1)[0], nullptr));
    if (name == "collections OrderedDict") return push_items(Item::Kind::Dict, {});
    if (name == "torch.jit._pickle restore_type_tag") {
      stack_.push_back(tuple(arguments, 2)[0]);
      return;
    }
    if (name.starts_with("torch.jit._pickle build_")) {
      stack_.push_back(tuple(arguments, 1)[0]);
      return;
    }
    if (name == "torch device") return push(parse_device(tuple(arguments, 1)[0].value.to_string()));
    if (name == "builtins complex") {
      const std::vector<Item>& both = tuple(arguments, 2);
      return push(Scalar(std::complex<double>(both[0].value.to_float(), both[1].value.to_float())));
    }
    if (name == "torch Size") {
      stack_.push_back(tuple(arguments, 1)[0]);
      return;
    }
    damaged(str("it calls ", name, ", which archives have no use for"));
  }

  static std::string type_name(std::string global) {
    global[global.find(' ')] = '.';
    return global;
  }
  void enumeration(const std::string& global, const Item& item) {
    TypePtr type = find_named_type(type_name(global));
    if (!type || !type->is(TypeKind::Enum)) damaged(str("there is no enumeration ", global));
    auto* members = static_cast<const EnumType*>(type);
    for (size_t i = 0; i < members->members().size(); ++i)
      if (equal_values(members->members()[i].second, item.value)) return push(make_ref<EnumMember>(members, i));
    damaged("an enumeration has no such value");
  }
  void make_object() {
    pop();
    if (loosely_) {
      pop();
      return push_items(Item::Kind::Dict, {});
    }
    std::string name = type_name(pop().text + " ");
    name.pop_back();
    TypePtr type = find_named_type(own_ ? own_(name) : name);
    TAEDA_CHECK(type && type->is(TypeKind::Class), "the archive's program does not declare the class ", name);
    push(make_ref<Instance>(static_cast<const ClassType*>(type)));
  }
  void build() {
    Item state = pop();
    if (loosely_ && top().kind == Item::Kind::Dict) {
      // An object's attributes; of an ordered dict with entries, what it has beside these.
      if (top().items->empty() && state.kind == Item::Kind::Dict) extend(*state.items);
      return;
    }
    if (top().kind != Item::Kind::Plain) damaged("an object has no state");
    Instance& object = top().value.to_instance();
    const bool is_native = !object.slots.empty() && object.type->attributes()[0].type->is(TypeKind::Capsule);
    if (is_native || state.kind != Item::Kind::Dict) {
      const Method* set = object.type->find_method("__setstate__");
      if (!set || !set->schema || set->schema->arguments.empty()) damaged("an object has no state");
      return set_state(Ref<Instance>(&object), to_value(state, set->schema->arguments.back().type));
    }
    for (size_t i = 0; i + 1 < state.items->size(); i += 2) {
      std::string_view name = (*state.items)[i].value.to_string();
      size_t slot = object.type->attribute_slot(name);
      object.slots.at(slot) = to_value((*state.items)[i + 1], object.type->attributes()[slot].type);
    }
  }

  // --- Values of a type
  Value to_value(const Item& item, TypePtr type) {
    constexpr int kDeepest = 1000;
    if (++depth_ > kDeepest) damaged("its collections lie in each other without end");
    Value made = value_of(item, type);
    --depth_;
    return made;
  }
  Value value_of(const Item& item, TypePtr type) {
    while (type && type->is(TypeKind::Optional)) type = type->contained(0);
    auto part = [&](size_t i) { return type && i < type->contained().size() ? type->contained(i) : nullptr; };
    TypePtr any = plain_type(TypeKind::Any);
    switch (item.kind) {
      case Item::Kind::Plain:
        if (type && type->is(TypeKind::Float) && item.value.tag() == Value::Tag::Int) return item.value.to_float();
        return item.value;
      case Item::Kind::List: {
        ListRef list = ListRef::of(part(0) ? part(0) : any);
        for (const Item& each : *item.items) list.append(to_value(each, part(0)));
        return list.value();
      }
      case Item::Kind::Tuple: {
        std::vector<Value> items;
        for (size_t i = 0; i < item.items->size(); ++i) items.push_back(to_value((*item.items)[i], part(i)));
        return make_ref<Tuple>(std::move(items), type && !type->name().empty() ? type : nullptr);
      }
      case Item::Kind::Dict: {
        auto dict = make_ref<Dict>(part(0) ? part(0) : any, part(1) ? part(1) : any);
        for (size_t i = 0; i + 1 < item.items->size(); i += 2)
          dict->set(to_value((*item.items)[i], part(0)), to_value((*item.items)[i + 1], part(1)));
        return dict;
      }
      default:
        damaged("something that is no value stands where one should");
    }
  }

  const ZipFile& archive_;
  std::string name_;
  std::string_view bytes_;
  bool loosely_;
  const OwnNames& own_;
  size_t at_ = 0;
  int depth_ = 0;                              // of to_value
  std::deque<std::vector<Item>> collections_;  // which may lie in each other, and in themselves
  std::vector<Item> stack_;
  std::unordered_map<uint32_t, Item> memo_;
  std::unordered_map<std::string, Tensor> storages_;
};

}  // namespace

Value unpickle(const ZipFile& archive, const std::string& name, const OwnNames& own) {
  return Unpickler(archive, name, false, own).run();
}
Value unpickle_loosely(const ZipFile& archive, const std::string& name) {
  return Unpickler(archive, name, true, nullptr).run();
}

}  // namespace taeda::jit
