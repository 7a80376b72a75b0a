// The tree of types, boxed collections, classes.
#include "taeda/dispatch/collections.h"
#include "test_main.h"

using namespace taeda;

namespace {

TypePtr type(const char* text) { return parse_type(text); }
bool fits(const char* a, const char* b) { return type(a)->is_subtype_of(type(b)); }

}  // namespace

TEST(types_are_one_node_each) {
  for (const char* text : {"int", "Tensor?[]", "int[][]?", "Dict(str, Tensor)", "(int, (Tensor, str)[])", "()", "t[]",
                           "Union(Tensor, int)", "Await(int)", "__torch__.a.B", "Scalar", "SymInt[]"}) {
    CHECK(type(text)->str() == text && type(text) == type(text));
  }
  CHECK(type("Future(int)") == type("Future[int]") && type("number") == type("Scalar") &&
        type("int??") == type("int?"));
  CHECK(type("Dict(str, int[])?")->annotation() == "Optional[Dict[str, List[int]]]");
  CHECK(type("Union(int, None)") == type("int?") && type("Union(int, float, complex)") == type("Scalar"));
  CHECK(type("Union(str, Union(int, None))")->str() == "Union(int, NoneType, str)");
  CHECK(type("Union(int, str)?") == type("Union(str, int, None)") &&
        shown_type(type("(ScalarType?, SymInt[])")) == type("(int?, int[])"));
  for (const char* bad : {"", "int[", "Tens", "Dict(int)", "int)", "Future()"})
    CHECK_ERROR(type(bad), Runtime, "malformed");
}

TEST(subtypes_and_unification) {
  CHECK(fits("int", "Scalar") && fits("int", "Any") && fits("int", "int?") && fits("NoneType", "int?"));
  CHECK(fits("int?", "Union(int, str, None)") && fits("Union(int, str)", "Union(str, int, None)") &&
        !fits("Union(int, str)", "int"));
  CHECK(fits("(int, Tensor)", "(Scalar, Any)") && !fits("(int, int)", "(int)") && fits("Future(int)", "Future(int?)"));
  CHECK(!fits("int[]", "Scalar[]") && !fits("bool", "int") && !fits("Any", "int") &&
        !fits("Dict(str, int)", "Dict(str, Scalar)"));
  CHECK(unify(type("int"), type("NoneType")) == type("int?") && unify(type("int"), type("Scalar")) == type("Scalar"));
  CHECK(unify(type("(int, NoneType)"), type("(int, int)")) == type("(int, int?)"));
  CHECK(!unify(type("int[]"), type("float[]")) && unify(type("int"), type("str"), true) == type("Union(int, str)"));
  TypePtr point = named_tuple_type("m.Point", {"x", "y"}, {type("int"), type("int")});
  CHECK(point->is_subtype_of(type("(int, int)")) && !type("(int, int)")->is_subtype_of(point) &&
        point->annotation() == "m.Point");
}

TEST(type_variables) {
  TypeVariables found;
  CHECK(match_variables(type("Dict(t, tVal)[]"), type("Dict(str, int)[]"), found));
  CHECK(put_variables(type("(t, tVal?)"), found) == type("(str, int?)"));
  CHECK(!match_variables(type("t[]"), type("int"), found) && !match_variables(type("t"), type("int"), found));
  CHECK_ERROR(put_variables(type("t9"), found), Runtime, "t9");
}

TEST(lists_are_shared_references) {
  for (const char* element : {"int", "bool", "float", "Scalar", "str", "int?"}) {
    ListRef list = ListRef::of(type(element));
    Value item = std::string_view(element) == "str" ? Value("a") : Value(1);
    Value alias = list.value();
    list.append(item);
    list.insert(0, item);
    list.set(1, item);
    CHECK(ListRef(alias).size() == 2 && equal_values(ListRef(alias).get(0), item) && alias.is_same(list.value()));
    Value copy = copied(alias);
    list.erase(0);
    CHECK(ListRef(copy).size() == 2 && ListRef(alias).size() == 1 && !copy.is_same(alias));
    CHECK(type_of(alias) == list_type(type(element)));
    CHECK_ERROR(list.get(1), Index, "position 1");
  }
  CHECK_ERROR(ListRef::of(type("int")).append("a"), Runtime, "an int");
  CHECK_ERROR(ListRef(Value(1)), Runtime, "a list");
}

TEST(dicts_keep_their_order) {
  auto dict = make_ref<Dict>(type("str"), type("int"));
  for (const char* key : {"b", "a", "c"}) dict->set(key, 1);
  dict->set("a", 5);
  CHECK(dict->erase("b") && !dict->erase("b") && dict->size() == 2 && dict->find("a")->to_int() == 5);
  CHECK(dict->entries().front().first.to_string() == "a" && dict->entries().back().first.to_string() == "c");
  auto other = make_ref<Dict>(type("str"), type("int"));
  other->set("c", 1.0);
  other->set("a", 5);
  CHECK(equal_values(dict, other) && !Value(dict).is_same(other));
  Value copy = copied(dict);
  dict->clear();
  CHECK(copy.to_dict().size() == 2 && dict->size() == 0);
  auto numbers = make_ref<Dict>(type("Scalar"), type("int"));
  numbers->set(1, 1);
  numbers->set(true, 2);
  numbers->set(1.0, 3);
  numbers->set(complex128(1, 0), 4);
  CHECK(numbers->size() == 1 && numbers->find(1)->to_int() == 4);
  CHECK_ERROR(numbers->set(std::vector<int64_t>{1}, 1), Type, "tuple");
}

TEST(tuples_and_equality) {
  Value a = make_ref<Tuple>(std::vector<Value>{1, "x"}), b = make_ref<Tuple>(std::vector<Value>{1.0, "x"});
  CHECK(equal_values(a, b) && hash_value(a) == hash_value(b) && !a.is_same(b) && type_of(b) == type("(float, str)"));
  CHECK(equal_values(std::vector<int64_t>{1}, make_ref<List>(type("Any"), std::vector<Value>{1})));
  CHECK(!equal_values("1", 1) && Value("a").is_same("a") && !Value(1).is_same(1.0));
}

TEST(classes_have_members) {
  ClassType& point = class_type("__torch__.test.Point");
  CHECK(&point == type("__torch__.test.Point") && point.add_attribute({"x", type("int")}) == 0);
  point.add_method({"twice", std::make_shared<Schema>(parse_schema("twice(__torch__.test.Point self, int by) -> int")),
                    [](Stack& stack) {
                      int64_t by = stack.back().to_int();
                      stack.pop_back();
                      stack.back() = Value(stack.back().to_instance().get("x").to_int() * by);
                    }});
  CHECK_ERROR(point.add_attribute({"twice", type("int")}), Runtime, "already");
  auto instance = make_ref<Instance>(&point);
  instance->set("x", 21);
  Stack stack{instance, 2};
  point.find_method("twice")->run(stack);
  CHECK(stack.size() == 1 && stack[0].to_int() == 42 && type_of(instance) == &point);
  CHECK_ERROR(instance->get("y"), Runtime, "no attribute 'y'");

  std::vector<Schema> wanted{parse_schema("twice(Any self, int by) -> Scalar")};
  TypePtr doubles = interface_type("__torch__.test.Doubles", std::move(wanted));
  std::string why;
  CHECK(point.is_subtype_of(doubles) && !class_type("__torch__.test.Other").is_subtype_of(doubles, &why));
  CHECK(why.find("lacks the method twice") != std::string::npos);
  CHECK_ERROR(class_type("__torch__.test.Doubles"), Runtime, "InterfaceType");
}

TEST(enumerations) {
  const EnumType* color = enum_type("__torch__.test.Color", type("int"), {{"RED", 1}, {"BLUE", 2}});
  CHECK(enum_type("__torch__.test.Color", type("int"), {{"RED", 1}, {"BLUE", 2}}) == color);
  CHECK_ERROR(enum_type("__torch__.test.Color", type("int"), {{"RED", 2}}), Runtime, "declared already");
  Value red = make_ref<EnumMember>(color, color->index_of("RED")), same = make_ref<EnumMember>(color, 0);
  CHECK(red.is_same(same) && hash_value(red) == hash_value(same) && red.to_enum().value().to_int() == 1 &&
        type_of(red) == color);
  CHECK_ERROR(color->index_of("GREEN"), Runtime, "RED, BLUE");
}
