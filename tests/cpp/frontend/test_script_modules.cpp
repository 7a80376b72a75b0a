// Modules that torch::jit::load made, saved again.
#include <caffe2/serialize/inline_container.h>
#include <taeda/jit/archive.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <sstream>

#include "../test_main.h"

namespace {

// The archive of a module `Net` with a weight and a list, whose forward adds `added` to weight * x.
std::string archive(int added) {
  const std::string number = std::to_string(added);
  const std::string program = R"(taeda-program 1
class "__torch__.saved.Net" module
attribute "weight" parameter Tensor
attribute "names" plain list str
function "__torch__.saved.Net.forward" of "__torch__.saved.Net"
parameter "self" v0 class "__torch__.saved.Net"
parameter "x" v1 Tensor
returns Tensor
registers 4 1
number )" + number + R"(
number_end
code
v2 = get "weight" class "__torch__.saved.Net" v0
v3 = op aten::mul.Tensor v1! v2!
v3 = op aten::add.Scalar v3! i0 k0
return v3!
end
)";
  std::string text = program;
  text.replace(text.find("number_end\n"), 11, "constant 1\n");
  const auto any = taeda::plain_type(taeda::TypeKind::Any), string = taeda::plain_type(taeda::TypeKind::String);
  auto object = taeda::make_ref<taeda::Dict>(string, any);
  object->set(taeda::Value("weight"), taeda::Value(torch::full({2}, 3.0)));
  taeda::ListRef names = taeda::ListRef::of(string);
  names.append(taeda::Value("a"));
  object->set(taeda::Value("names"), names.value());
  taeda::jit::ArchiveWriter to("net");
  to.write_value(
      "data", object, [&](const taeda::Dict& dict) { return &dict == object.get() ? "__torch__.saved.Net" : ""; },
      true);
  to.write("code/__torch__/saved.py", "class Net(Module):\n");
  to.write("instructions/program", text);
  to.write("extra/note", "kept by who loads");
  return to.finish();
}

torch::jit::Module loaded(const std::string& bytes) {
  std::istringstream in(bytes);
  return torch::jit::load(in);
}
float result(const torch::jit::Module& module) { return module.forward({torch::ones(2)}).toTensor()[0].item<float>(); }

struct Pickled : torch::CustomClassHolder {
  explicit Pickled(std::vector<int64_t> numbers) : numbers(std::move(numbers)) {}
  std::vector<int64_t> numbers;
};
struct Unpickled : torch::CustomClassHolder {};

}  // namespace

TORCH_LIBRARY(cpptest_pickled, m) {
  m.class_<Pickled>("Pickled").def_pickle(
      [](const c10::intrusive_ptr<Pickled>& self) { return self->numbers; },
      [](std::vector<int64_t> state) { return c10::make_intrusive<Pickled>(std::move(state)); });
  m.class_<Unpickled>("Unpickled");
}

TEST(objects_of_cpp_in_modules) {
  torch::jit::Module net("Holds");
  auto object = c10::make_intrusive<Pickled>(std::vector<int64_t>{1, 2});
  net.register_attribute("one", c10::getCustomClassType<c10::intrusive_ptr<Pickled>>(), object);
  std::ostringstream out;
  net.save(out);
  object->numbers[0] = 5;
  for (torch::jit::Module copy : {loaded(out.str()), loaded(out.str()).deepcopy()}) {
    auto one = copy.attr("one").toCustomClass<Pickled>();
    CHECK(one->numbers == (std::vector<int64_t>{1, 2}) && one != object);
  }
  c10::IValue value = c10::IValue(object).deepcopy();
  CHECK(value.toCustomClass<Pickled>() != object && value.toCustomClass<Pickled>()->numbers[0] == 5);
  net.register_attribute("other", c10::AnyType::get(), c10::make_intrusive<Unpickled>());
  CHECK_ERROR(net.save(out), Type, "archives hold no value");
}

TEST(script_modules_are_saved_with_what_they_hold_now) {
  torch::jit::Module net = loaded(archive(1));
  CHECK(result(net) == 4);
  net.setattr("weight", torch::full({2}, 5.0).requires_grad_());
  net.setattr("names", c10::List<std::string>({"b", "c"}));
  std::ostringstream out;
  net.save(out, {{"note", "new"}});
  torch::jit::ExtraFilesMap files{{"note", ""}, {"absent", "as before"}};
  std::istringstream in(out.str());
  torch::jit::Module again = torch::jit::load(in, std::nullopt, files);
  CHECK(result(again) == 6 && again.attr("weight").toTensor().requires_grad());
  CHECK(again.attr("names").toListRef()[1].toStringRef() == "c");
  CHECK(files["note"] == "new" && files["absent"] == "as before");
  torch::jit::Module copy = net.deepcopy();
  copy.attr("weight").toTensor().data().fill_(0);
  CHECK(result(copy) == 1 && result(net) == 6);
  CHECK_ERROR(net.save("/no/such/folder/net.pt"), Runtime, "could not be written");
}

TEST(programs_with_classes_of_one_name) {
  torch::jit::Module one = loaded(archive(1)), ten = loaded(archive(10)), same = loaded(archive(1));
  CHECK(result(one) == 4 && result(ten) == 13 && result(same) == 4);
  CHECK(one.type_name() == same.type_name() && one.type_name() != ten.type_name());
  std::ostringstream out;
  ten.save(out);
  CHECK(out.str().find("c__torch__.saved\nNet\n") != std::string::npos && result(loaded(out.str())) == 13);
}

TEST(what_a_method_takes) {
  torch::jit::Module net = loaded(archive(1));
  CHECK(net({torch::ones(2)}).toTensor()[0].item<float>() == 4);  // a list of arguments, not of things
  const auto& function = net.get_method("forward").function();
  std::string names;
  for (const c10::Argument& argument : function.getSchema().arguments()) names += argument.name() + " ";
  CHECK(names == "self x " && function.num_inputs() == 2 && function.name() == "forward");
  CHECK(function.getSchema().returns()[0].type()->kind() == c10::TypeKind::TensorType);
  const c10::QualifiedName name = *net.type()->name();
  CHECK(name.qualifiedName() == "__torch__.saved.Net" && name.name() == "Net" && name.prefix() == "__torch__.saved");
  CHECK(c10::QualifiedName("alone").prefix().empty() && c10::QualifiedName(name.prefix(), "Net") == name);
}

// Two classes of one name in one archive, as two layers of other sizes are: the outer adds 10 to what the inner does.
std::string archive_of_two(int added) {
  const std::string number = std::to_string(added);
  const std::string inner = R"("__torch__.___torch_mangle_0.Two")", outer = R"("__torch__.Two")";
  const std::string text = "taeda-program 1\nclass " + inner + " module\nattribute \"training\" plain bool\nclass " +
                           outer + " module\nattribute \"inner\" plain class " + inner +
                           "\nfunction \"__torch__.___torch_mangle_0.Two.forward\" of " + inner +
                           "\nparameter \"self\" v0 class " + inner +
                           "\nparameter \"x\" v1 Tensor\nreturns Tensor\nregisters 4 1\nconstant " + number +
                           "\ncode\nv3 = op aten::add.Scalar v1! i0 k0\nreturn v3!\nend\n";
  const auto any = taeda::plain_type(taeda::TypeKind::Any), string = taeda::plain_type(taeda::TypeKind::String);
  auto object = taeda::make_ref<taeda::Dict>(string, any), held = taeda::make_ref<taeda::Dict>(string, any);
  held->set(taeda::Value("training"), taeda::Value(false));
  object->set(taeda::Value("inner"), taeda::Value(held));
  taeda::jit::ArchiveWriter to("two");
  to.write_value("data", object, [&](const taeda::Dict& dict) {
    return &dict == object.get() ? "__torch__.Two" : "__torch__.___torch_mangle_0.Two";
  });
  to.write("instructions/program", text);
  return to.finish();
}

TEST(new_names_of_classes_that_are_others_old_ones) {
  for (int added : {1, 2, 3}) {
    torch::jit::Module two = loaded(archive_of_two(added));
    CHECK(result(two.attr("inner").toModule()) == static_cast<float>(1 + added));
    CHECK(two.type_name() != two.attr("inner").toModule().type_name() && !two.find_method("forward"));
  }
}

TEST(archives_of_source_alone) {
  std::ostringstream out;
  torch::nn::Sequential net(torch::nn::Linear(2, 1), torch::nn::BatchNorm1d(1));
  torch::save(net, out);
  torch::jit::Module loaded_net = loaded(out.str());
  torch::jit::Module linear = loaded_net.attr("0").toModule();
  CHECK(linear.attr("weight").toTensor().equal(net[0]->as<torch::nn::Linear>()->weight));
  CHECK(loaded_net.parameters().size() == 4 && loaded_net.buffers().size() == 3);

  taeda::jit::ArchiveWriter to("net");
  const auto any = taeda::plain_type(taeda::TypeKind::Any), string = taeda::plain_type(taeda::TypeKind::String);
  auto object = taeda::make_ref<taeda::Dict>(string, any);
  object->set(taeda::Value("sizes"), taeda::Value(std::vector<int64_t>{1, 2}));
  to.write_value("data", object, [](const taeda::Dict&) { return "__torch__.sourced.Net"; }, true);
  to.write("constants.pkl", std::string_view("\x80\x02).", 4));
  to.write("code/__torch__/sourced.py", R"(class Net(Module):
  __parameters__ = []
  __buffers__ = []
  sizes : List[int]
  scale : Final[float] = 0.5
  def forward(self: __torch__.sourced.Net,
    x: Tensor) -> Tensor:
    return x
def helper(x: Tensor) -> Tensor:
  return x
)");
  torch::jit::Module sourced = loaded(to.finish());
  CHECK(sourced.attr("sizes").toIntVector()[1] == 2 && sourced.attr("scale").toDouble() == 0.5);
  CHECK_ERROR(sourced.forward({torch::ones(1)}), Runtime, "taeda jit compile");
  CHECK_ERROR(sourced.get_method("backward"), Runtime, "not defined");
}

TEST(modules_made_here) {
  torch::jit::Module inner("Part"), net("Made");
  inner.register_buffer("steps", torch::arange(3));
  net.register_parameter("weight", torch::ones(2).requires_grad_(), false);
  net.register_parameter("bias", torch::Tensor(), false);
  net.register_module("part", inner);
  net.register_attribute("scale", c10::FloatType::get(), 0.5);
  net.register_attribute("scale", c10::FloatType::get(), 2.5);  // again
  CHECK(net.attr("scale").toDouble() == 2.5);
  net.register_attribute("scale", c10::FloatType::get(), 0.5);
  CHECK_ERROR(net.register_attribute("scale", c10::IntType::get(), 2), Runtime, "'scale' is a float already");
  CHECK_ERROR(net.register_buffer("weight", torch::ones(2)), Runtime, "something else than a buffer");
  net.register_parameter("bias", torch::zeros(1), false);
  CHECK(net.parameters().size() == 2);
  net.register_parameter("bias", torch::Tensor(), false);
  CHECK_ERROR(net.register_attribute("count", c10::IntType::get(), 0.5), Runtime,
              "'count' is to be a int; got a float");
  std::string names;
  for (const auto& each : net.named_attributes()) names += each.name + " ";
  CHECK(names == "training weight bias part part.training part.steps scale ");
  CHECK(c10::TypePtr(c10::impl::GenericList(c10::List<std::string>().value()).elementType()) == c10::StringType::get());
  CHECK(net.is_training() && net.named_parameters().size() == 1 && net.buffers()[0].equal(torch::arange(3)));
  std::ostringstream out;
  net.save(out);
  torch::jit::Module again = loaded(out.str());
  CHECK(again.attr("weight").toTensor().requires_grad() && again.attr("bias").isNone());
  CHECK(again.attr("scale").toDouble() == 0.5 && again.buffers()[0].equal(torch::arange(3)));
  torch::jit::Module copy = net.copy(), deep = net.deepcopy();
  net.attr("weight").toTensor().data().fill_(4);
  copy.attr("part").toModule().setattr("steps", torch::zeros(1));
  CHECK(copy.attr("weight").toTensor()[0].item<float>() == 4 && deep.attr("weight").toTensor()[0].item<float>() == 1);
  CHECK(inner.attr("steps").toTensor().numel() == 3);
  const std::string text = net.dump_to_str(true, true, false);
  CHECK(text.find("scale : float\n    0.5") != text.npos && text.find("weight : Tensor\n  bias") != text.npos);
  torch::jit::Module program = loaded(archive(1));
  CHECK(program.dump_to_str(true, true, true).find("method forward(") != std::string::npos);
  CHECK_ERROR(program.register_buffer("steps", torch::ones(1)), Runtime, "that its program declares");
  CHECK_ERROR(inner.register_module("outer", net), Runtime, "is to hold it");
  CHECK_ERROR(net.register_module("itself", net), Runtime, "is to hold it");
  net.register_module("program", program);
  CHECK_ERROR(copy.register_buffer("more", torch::ones(1)), Runtime, "through another");
  CHECK_ERROR(net.save(out), Runtime, "no source of the methods");
}

// An archive of data whose pickle is given as it is.
std::string archive_with(const std::string& pickle) {
  taeda::jit::ArchiveWriter to("data");
  to.write("data.pkl", pickle);
  to.write("code/__torch__.py", "class Own(Module):\n  __parameters__ = []\n  own : __torch__.Own\n  any : Any\n");
  return to.finish();
}

TEST(pickles_of_what_lies_in_itself) {
  const std::string made = std::string("\x80\x02") + "c__torch__\nOwn\n)\x81";
  auto any = [&](const std::string& value) { return made + "}X\x03" + std::string(3, 0) + "any" + value + "sb."; };
  CHECK(loaded(archive_with(any("]]a"))).attr("any").toListRef().size() == 1);
  const int deep = 200'000;
  for (const std::string& value :
       {std::string("]q\x01h\x01"
                    "a"),
        std::string(deep, ']') + std::string(deep - 1, 'a'), ")" + std::string(deep, '\x85')})
    CHECK_ERROR(loaded(archive_with(any(value))), Runtime, "without end");
  const std::string itself = made + "q\x01}X\x03" + std::string(3, 0) + "ownh\x01sb.";
  CHECK_ERROR(loaded(archive_with(itself)), Runtime, "modules lie in each other");
}

TEST(texts_of_types_in_types) {
  const size_t deep = 200'000;
  auto repeated = [](const char* text, size_t count) {
    std::string all;
    for (size_t i = 0; i < count; ++i) all += text;
    return all;
  };
  for (const char* part : {"(", "List[", "Dict(str, ", "Union[", "Enum<"})
    CHECK_ERROR(taeda::parse_type(repeated(part, deep)), Runtime, "64 types");
  for (const char* part : {"[]", "?", "[]?"})
    CHECK_ERROR(taeda::parse_type("int" + repeated(part, deep)), Runtime, "64");
  CHECK(taeda::parse_type("int" + repeated("[]", 60))->is(taeda::TypeKind::List));
  taeda::jit::ArchiveWriter to("net");
  to.write("data.pkl", "");
  to.write("instructions/program", "taeda-program 1\nclass \"__torch__.Deep\" module\nattribute \"a\" plain " +
                                       repeated("list ", deep) + "int\n");
  CHECK_ERROR(loaded(to.finish()), Value, "without end");
}

TEST(records_of_archives) {
  using caffe2::serialize::PyTorchStreamReader, caffe2::serialize::PyTorchStreamWriter;
  std::string bytes;
  PyTorchStreamWriter writer([&](const void* data, size_t size) {
    bytes.assign(static_cast<const char*>(data), size);
    return size;
  });
  writer.writeRecord("extra/one", "abc", 3);
  writer.writeRecord("empty", nullptr, 0);
  CHECK_ERROR(writer.writeRecord("empty", "", 0), Runtime, "'empty' already");
  writer.writeEndOfFile();
  CHECK(writer.finalized() && writer.getAllWrittenRecords() == (std::vector<std::string>{"extra/one", "empty"}));
  CHECK_ERROR(writer.writeRecord("late", "", 0), Runtime, "has ended");
  std::istringstream in(bytes);
  PyTorchStreamReader reader(&in);
  CHECK(reader.hasRecord("extra/one") && !reader.hasRecord("one") && reader.version() == 3);
  CHECK(c10::str(reader.getAllRecords()) == "byteorder empty extra/one version");
  auto [data, size] = reader.getRecord("extra/one");
  CHECK(std::string(static_cast<const char*>(data.get()), size) == "abc" && reader.getRecordSize("empty") == 0);
  char into[3];
  CHECK(reader.getRecord("extra/one", into, 3) == 3 && into[2] == 'c');
  CHECK_ERROR(reader.getRecord("extra/one", into, 2), Runtime, "has 3 bytes; 2 are asked for");
  CHECK_ERROR(reader.getRecord("none"), Runtime, "no record none");
  CHECK_ERROR(PyTorchStreamReader("/no/such/file.pt"), Runtime, "no file");
  CHECK_ERROR(PyTorchStreamWriter("/no/such/folder/file.pt"), Runtime, "could not be written");
}
