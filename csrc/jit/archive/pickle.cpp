#include "jit/archive/pickle.h"

#include <bit>
#include <cstring>
#include <unordered_map>

#include "taeda/core/dtype.h"
#include "taeda/jit/module.h"

namespace taeda::jit {

namespace {

const char* storage_name(DType dtype) {
  switch (dtype) {
    case DType::Float32:
      return "FloatStorage";
    case DType::Float64:
      return "DoubleStorage";
    case DType::Float16:
      return "HalfStorage";
    case DType::BFloat16:
      return "BFloat16Storage";
    case DType::Int64:
      return "LongStorage";
    case DType::Int32:
      return "IntStorage";
    case DType::Int16:
      return "ShortStorage";
    case DType::Int8:
      return "CharStorage";
    case DType::UInt8:
      return "ByteStorage";
    case DType::Bool:
      return "BoolStorage";
    case DType::Complex64:
      return "ComplexFloatStorage";
    case DType::Complex128:
      return "ComplexDoubleStorage";
    default:
      TAEDA_FAIL(Runtime, "archives hold no elements of dtype ", name(dtype), ": convert the tensor first");
  }
}

class Pickler {
 public:
  Pickler(std::vector<Tensor>& storages, const ClassNames& class_of, bool typed, const SavedNames& saved)
      : storages_(storages), class_of_(class_of), typed_(typed), saved_(saved) {}

  std::string run(const Value& value) {
    out_ = "\x80\x02";
    write(value);
    out_ += '.';
    return std::move(out_);
  }

 private:
  template <class T>
  void raw(T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    out_.append(bytes, sizeof(T));
  }

  // What was written once is referred to.
  bool recall(const std::string& key) {
    auto [place, is_new] = memo_.try_emplace(key, static_cast<uint32_t>(memo_.size()));
    if (is_new) return false;
    if (place->second < 256) {
      out_ += 'h';
      raw(static_cast<uint8_t>(place->second));
    } else {
      out_ += 'j';
      raw(place->second);
    }
    return true;
  }
  void remember(const std::string& key) {
    uint32_t place = memo_.at(key);
    if (place < 256) {
      out_ += 'q';
      raw(static_cast<uint8_t>(place));
    } else {
      out_ += 'r';
      raw(place);
    }
  }
  void global(const std::string& module, const std::string& name) {
    std::string key = "c" + module + "." + name;
    if (recall(key)) return;
    out_ += "c" + module + "\n" + name + "\n";
    remember(key);
  }
  // A class by its name in the archive.
  void class_name(const std::string& own) {
    std::string name = saved_ ? saved_(own) : own;
    size_t dot = name.rfind('.');
    global(name.substr(0, dot), name.substr(dot + 1));
  }
  void text(std::string_view value) {
    std::string key = str("X", value);
    if (recall(key)) return;
    out_ += 'X';
    raw(static_cast<uint32_t>(value.size()));
    out_ += value;
    remember(key);
  }
  void integer(int64_t value) {
    if (value >= 0 && value < 256) {
      out_ += 'K';
      raw(static_cast<uint8_t>(value));
    } else if (value >= INT32_MIN && value <= INT32_MAX) {
      out_ += 'J';
      raw(static_cast<int32_t>(value));
    } else {
      out_ += "\x8a\x08";
      raw(value);
    }
  }
  void number(double value) {
    out_ += 'G';
    raw(__builtin_bswap64(std::bit_cast<uint64_t>(value)));
  }

  // ("storage", type, key, device, count), which stands for a record
  void storage(const Tensor& t) {
    const void* identity = t.impl()->storage().get();
    auto [place, is_new] = places_.try_emplace(identity, storages_.size());
    if (is_new) storages_.push_back(t);
    out_ += '(';
    text("storage");
    global("torch", storage_name(t.dtype()));
    text(std::to_string(place->second));
    text("cpu");
    integer(static_cast<int64_t>(t.impl()->storage()->nbytes()) / t.itemsize());
    out_ += "tQ";
  }
  void ints(IntList list) {
    out_ += '(';
    for (int64_t each : list) integer(each);
    out_ += 't';
  }
  void tensor(const Tensor& t) {
    if (!t.defined()) {
      out_ += 'N';
      return;
    }
    std::string key = str("T", reinterpret_cast<uint64_t>(t.impl()));
    if (recall(key)) return;
    TAEDA_CHECK(t.device().type == DeviceType::CPU, "archives are written from the CPU; got a tensor on ", t.device());
    TAEDA_CHECK(t.impl()->storage() && !t.impl()->is_conj() && !t.impl()->is_neg(),
                "archives hold tensors of plain elements; got one that has none, or that is a lazy conjugate");
    global("torch._utils", "_rebuild_tensor_v2");
    out_ += '(';
    storage(t);
    integer(t.storage_offset());
    ints(t.sizes());
    ints(t.strides());
    out_ += t.impl()->has_grad_flag() ? '\x88' : '\x89';
    global("collections", "OrderedDict");
    out_ += ")RtR";
    remember(key);
  }

  // What a collection is written into, so that its type is known where it is read.
  void begin_typed(std::string_view builder) {
    if (!typed_) return;
    global("torch.jit._pickle", std::string(builder.empty() ? "restore_type_tag" : builder));
    out_ += '(';
  }
  void end_typed(std::string_view builder, const Value& value) {
    if (!typed_) return;
    const std::string& type = type_of(value)->annotation();
    if (builder.empty()) text(saved_ ? saved_(type) : type);
    out_ += "tR";
  }
  void list(const Value& value, std::string_view builder = {}) {
    ListRef items(value);
    begin_typed(builder);
    out_ += "](";
    for (size_t i = 0; i < items.size(); ++i) write(items.get(i));
    out_ += 'e';
    end_typed(builder, value);
  }
  void dict(const Value& value) {
    const Dict& held = value.to_dict();
    std::string name = class_of_ ? class_of_(held) : std::string();
    if (name.empty()) {
      begin_typed({});
    } else {
      class_name(name);
      out_ += ")\x81";
    }
    out_ += "}(";
    for (const auto& [key, item] : held.entries()) {
      write(key);
      write(item);
    }
    out_ += name.empty() ? "u" : "ub";
    if (name.empty()) end_typed({}, value);
  }
  void object(const Instance& held) {
    std::string key = str("O", reinterpret_cast<uint64_t>(&held));
    if (recall(key)) return;
    class_name(held.type->name());
    const bool is_native = !held.slots.empty() && held.slots[0].tag() == Value::Tag::Object;
    if (std::optional<Value> state = is_native ? state_of(Ref<Instance>(&const_cast<Instance&>(held))) : std::nullopt) {
      out_ += ")\x81";
      write(*state);
      out_ += 'b';
      return remember(key);
    }
    out_ += ")\x81}(";
    for (size_t i = 0; i < held.slots.size(); ++i) {
      text(held.type->attributes()[i].name);
      write(held.slots[i]);
    }
    out_ += "ub";
    remember(key);
  }

  void write(const Value& value) {
    switch (value.tag()) {
      case Value::Tag::None:
        out_ += 'N';
        break;
      case Value::Tag::Bool:
        out_ += value.to_bool() ? '\x88' : '\x89';
        break;
      case Value::Tag::Int:
        integer(value.to_int());
        break;
      case Value::Tag::Float:
        number(value.to_float());
        break;
      case Value::Tag::String:
        text(value.to_string());
        break;
      case Value::Tag::Tensor:
        tensor(value.to_tensor());
        break;
      case Value::Tag::IntList:
        list(value, "build_intlist");
        break;
      case Value::Tag::FloatList:
        list(value, "build_doublelist");
        break;
      case Value::Tag::BoolList:
        list(value, "build_boollist");
        break;
      case Value::Tag::TensorList:
        list(value, "build_tensorlist");
        break;
      case Value::Tag::ScalarList:
      case Value::Tag::List:
        list(value);
        break;
      case Value::Tag::Tuple:
        out_ += '(';
        for (const Value& item : value.to_tuple().items) write(item);
        out_ += 't';
        break;
      case Value::Tag::Dict:
        dict(value);
        break;
      case Value::Tag::Instance:
        object(value.to_instance());
        break;
      case Value::Tag::Enum:
        class_name(value.to_enum().type->name());
        write(value.to_enum().value());
        out_ += 'R';
        break;
      case Value::Tag::Complex: {
        const auto both = value.to_scalar().to<std::complex<double>>();
        global("builtins", "complex");
        out_ += '(';
        number(both.real());
        number(both.imag());
        out_ += "tR";
        break;
      }
      case Value::Tag::Device:
        global("torch", "device");
        out_ += '(';
        text(str(value.to_device()));
        out_ += "tR";
        break;
      default:
        TAEDA_FAIL(Type, "archives hold no value of type ", type_of(value)->annotation());
    }
  }

  std::vector<Tensor>& storages_;
  const ClassNames& class_of_;
  bool typed_;
  const SavedNames& saved_;
  std::string out_;
  std::unordered_map<std::string, uint32_t> memo_;
  std::unordered_map<const void*, size_t> places_;
};

}  // namespace

std::string pickle(const Value& value, std::vector<Tensor>& storages, const ClassNames& class_of, bool typed,
                   const SavedNames& saved) {
  return Pickler(storages, class_of, typed, saved).run(value);
}

}  // namespace taeda::jit
