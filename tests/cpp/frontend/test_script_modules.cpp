// Modules that torch::jit::load made, saved again.
#include <taeda/jit/archive.h>
#include <torch/script.h>

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

}  // namespace

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
