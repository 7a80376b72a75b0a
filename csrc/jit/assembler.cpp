// From a program's text to code. Every register, constant and jump is checked here, so that the machine need not.
#include <array>

#include "jit/assembler_text.h"
#include "jit/direct.h"
#include "jit/primitives/typed.h"

namespace taeda::jit {

namespace {

struct OpcodeFacts {
  std::string_view name, operands;
};
constexpr OpcodeFacts kOpcodes[] = {
#define X(name, text, operands) {text, operands},
    TAEDA_FORALL_OPCODES(X)
#undef X
};

std::optional<Opcode> opcode_named(std::string_view name) {
  static const auto* kByName = [] {
    auto* by_name = new std::unordered_map<std::string_view, Opcode>;
    for (size_t i = 0; i < std::size(kOpcodes); ++i) by_name->emplace(kOpcodes[i].name, static_cast<Opcode>(i));
    return by_name;
  }();
  auto found = kByName->find(name);
  return found == kByName->end() ? std::nullopt : std::optional(found->second);
}

bool ends_a_path(Opcode opcode) { return opcode == Opcode::Return || opcode == Opcode::Jump; }

}  // namespace

class Assembler {
 public:
  Assembler(std::string_view text, std::span<const Value> externals, Unit& unit)
      : lines_(text), externals_(externals), unit_(unit) {}

  void run() {
    header();
    while (lines_.next()) {
      if (lines_.take("source"))
        source();
      else if (lines_.take("enum"))
        enumeration();
      else if (lines_.take("class"))
        declare_class();
      else if (lines_.take("function"))
        function();
      else
        lines_.fail(str("'", lines_.word(), "' is nothing that a program has"));
    }
    for (const Call& call : calls_) link(call);
    for (const auto& [type, function] : methods_) add_method(class_type(type), function);
  }

 private:
  struct Call {
    Site* site;
    size_t line;
  };

  void header() {
    if (!lines_.next() || !lines_.take("taeda-program")) lines_.fail("it does not begin as a program of Taeda does");
    int64_t version = lines_.number_word();
    if (version > kProgramVersion)
      lines_.fail(str("it has version ", version, "; this build reads versions up to ", kProgramVersion));
  }

  void source() {
    Source& source = unit_.sources.emplace_back();
    source.file = lines_.word();
    source.first_line = lines_.number_word();
    source.text = lines_.word();
  }

  void enumeration() {
    std::string name = lines_.word();
    TypePtr value_type = read_type(lines_);
    std::vector<EnumType::Member> members;
    for (int64_t n = lines_.number_word(); n > 0; --n) {
      std::string member = lines_.word();
      members.emplace_back(member, read_literal(lines_, externals_));
    }
    enum_type(name, value_type, std::move(members));
  }

  // class "name" module|plain; then lines `attribute "name" kind type`. One that exists must have the same.
  void declare_class() {
    ClassType& type = class_type(lines_.word());
    bool is_new = type.attributes().empty() && type.methods().empty();
    bool is_module = lines_.take("module");
    if (!is_module && !lines_.take("plain")) lines_.fail("a class is 'module' or 'plain'");
    if (is_new) type.is_module = is_module;
    size_t count = 0;
    while (lines_.next()) {
      if (!lines_.take("attribute")) {
        lines_.again();
        break;
      }
      std::string name = lines_.word();
      Attribute::Kind kind = lines_.take("parameter") ? Attribute::Kind::Parameter
                             : lines_.take("buffer")  ? Attribute::Kind::Buffer
                                                      : Attribute::Kind::Plain;
      if (kind == Attribute::Kind::Plain) lines_.take("plain");
      TypePtr attribute = read_type(lines_);
      if (is_new)
        type.add_attribute({name, attribute, kind});
      else if (type.find_attribute(name) != count)
        lines_.fail(str("the class ", type.name(), " exists with other attributes than '", name, "'"));
      ++count;
    }
  }

  // function "name" [of "class"]; then lines parameter, returns, value, number, constant; then code up to `end`.
  void function() {
    Function& made = unit_.functions_.emplace_back();
    made.name = lines_.word();
    made.unit = &unit_;
    if (!unit_.by_name_.emplace(made.name, &made).second)
      lines_.fail(str("the function ", made.name, " is there twice"));
    made.schema.name = made.name.substr(made.name.rfind('.') + 1);
    if (lines_.take("of")) methods_.emplace_back(lines_.word(), &made);
    function_ = &made;
    code_ = &made.code;
    declarations();
    instructions();
  }

  void declarations() {
    while (lines_.next()) {
      if (lines_.take("parameter")) {
        parameter();
      } else if (lines_.take("returns")) {
        function_->schema.returns.emplace_back().type = read_type(lines_);
      } else if (lines_.take("registers")) {
        code_->values = count();
        code_->numbers = count();
      } else if (lines_.take("number")) {
        Value value = read_literal(lines_, externals_);
        Number number{};
        if (value.tag() == Value::Tag::Float)
          number.f = value.to_float();
        else
          number.i = value.to_int();
        code_->preset.push_back(number);
      } else if (lines_.take("constant")) {
        code_->constants.push_back(read_literal(lines_, externals_));
      } else if (lines_.take("code")) {
        if (code_->preset.size() > static_cast<size_t>(code_->numbers)) lines_.fail("more numbers than registers");
        for (Operand& operand : code_->parameters) check(operand);
        return;
      } else {
        lines_.fail(str("'", lines_.word(), "' is no part of a function"));
      }
    }
    lines_.fail("a function without code");
  }

  void parameter() {
    SchemaArgument argument;
    argument.name = lines_.word();
    code_->parameters.push_back(operand(lines_.word()));
    if (code_->parameters.back().kind == Operand::Kind::Constant) lines_.fail("a parameter needs a register");
    argument.keyword_only = lines_.take("keyword");
    argument.type = read_type(lines_);
    if (lines_.take("=")) {
      argument.default_value = read_literal(lines_, externals_);
      argument.default_text = shown(argument.default_value);
    }
    function_->schema.arguments.push_back(std::move(argument));
  }

  int32_t count() {
    int64_t value = lines_.number_word();
    if (value < 0 || value > 1'000'000) lines_.fail(str(value, " registers are out of range"));
    return static_cast<int32_t>(value);
  }

  void instructions() {
    while (lines_.next() && !lines_.peek("end")) instruction();
    if (!lines_.take("end")) lines_.fail("a function does not end");
    if (code_->instructions.empty() || !ends_a_path(code_->instructions.back().opcode))
      lines_.fail("a function runs off its end");
    for (const Instruction& made : code_->instructions) check_jump(made);
    for (size_t i = 0; i < code_->sites.size(); ++i) {
      Site& site = code_->sites[i];
      site.code = code_;
      if (site_lines_[i]) calls_.push_back({&site, site_lines_[i]});
      if (site.op) site.direct = direct_call(site);
    }
    site_lines_.clear();
  }

  // [results =] name operands [; source start end]
  void instruction() {
    std::vector<Operand> results;
    if (lines_.has_equals()) {
      while (!lines_.take("=")) results.push_back(checked(operand(lines_.word())));
      for (const Operand& result : results)
        if (result.kind == Operand::Kind::Constant || result.kind == Operand::Kind::Move)
          lines_.fail("a result goes into a register");
    }
    const std::string name = lines_.word();
    std::optional<Opcode> opcode = opcode_named(name);
    if (!opcode) lines_.fail(str("'", name, "' is no instruction"));
    Instruction made{*opcode};
    std::string_view form = kOpcodes[static_cast<size_t>(*opcode)].operands;
    if (form == "*") {
      made.a = static_cast<int32_t>(code_->sites.size());
      code_->sites.emplace_back();
      site_lines_.push_back(0);
      site(*opcode, code_->sites.back(), std::move(results));
    } else {
      plain(made, form, results);
    }
    code_->instructions.push_back(made);
    place();
  }

  void place() {
    Place at;
    if (lines_.take(";")) {
      at.source = static_cast<int32_t>(lines_.number_word());
      at.start = static_cast<int32_t>(lines_.number_word());
      at.end = static_cast<int32_t>(lines_.number_word());
      if (at.source < 0 || static_cast<size_t>(at.source) >= unit_.sources.size())
        lines_.fail("there is no such source");
    }
    lines_.expect_end();
    code_->places.push_back(at);
  }

  void plain(Instruction& made, std::string_view form, const std::vector<Operand>& results) {
    int32_t Instruction::* fields[] = {&Instruction::a, &Instruction::b, &Instruction::c};
    size_t next = 0, wanted = form.find(':');
    if (results.size() != wanted) lines_.fail("another number of results");
    for (const Operand& result : results) made.*fields[next++] = number_register(result);
    for (char kind : form.substr(wanted + 1)) {
      const std::string& word = lines_.word();
      if (kind == '@') {
        if (word.size() < 2 || word[0] != '@') lines_.fail("'@' and a number should say where to jump");
        made.*fields[next++] = static_cast<int32_t>(std::strtol(word.c_str() + 1, nullptr, 10));
      } else {
        made.*fields[next++] = number_register(checked(operand(word)));
      }
    }
  }

  int32_t number_register(const Operand& operand) {
    if (operand.kind < Operand::Kind::Int) lines_.fail("the instruction works on numbers");
    return operand.index;
  }

  void check_jump(const Instruction& made) {
    std::string_view form = kOpcodes[static_cast<size_t>(made.opcode)].operands;
    if (form.back() != '@') return;
    size_t count = form.size() - 1;  // without the colon
    int32_t target = count == 1 ? made.a : count == 2 ? made.b : made.c;
    if (target < 0 || static_cast<size_t>(target) >= code_->instructions.size())
      lines_.fail("a jump leads out of the function");
  }

  Operand checked(Operand operand) {
    check(operand);
    return operand;
  }
  void check(const Operand& operand) {
    int64_t end = operand.kind == Operand::Kind::Constant ? static_cast<int64_t>(code_->constants.size())
                  : operand.kind <= Operand::Kind::Move   ? code_->values
                                                          : code_->numbers;
    if (operand.index < 0 || operand.index >= end) lines_.fail(str("there is no register or constant ", operand.index));
  }

  // v3 v3! (the last use) k2 i1 f0 b4
  Operand operand(const std::string& word) {
    using Kind = Operand::Kind;
    bool moved = word.ends_with('!');
    std::string digits = word.size() > 1 ? word.substr(1, word.size() - 1 - moved) : "";
    bool ok = !digits.empty() && digits.size() < 9 && digits.find_first_not_of("0123456789") == digits.npos;
    std::string_view letters = "vkifb";
    size_t which = word.empty() ? letters.npos : letters.find(word[0]);
    if (!ok || which == letters.npos) lines_.fail(str("'", word, "' is no register or constant"));
    constexpr Kind kKinds[] = {Kind::Copy, Kind::Constant, Kind::Int, Kind::Float, Kind::Bool};
    return {moved && which == 0 ? Kind::Move : kKinds[which], static_cast<int32_t>(std::stol(digits))};
  }

  void site(Opcode opcode, Site& site, std::vector<Operand> results) {
    site.outputs = std::move(results);
    heading(opcode, site);
    while (!lines_.done() && !lines_.peek(";")) site.inputs.push_back(checked(operand(lines_.word())));
    check_counts(opcode, site);
  }

  // What stands before the operands.
  void heading(Opcode opcode, Site& site) {
    switch (opcode) {
      case Opcode::CallOp:
        find_op_for(site);
        break;
      case Opcode::CallPrimitive: {
        site.name = lines_.word();
        const Primitive* found = find_primitive(site.name);
        if (!found) lines_.fail(str("this build has no function ", site.name));
        site.primitive = found->run;
        break;
      }
      case Opcode::CallFunction:
        site.name = lines_.word();
        site_lines_.back() = lines_.number();
        break;
      case Opcode::CallMethod:
        site.name = lines_.word();
        break;
      case Opcode::Get:
      case Opcode::Set: {
        site.name = lines_.word();
        site.type = read_type(lines_);
        if (!site.type->is(TypeKind::Class)) lines_.fail("attributes belong to classes");
        std::optional<size_t> slot = static_cast<const ClassType*>(site.type)->find_attribute(site.name);
        if (!slot) lines_.fail(str(site.type->name(), " has no attribute '", site.name, "'"));
        site.first = static_cast<int64_t>(*slot);
        break;
      }
      case Opcode::New:
      case Opcode::List:
        site.type = read_type(lines_);
        if (opcode == Opcode::New && !site.type->is(TypeKind::Class)) lines_.fail("only classes have objects");
        break;
      case Opcode::Tuple:
        if (lines_.peek("named")) site.type = read_type(lines_);
        break;
      case Opcode::Dict:
        site.types.push_back(read_type(lines_));
        site.types.push_back(read_type(lines_));
        break;
      case Opcode::IsInstance:
        for (int64_t n = lines_.number_word(); n > 0; --n) site.types.push_back(read_type(lines_));
        break;
      case Opcode::TupleSlice:
        site.first = lines_.number_word();
        site.last = lines_.number_word();
        break;
      case Opcode::TupleItem:
        site.first = lines_.number_word();
        break;
      default:
        break;
    }
  }

  void find_op_for(Site& site) {
    site.name = lines_.word();
    size_t dot = site.name.find('.', site.name.find("::"));
    std::string name = site.name.substr(0, dot), overload = dot == site.name.npos ? "" : site.name.substr(dot + 1);
    site.op = find_op(name, overload);
    if (!site.op) lines_.fail(str("this build has no op ", site.name));
    const OpInfo& info = site.op->info();
    for (int i = 0; i < info.param_count; ++i) {
      ArgType type = info.params[i].type;
      site.takes_dtypes |= type == ArgType::DType || type == ArgType::Layout || type == ArgType::MemoryFormat;
    }
  }

  void check_counts(Opcode opcode, const Site& site) {
    size_t in = site.inputs.size(), out = site.outputs.size();
    auto want = [&](bool holds) {
      if (!holds) lines_.fail(str("another number of operands: ", in, ", and ", out, " results"));
    };
    switch (opcode) {
      case Opcode::CallOp:
        return want(in == site.op->info().param_count);
      case Opcode::Return:
        return want(out == 0 && in == 1);
      case Opcode::Move:
        return want(in == out);
      case Opcode::Get:
      case Opcode::TupleItem:
      case Opcode::TupleSlice:
      case Opcode::IsInstance:
      case Opcode::ListSize:
        return want(in == 1 && out == 1);
      case Opcode::ListItem:
      case Opcode::TensorSize:
        return want(in == 2 && out == 1);
      case Opcode::Set:
        return want(in == 2 && out == 0);
      case Opcode::Entered:
        return want(in == 1 && out == 0);
      case Opcode::Left:
        return want(in == 0 && out == 0);
      case Opcode::New:
        return want(in == 0 && out == 1);
      case Opcode::List:
      case Opcode::Tuple:
        return want(out == 1);
      case Opcode::Dict:
        return want(in % 2 == 0 && out == 1);
      case Opcode::Unpack:
        return want(in == 1);
      case Opcode::CallMethod:
        return want(in >= 1 && out == 1);
      case Opcode::CallFunction:
        return want(out == 1);
      default:
        return;
    }
  }

  void link(const Call& call) {
    const Function* found = unit_.find(call.site->name);
    TAEDA_CHECK_VALUE(found, "the program's line ", call.line, ": there is no function ", call.site->name);
    TAEDA_CHECK_VALUE(found->code.parameters.size() == call.site->inputs.size(), "the program's line ", call.line, ": ",
                      call.site->name, " takes ", found->code.parameters.size(), " arguments");
    call.site->function = found;
  }

  void add_method(ClassType& type, Function* function) {
    auto schema = std::make_shared<Schema>(function->schema);
    type.define_method({function->schema.name, schema, CompiledMethod{Ref<const Unit>(&unit_), function}});
  }

  Lines lines_;
  std::span<const Value> externals_;
  Unit& unit_;
  Function* function_ = nullptr;
  Code* code_ = nullptr;
  std::vector<size_t> site_lines_;  // of calls that are linked in the end
  std::vector<Call> calls_;
  std::vector<std::pair<std::string, Function*>> methods_;
};

const Function* Unit::find(std::string_view name) const {
  if (auto found = by_name_.find(name); found != by_name_.end()) return found->second;
  for (const Ref<const Unit>& other : others)
    if (auto found = other->by_name_.find(name); found != other->by_name_.end()) return found->second;
  return nullptr;
}

const Function* compiled_function(const Method* method) {
  const auto* compiled = method ? method->run.target<CompiledMethod>() : nullptr;
  return compiled ? compiled->function : nullptr;
}

Ref<Unit> assemble(std::string_view text, std::span<const Value> constants, std::vector<Ref<const Unit>> others) {
  auto unit = make_ref<Unit>();
  unit->others = std::move(others);
  Assembler(text, constants, *unit).run();
  return unit;
}

}  // namespace taeda::jit
