#include <thread>

#include "taeda/dispatch/call.h"
#include "taeda/dispatch/library.h"
#include "test_main.h"

using namespace taeda;

namespace {

using Sizes = std::vector<int64_t>;
Tensor made(float value, DeviceType backend = DeviceType::CPU) {
  Tensor t = new_tensor(Sizes{1}, DType::Float32, {backend});
  if (t.data()) *t.data<float>() = value;
  return t;
}
float read(const Tensor& t) { return *t.data<float>(); }

std::string g_trace;

// --- a built-in family, as the generator makes them
using BinarySig = Tensor(const Tensor&, const Tensor&, const Scalar&);
using InplaceSig = void(const Tensor&, const Tensor&);

Tensor add_cpu(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  g_trace += "cpu ";
  return made(read(a) + alpha.to<float>() * read(b));
}
extern const Op kOps[];
Tensor add_autograd(KeySet keys, const Tensor& a, const Tensor& b, const Scalar& alpha) {
  g_trace += "autograd ";
  return TypedOp<BinarySig>{kOps[0]}(keys & KeySet::below(Functionality::Autograd), a, b, alpha);
}
Tensor add_sparse(const Tensor& a, const Tensor&, const Scalar&) {
  g_trace += "sparse ";
  return a;
}
void bump_quantized(const Tensor&, const Tensor&) { g_trace += "quantized "; }
void bump_cpu(const Tensor& self, const Tensor& by) { *self.data<float>() += read(by); }
Tensor twice(const Tensor& a, const Tensor&, const Scalar& alpha) {
  g_trace += "composite ";
  return TypedOp<BinarySig>{kOps[0]}(dispatch_keys(a), a, a, alpha);
}

const Param kBinaryParams[] = {
    {"self", ArgType::Tensor}, {"other", ArgType::Tensor}, {"alpha", ArgType::Scalar, "1", false, true}};
const Param kInplaceParams[] = {{"self", ArgType::Tensor, nullptr, false, false, true}, {"by", ArgType::Tensor}};
const StaticKernel kAddKernels[] = {{Functionality::Dense, DeviceType::CPU, reinterpret_cast<void*>(add_cpu)},
                                    {Functionality::Sparse, DeviceType::CPU, reinterpret_cast<void*>(add_sparse)},
                                    {Functionality::Autograd, kEveryDevice, reinterpret_cast<void*>(add_autograd)}};
const StaticKernel kBumpKernels[] = {{Functionality::Dense, DeviceType::CPU, reinterpret_cast<void*>(bump_cpu)},
                                     {Functionality::Quantized, kEveryDevice, reinterpret_cast<void*>(bump_quantized)}};
const StaticKernel kTwiceKernels[] = {{kComposite, kEveryDevice, reinterpret_cast<void*>(twice)}};
const OpInfo kInfos[] = {
    {"test::add", "Tensor", "test::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", kBinaryParams,
     kAddKernels, &Boxing<BinarySig>::signature, "ops.py", 1, 3, 1, 3, 0, 0, 0},
    {"test::bump_", "", "test::bump_(Tensor(a!) self, Tensor by) -> Tensor(a!)", kInplaceParams, kBumpKernels,
     &Boxing<InplaceSig>::signature, "ops.py", 2, 2, 1, 2, 0, 1, kInplaceOp},
    {"test::twice", "", "test::twice(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", kBinaryParams,
     kTwiceKernels, &Boxing<BinarySig>::signature, "ops.py", 3, 3, 1, 1, 0, 0, 0}};
const Op kOps[] = {Op(kInfos[0]), Op(kInfos[1]), Op(kInfos[2])};
OpFamily g_family{"test", kOps, 3, nullptr};
const bool g_added = (add_family(&g_family), true);

Tensor add(const Tensor& a, const Tensor& b, const Scalar& alpha = 1) {
  return TypedOp<BinarySig>{kOps[0]}(dispatch_keys(a, b), a, b, alpha);
}

struct Traced {
  Traced() { g_trace.clear(); }
  bool is(std::string_view wanted) const { return g_trace == wanted; }
};
constexpr int kCpuSlot = slot_of(Functionality::Dense, DeviceType::CPU);

}  // namespace

TEST(values) {
  Tensor t = made(1);
  CHECK(Value(t).to_tensor().is(t) && Value(Tensor()).is_none() && !Value().to_tensor().defined());
  CHECK(Value(3).to_int() == 3 && Value(3).to_float() == 3.0 && Value(true).to_scalar().kind() == Scalar::Kind::Bool);
  CHECK(Value("text").to_string() == "text");
  CHECK(Value(complex128(1, 2)).to_scalar().to<complex128>() == complex128(1, 2));
  CHECK(Value(Scalar(UINT64_MAX)).to_scalar().to<uint64_t>() == UINT64_MAX);
  CHECK(Value(Device{DeviceType::CUDA, 3}).to_device() == Device{DeviceType::CUDA, 3});
  CHECK(Value(Device{}).to_device() == Device{});
  CHECK(Value(Sizes{1, 2}).to_int_list()[1] == 2 && Value::bool_list({1, 0}).to_int_list()[0] == 1);
  CHECK(Value(std::vector<Tensor>{t, {}}).to_tensor_list()[0].is(t));
  CHECK(Value(std::optional<int64_t>()).is_none());
  Value a = Value("x"), b = a;
  a = Value(1);
  CHECK(b.to_string() == "x");
  CHECK_ERROR(Value("x").to_int(), Runtime, "should be an int and is a string");
  CHECK_ERROR(Value(1.5).to_int(), Runtime, "a float");
  CHECK_ERROR(Value(1).to_tensor_list(), Runtime, "a list of tensors");
}

TEST(calls_go_down_the_layers) {
  Traced traced;
  CHECK(read(add(made(1), made(2), 3)) == 7 && traced.is("autograd cpu "));
  CHECK(read(add(made(1), made(2))) == 3 && traced.is("autograd cpu autograd cpu "));
  g_trace.clear();
  BelowAutograd below;
  add(made(1), made(2));
  CHECK(traced.is("cpu "));
}

TEST(composites_record_their_parts) {
  Traced traced;
  Tensor t = made(2);
  CHECK(read(TypedOp<BinarySig>{kOps[2]}(dispatch_keys(t), t, t, 1)) == 4);
  CHECK(traced.is("composite autograd cpu "));
}

TEST(missing_kernels_are_named) {
  Tensor meta = made(0, DeviceType::Meta);
  CHECK_ERROR(add(meta, meta), NotImplemented,
              "test::add.Tensor has no kernel for meta tensors; it has one for: cpu, "
              "sparse cpu");
}

TEST(layouts_have_kernels_of_their_own) {
  Traced traced;
  Tensor dense = made(1), sparse = made(2);
  const KeySet elements = KeySet(DeviceType::CPU) | Functionality::Sparse;
  CHECK(TypedOp<BinarySig>{kOps[0]}(elements, sparse, dense, 1).is(sparse) && traced.is("sparse "));
  CHECK(TypedOp<BinarySig>{kOps[0]}(elements | Functionality::Dense | Functionality::Autograd, sparse, dense, 1)
            .is(sparse));
  CHECK(traced.is("sparse autograd sparse "));
  g_trace.clear();
  for (DeviceType device : {DeviceType::CPU, DeviceType::Meta})
    TypedOp<InplaceSig>{kOps[1]}(KeySet(device) | Functionality::Quantized, dense, dense);
  CHECK(traced.is("quantized quantized "));
  CHECK_ERROR(TypedOp<InplaceSig>{kOps[1]}(elements, dense, dense), NotImplemented, "no kernel for sparse cpu tensors");
}

TEST(boxed_calls) {
  Stack stack{Value(9), Value(made(1)), Value(made(2)), Value(10)};
  kOps[0].call_boxed(stack);
  CHECK(stack.size() == 2 && stack[0].to_int() == 9 && read(stack[1].to_tensor()) == 21);
  Tensor self = made(1);
  Stack inplace{Value(self), Value(made(4))};
  kOps[1].call_boxed(inplace);
  CHECK(inplace.size() == 1 && inplace[0].to_tensor().is(self) && read(self) == 5);
  Stack few{Value(self)};
  CHECK_ERROR(kOps[0].call_boxed(few), Runtime, "takes 3 boxed arguments");
}

TEST(the_table) {
  CHECK(find_op("test::add", "Tensor") == &kOps[0] && find_op("test::bump_", "") == &kOps[1]);
  CHECK(!find_op("test::add", "") && !find_op("test::nothing", ""));
  CHECK(ops_named("test::add").size() == 1 && kOps[0].plain_name() == "add");
}

TEST(registered_kernels_come_and_go) {
  Traced traced;
  {
    Library library("test", Library::Kind::Impl, "here.cpp:1");
    library.impl("add.Tensor", DeviceType::Meta, [](const Op&, KeySet, Stack& stack) {
      g_trace += "boxed ";
      stack.resize(stack.size() - 2);
    });
    Tensor meta = made(0, DeviceType::Meta);
    CHECK(add(meta, made(0)).is(meta) && traced.is("autograd boxed "));
    CHECK_ERROR(library.impl(
                    "add.Tensor", "Meta", [](const Op&, KeySet, Stack&) {}, "there.cpp:2"),
                Runtime, "from here.cpp:1 and would get another from there.cpp:2");
    library.impl(
        "add.Tensor", "CPU", +[](const Tensor& a, const Tensor&, const Scalar&) {
          g_trace += "mine ";
          return a;
        });
    g_trace.clear();
    add(made(1), made(2));
    CHECK(traced.is("autograd mine "));
    CHECK((kOps[0].slot(kCpuSlot) & kBoxedBit) == 0);
    CHECK_ERROR(library.impl("add.Tensor", "CUDA", +[](const Tensor& a) { return a; }), Runtime, "1 parameters");
    CHECK_ERROR(library.impl("add.Nothing", "CUDA", +[](const Tensor& a) { return a; }), Runtime, "there is no op");
    CHECK_ERROR(library.def("x() -> ()"), Runtime, "IMPL");
  }
  g_trace.clear();
  add(made(1), made(2));
  CHECK(traced.is("autograd cpu "));
  CHECK_ERROR(add(made(0, DeviceType::Meta), made(0)), NotImplemented, "meta");
}

TEST(ops_defined_at_run_time) {
  Traced traced;
  {
    Library library("mine", Library::Kind::Def, "mine.cpp:5");
    const Op& op = library.def("scale(Tensor x, float by=2, *, int[2] size=1) -> Tensor", "mine.py", 7);
    CHECK(find_op("mine::scale", "") == &op && ops_named("mine::scale").size() == 1);
    CHECK(std::string_view(op.info().schema) == "mine::scale(Tensor x, float by=2, *, int[2] size=1) -> Tensor");
    CHECK_ERROR(Library("mine", Library::Kind::Def, "other.cpp:1"), Runtime, "mine.cpp:5 and again at other.cpp:1");
    CHECK_ERROR(Library("mine", Library::Kind::Fragment, "").def("scale(Tensor x) -> Tensor", "b.py", 2), Runtime,
                "mine.py:7 and again at b.py:2");
    library.impl(
        "scale", DeviceType::CPU,
        +[](const Tensor& x, double by, IntList) { return made(read(x) * static_cast<float>(by)); });
    Stack stack{Value(made(3)), default_value(op.info().params[1]), default_value(op.info().params[2])};
    op.call_boxed(stack);  // falls through Autocast, which has no kernel; under Autograd stands what warns in backward
    CHECK(stack.size() == 1 && read(stack[0].to_tensor()) == 6);
    CHECK(op.skipped().has(Functionality::Autocast) && !op.skipped().has(Functionality::Autograd));
    library.impl("scale", "Autograd", [](const Op& called, KeySet keys, Stack& arguments) {
      g_trace += "autograd ";
      called.call_boxed(keys & KeySet::below(Functionality::Autograd), arguments);
    });
    Stack again{Value(made(3)), Value(5.0), Value(Sizes{1, 1})};
    op.call_boxed(again);
    CHECK(read(again[0].to_tensor()) == 15 && traced.is("autograd "));
  }
  CHECK(!find_op("mine::scale", ""));
  Library again("mine", Library::Kind::Def, "");
  again.def("scale(Tensor x) -> Tensor");
  CHECK(find_op("mine::scale", ""));
}

TEST(fallbacks_serve_every_op) {
  Traced traced;
  Tensor meta = made(0, DeviceType::Meta);
  {
    Library library("_", Library::Kind::Impl, "");
    auto kernel = std::make_shared<Kernel>();
    kernel->boxed = [](const Op& op, KeySet, Stack& stack) {
      g_trace += str("fallback:", op.plain_name(), " ");
      stack.resize(stack.size() - op.info().param_count + 1);
    };
    library.fallback(parse_dispatch_key("Meta"), kernel);
    CHECK(add(meta, meta).is(meta) && traced.is("autograd fallback:add "));
    auto conjugate = std::make_shared<Kernel>();
    conjugate->boxed = [](const Op& op, KeySet keys, Stack& stack) {
      g_trace += "conjugate ";
      op.call_boxed(keys & KeySet::below(Functionality::Conjugate), stack);
    };
    library.fallback(parse_dispatch_key("Conjugate"), conjugate);
    Tensor t = made(1);
    t->set_keys(t.keys() | Functionality::Conjugate);
    g_trace.clear();
    add(t, made(1));
    CHECK(traced.is("autograd conjugate cpu "));
  }
  CHECK_ERROR(add(meta, meta), NotImplemented, "meta");
}

TEST(recorders_see_every_hop_and_only_then) {
  struct : CallRecorder {
    void hop(const Op& op, KeySet, int slot) override {
      hops += str(op.plain_name(), ":", dispatch_key_name(slot), " ");
    }
    std::string hops;
  } recorder;
  Tensor t = made(2);
  set_recorder(&recorder);
  TypedOp<BinarySig>{kOps[2]}(dispatch_keys(t), t, t, 1);
  std::thread([&] { add(t, t); }).join();
  set_recorder(nullptr);
  add(t, t);
  CHECK(recorder.hops == "twice:AutogradCPU add:AutogradCPU add:CPU ");
}

TEST(registering_while_others_call) {
  std::atomic<bool> stop{false};
  Tensor t = made(1);
  std::thread caller([&] {
    while (!stop) CHECK(read(TypedOp<BinarySig>{kOps[0]}(dispatch_keys(t) - kAutogradKeys, t, t, 1)) > 0);
  });
  for (int i = 0; i < 200; ++i) {
    Library library("test", Library::Kind::Impl, "");
    library.impl("add.Tensor", DeviceType::CPU, [](const Op&, KeySet, Stack& s) { s.resize(s.size() - 2); });
  }
  stop = true;
  caller.join();
}

TEST(schemas) {
  const char* text =
      "aten::f.out(Tensor(a!)[] self, Tensor?[] xs, SymInt[2] size=[1, 2], str mode='a,b)', *, Tensor(b -> *)? w=None, "
      "ScalarType? dtype=None, __torch__.torch.classes.C c, Tensor(c!) out) -> (Tensor(c!) out, int[])";
  Schema s = parse_schema(text);
  CHECK(schema_text(s) == text);
  CHECK(s.name == "aten::f" && s.overload == "out" && s.arguments.size() == 8 && s.returns.size() == 2);
  CHECK(s.arguments[0].type == list_type(plain_type(TypeKind::Tensor)) && s.arguments[0].is_write());
  CHECK(arg_type(s.arguments[1].type) == ArgType::OptTensorList && !s.arguments[1].is_optional());
  CHECK(s.arguments[2].list_size == 2 && s.arguments[2].default_value.to_int_list()[1] == 2);
  CHECK(s.arguments[3].default_value.to_string() == "a,b)" && !s.arguments[3].keyword_only);
  CHECK(s.arguments[4].keyword_only && s.arguments[4].is_optional() && s.arguments[4].alias->after[0] == "*");
  CHECK(s.arguments[6].type->is(TypeKind::Class) && s.returns[0].name == "out");
  CHECK(parse_schema("g() -> ()").returns.empty());
  for (const char* bad : {"f", "f(Tensor) -> Tensor", "f(Tensr x) -> Tensor", "f(Tensor x, Tensor x) -> Tensor",
                          "f(Tensor x -> Tensor", "f(Tensor x) -> Tensor!", "f(int x=) -> int", "f(*, *, int x) -> int",
                          "f(int x=1.5) -> int", "f(str x=1) -> int", "f(str x='a) -> int", "f(int[] x=3) -> int",
                          "f(..., int x) -> int", "f(Dict(str) x) -> int", "f(int[ x) -> int"})
    CHECK_ERROR(parse_schema(bad), Runtime, "malformed");
}

TEST(defaults) {
  DefinedOp op(parse_schema("f(int[2] a=3, float b=1, float[] c=[1, 2.5], bool d=True, str e='x', int? f=None, "
                            "Scalar g=1e-3, MemoryFormat h=contiguous_format, Tensor[] i=[], bool[2] j=True) -> ()"),
               "", "", 0);
  const Param* p = op.op().info().params;
  CHECK(default_value(p[0]).to_int_list()[1] == 3 && default_value(p[1]).tag() == Value::Tag::Float);
  CHECK(default_value(p[2]).to_float_list()[1] == 2.5 && default_value(p[3]).to_bool());
  CHECK(default_value(p[4]).to_string() == "x" && default_value(p[5]).is_none());
  CHECK(default_value(p[6]).to_float() == 1e-3 && default_value(p[8]).to_tensor_list().empty());
  CHECK(default_value(p[7]).to_memory_format() == MemoryFormat::Contiguous);
  CHECK(default_value(p[9]).tag() == Value::Tag::BoolList && default_value(p[9]).to_int_list().size() == 2);
}

TEST(dispatch_keys_have_names) {
  for (const char* name :
       {"CPU", "CUDA", "Meta", "PrivateUse1", "SparseCPU", "SparseCsrCUDA", "AutogradCPU", "Autograd",
        "AutogradPrivateUse2", "AutocastCUDA", "CompositeImplicitAutograd", "ADInplaceOrView",
        "CompositeExplicitAutograd", "BackendSelect", "Python", "Functionalize", "Tracer"})
    CHECK(dispatch_key_name(parse_dispatch_key(name)) == name);
  CHECK_ERROR(parse_dispatch_key("Autogradient"), Runtime, "no dispatch key");
}
