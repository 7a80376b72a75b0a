// Programs run without Python: from text, and as archives that are damaged.
#include <fstream>

#include "jit/code.h"
#include "jit/error.h"
#include "taeda/jit/module.h"
#include "test_main.h"

using namespace taeda;

namespace {

constexpr std::string_view kProgram = R"(taeda-program 1
source "sum.py" 1 "def mean(n):\n    total = 0\n    for i in range(n): total += i\n    return total // n"
class "__torch__.cpp_test.Scale" module
attribute "weight" parameter Tensor
attribute "steps" plain int
function "__torch__.cpp_test.Scale.forward" of "__torch__.cpp_test.Scale"
parameter "self" v0 class "__torch__.cpp_test.Scale"
parameter "x" v1 Tensor
parameter "times" i0 int = 2
returns Tensor
registers 4 3
number 0
code
i1 = get "steps" class "__torch__.cpp_test.Scale" v0
i1 = add.i i1 i0
set "steps" class "__torch__.cpp_test.Scale" v0 i1
v2 = get "weight" class "__torch__.cpp_test.Scale" v0
v3 = op aten::mul.Tensor v1! v2!
v3 = op aten::mul.Scalar v3! i0
return v3!
end
function "mean"
parameter "n" i2 int
returns int
registers 0 6
number 0
code
i3 = copy i0
i4 = copy i0
unless_lt.i i4 i2 @5
i3 = add.i i3 i4
next i4 i2 @3
i5 = floordiv.i i3 i2 ; 0 73 83
return i5
end
)";

}  // namespace

TEST(a_program_runs) {
  Ref<jit::Unit> unit = jit::assemble(kProgram, {});
  const jit::Function* mean = unit->find("mean");
  Stack stack{Value(10)};
  mean->run(stack);
  CHECK(stack.size() == 1 && stack.back().to_int() == 4);
  Stack zero{Value(0)};
  try {
    mean->run(zero);
    CHECK(false);
  } catch (const jit::Failure& failure) {
    CHECK(std::string(failure.what()).find("line 4, in mean") != std::string::npos);
  }
}

TEST(a_module_runs) {
  Ref<jit::Unit> unit = jit::assemble(kProgram, {});
  auto object = make_ref<Instance>(&class_type("__torch__.cpp_test.Scale"));
  Tensor weight = new_tensor(std::vector<int64_t>{2}, DType::Float32);
  weight.data<float>()[0] = 1.5f;
  weight.data<float>()[1] = -2;
  object->set("weight", weight);
  object->set("steps", 0);
  jit::Module module(object);
  Tensor out = module.run("forward", {weight}).to_tensor();
  CHECK(out.data<float>()[0] == 4.5f && out.data<float>()[1] == 8);
  module.run("forward", {weight, 7});
  CHECK(module.attribute("steps").to_int() == 9 && module.parameters().size() == 1);
  CHECK_ERROR(module.run("forward", {}), Type, "missing the argument 'x'");
  CHECK_ERROR(module.run("forward", {Value(3)}), Type, "takes a Tensor");
  CHECK_ERROR(module.run("backward", {}), Runtime, "no method");
}

TEST(a_file_that_is_no_archive_is_refused) {
  CHECK_ERROR(jit::load("/no/such/file.pt"), Runtime, "there is no file");
  std::string path = "/tmp/taeda_cpp_test.pt";
  for (std::string text :
       {std::string("PK"), std::string(100, 'x'), std::string("PK\x05\x06") + std::string(18, '\xff')}) {
    std::ofstream(path, std::ios::binary) << text;
    CHECK_ERROR(jit::load(path), Runtime, path);
  }
}
