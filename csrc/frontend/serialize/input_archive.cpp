#include <torch/serialize/input-archive.h>

#include <istream>
#include <iterator>

#include <taeda/jit/archive.h>

namespace torch::serialize {

namespace {

using ::taeda::Dict;
using ::taeda::Value;

// A dict of the entries whose names begin so, without that.
Value part(const Dict& of, const std::string& prefix) {
  auto made = ::taeda::make_ref<Dict>(of.key_type, of.value_type);
  for (const auto& [key, value] : of.entries())
    if (key.tag() == Value::Tag::String && key.to_string().starts_with(prefix))
      made->set(Value(key.to_string().substr(prefix.size())), value);
  return made;
}

}  // namespace

void InputArchive::take(std::string bytes, const std::string& name, std::optional<torch::Device> device) {
  ::taeda::jit::ArchiveReader file(std::move(bytes), name);
  TORCH_CHECK(file.has("data.pkl"), name, " holds no values: it has no data.pkl");
  object_ = file.value("data");
  is_flat_ = !file.has("constants.pkl");
  device_ = device;
  prefix_.clear();
  if (object_.tag() != Value::Tag::Dict) {  // one value alone, as torch.save(tensor) writes it
    auto alone = ::taeda::make_ref<Dict>(::taeda::plain_type(::taeda::TypeKind::String),
                                         ::taeda::plain_type(::taeda::TypeKind::Any));
    if (object_.is_list()) {
      ::taeda::ListRef items(object_);
      for (size_t i = 0; i < items.size(); ++i) alone->set(Value(std::string_view(std::to_string(i))), items.get(i));
    } else {
      alone->set(Value("0"), object_);
    }
    object_ = alone;
  }
}

const Value* InputArchive::find(const std::string& key) const {
  if (object_.tag() != Value::Tag::Dict) return nullptr;
  return object_.to_dict().find(Value(std::string_view(key)));
}

bool InputArchive::try_read(const std::string& key, c10::IValue& ivalue) {
  const Value* found = find(key);
  if (found) ivalue = *found;
  return found;
}
void InputArchive::read(const std::string& key, c10::IValue& ivalue) {
  TORCH_CHECK(try_read(key, ivalue), "there is nothing of the name '", prefix_, key, "' in the archive");
}

bool InputArchive::try_read(const std::string& key, Tensor& tensor, bool) {
  const Value* found = find(key);
  if (!found || !(found->is_tensor() || found->is_none())) return false;
  Tensor read = found->to_tensor();
  if (!read.defined()) return true;
  if (device_) read = read.to(*device_);
  if (!tensor.defined()) {
    tensor = std::move(read);
    return true;
  }
  NoGradGuard no_grad;
  if (!device_ && tensor.device() != read.device()) read = read.to(tensor.device());
  tensor.set_data(read.detach());
  return true;
}
void InputArchive::read(const std::string& key, Tensor& tensor, bool is_buffer) {
  TORCH_CHECK(try_read(key, tensor, is_buffer), "there is no tensor of the name '", prefix_, key, "' in the archive");
}

bool InputArchive::try_read(const std::string& key, InputArchive& archive) {
  const Value* found = find(key);
  Value object;
  if (found && found->tag() == Value::Tag::Dict) {
    object = *found;
  } else {
    // The names of a state_dict are paths; a module without tensors has none there.
    if (found || object_.tag() != Value::Tag::Dict) return false;
    object = part(object_.to_dict(), key + ".");
    if (!is_flat_ && object.to_dict().size() == 0) return false;
  }
  archive.object_ = object;
  archive.is_flat_ = is_flat_;
  archive.device_ = device_;
  archive.prefix_ = prefix_ + key + ".";
  return true;
}
void InputArchive::read(const std::string& key, InputArchive& archive) {
  TORCH_CHECK(try_read(key, archive), "there is no archive of the name '", prefix_, key, "' in the archive");
}

std::vector<std::string> InputArchive::keys() {
  std::vector<std::string> made;
  if (object_.tag() == Value::Tag::Dict)
    for (const auto& [key, value] : object_.to_dict().entries()) made.emplace_back(IValue(key).toStringRef());
  return made;
}

void InputArchive::load_from(const std::string& filename, std::optional<torch::Device> device) {
  std::FILE* file = std::fopen(filename.c_str(), "rb");
  TORCH_CHECK(file, "there is no file ", filename, " that could be read");
  std::string bytes;
  char block[1 << 16];
  for (size_t got; (got = std::fread(block, 1, sizeof block, file)) > 0;) bytes.append(block, got);
  std::fclose(file);
  take(std::move(bytes), filename, device);
}
void InputArchive::load_from(std::istream& stream, std::optional<torch::Device> device) {
  take(std::string(std::istreambuf_iterator<char>(stream), {}), "the stream", device);
}
void InputArchive::load_from(const char* data, size_t size, std::optional<torch::Device> device) {
  take(std::string(data, size), "the buffer", device);
}
void InputArchive::load_from(const std::function<size_t(uint64_t, void*, size_t)>& read_func,
                             const std::function<size_t()>& size_func, std::optional<torch::Device> device) {
  std::string bytes(size_func(), '\0');
  for (size_t at = 0; at < bytes.size();) {
    size_t got = read_func(at, bytes.data() + at, bytes.size() - at);
    TORCH_CHECK(got > 0, "the function that reads gave nothing at byte ", at, " of ", bytes.size());
    at += got;
  }
  take(std::move(bytes), "the source", device);
}

}  // namespace torch::serialize
