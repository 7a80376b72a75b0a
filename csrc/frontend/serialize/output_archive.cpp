// Archives as PyTorch's programs are: an object of a class without methods for each archive, and the classes' source.
#include <torch/serialize/output-archive.h>

#include <fstream>

#include <taeda/jit/archive.h>

namespace torch::serialize {

using Kind = ::taeda::Attribute::Kind;

struct OutputArchive::Node {
  struct Entry {
    std::string name;
    Kind kind;
    ::taeda::Value value;
    std::shared_ptr<Node> node;  // of an archive
  };
  std::vector<Entry> entries;

  void add(Entry entry) {
    for (const Entry& known : entries)
      TORCH_CHECK(known.name != entry.name, "the archive has something of the name '", entry.name, "' already");
    entries.push_back(std::move(entry));
  }
};

namespace {

std::string type_text(const ::taeda::Value& value) {
  if (value.is_none()) return "NoneType";
  if (value.is_tensor() && !value.to_tensor().defined()) return "Optional[Tensor]";
  return ::taeda::type_of(value)->annotation();
}

// Goes through archives in the order in which they were written, the outer one first.
template <class Node>
class Writer {
 public:
  // The object of an archive, as a dict; its class is declared.
  ::taeda::Value object(const Node& node) {
    ::taeda::jit::DeclaredClass declared{.name = class_name(count_++)};
    auto made = ::taeda::make_ref<::taeda::Dict>(::taeda::plain_type(::taeda::TypeKind::String),
                                                 ::taeda::plain_type(::taeda::TypeKind::Any));
    names_[made.get()] = declared.name;
    for (const auto& entry : node.entries) {
      std::string type = entry.node ? class_name(count_) : type_text(entry.value);
      made->set(::taeda::Value(std::string_view(entry.name)), entry.node ? object(*entry.node) : entry.value);
      declared.attributes.push_back({entry.name, std::move(type), entry.kind, {}});
    }
    classes.push_back(std::move(declared));
    return made;
  }
  std::string name_of(const ::taeda::Dict& dict) const {
    auto found = names_.find(&dict);
    return found == names_.end() ? std::string() : found->second;
  }
  std::vector<::taeda::jit::DeclaredClass> classes;

 private:
  static std::string class_name(int i) {
    return i == 0 ? "__torch__.Module" : c10::str("__torch__.___torch_mangle_", i - 1, ".Module");
  }
  int count_ = 0;
  std::unordered_map<const ::taeda::Dict*, std::string> names_;
};

}  // namespace

OutputArchive::OutputArchive() : node_(std::make_shared<Node>()), cu_(std::make_shared<jit::CompilationUnit>()) {}

void OutputArchive::write(const std::string& key, const c10::IValue& ivalue) {
  node_->add({key, Kind::Plain, ivalue, nullptr});
}
void OutputArchive::write(const std::string& key, const Tensor& tensor, bool is_buffer) {
  // Archives hold elements as they lie, so what is conjugated or negated when read is so from here on.
  bool is_lazy = tensor.defined() && (tensor.is_conj() || tensor.is_neg());
  c10::IValue value(is_lazy ? tensor.resolve_conj().resolve_neg() : tensor);
  node_->add({key, is_buffer ? Kind::Buffer : Kind::Parameter, std::move(value), nullptr});
}
void OutputArchive::write(const std::string& key, OutputArchive& nested_archive) {
  node_->add({key, Kind::Plain, {}, nested_archive.node_});
}

std::string OutputArchive::bytes(const std::string& name) const {
  ::taeda::jit::ArchiveWriter to(name);
  Writer<Node> writer;
  ::taeda::Value root = writer.object(*node_);
  to.write_classes(writer.classes);
  to.write_value("data", root, [&](const ::taeda::Dict& dict) { return writer.name_of(dict); }, true);
  to.write_value("constants", ::taeda::make_ref<::taeda::Tuple>(std::vector<::taeda::Value>()));
  return to.finish();
}

void OutputArchive::save_to(const std::string& filename) {
  size_t begin = filename.rfind('/') + 1, end = filename.rfind('.');
  std::string name = filename.substr(begin, end == filename.npos || end <= begin ? filename.npos : end - begin);
  std::string made = bytes(name.empty() ? "archive" : name);
  std::ofstream file(filename, std::ios::binary);
  file.write(made.data(), static_cast<std::streamsize>(made.size()));
  file.close();
  TORCH_CHECK(file, "the file ", filename, " could not be written");
}
void OutputArchive::save_to(std::ostream& stream) {
  std::string made = bytes("archive");
  stream.write(made.data(), static_cast<std::streamsize>(made.size()));
}
void OutputArchive::save_to(const std::function<size_t(const void*, size_t)>& func) {
  std::string made = bytes("archive");
  size_t written = func(made.data(), made.size());
  TORCH_CHECK(written == made.size(), "the function wrote ", written, " of ", made.size(), " bytes");
}

}  // namespace torch::serialize
