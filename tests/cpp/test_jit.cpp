// Programs run without Python: from text, and as archives that are damaged.
#include <fstream>

#include "jit/archive/inflate.h"
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

// What zlib made of three texts: stored, with the codes that all know, and with codes of its own.
TEST(records_that_are_compressed) {
  using std::string_view_literals::operator""sv;
  CHECK(jit::inflate("\001\003\000\374\377\141\142\143"sv, 3) == "abc");
  CHECK(jit::inflate("\113\114\204\201\244\144\010\004\000"sv, 18) == "aaaaaaaaaabcbcbcbc");
  constexpr std::string_view kOwn =
      "\335\214\267\021\300\060\020\200\146\345\163\330\277\227\354\363\024\356\050\000\304\047\314\350\152\102\360\255"
      "\254\005\115\231\246\042\212\304\332\125\235\175\201\064\265\374\214\141\346\151\156\272\053\301\277\147\007"sv;
  std::string own;
  for (int i = 0; i < 300; ++i) own += static_cast<char>(i % 7 * i % 11 + 'a');
  CHECK(jit::inflate(kOwn, 300) == own);
  for (size_t size : {0, 299, 301}) CHECK_ERROR(jit::inflate(kOwn, size), Runtime, "cannot be decompressed");
  for (size_t cut = 0; cut < kOwn.size(); ++cut)
    CHECK_ERROR(jit::inflate(kOwn.substr(0, cut), 300), Runtime, "cannot be decompressed");
  for (std::string_view bad : {"\007"sv, "\001\003\000\374\376abc"sv, "\003\002\000"sv, "\005\340\377\377\377\377"sv})
    CHECK_ERROR(jit::inflate(bad, 3), Runtime, "cannot be decompressed");
}
