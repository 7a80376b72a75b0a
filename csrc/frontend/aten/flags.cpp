#include <c10/util/Flags.h>

#include <cstdlib>
#include <iostream>
#include <sstream>
#include <vector>

namespace c10 {

namespace {

std::string& usage() {
  static std::string text;
  return text;
}
bool g_parsed = false;

template <class T>
bool parse_number(const std::string& text, T& value) {
  std::istringstream in(text);
  T found{};
  if (!(in >> found) || in.peek() != std::istringstream::traits_type::eof()) return false;
  value = found;
  return true;
}

[[noreturn]] void print_help() {
  std::cout << usage() << (usage().empty() ? "" : "\n\n");
  for (const auto& [name, entry] : detail::flags()) std::cout << "  --" << name << "  " << entry.help << "\n";
  std::exit(0);
}

bool fails(const std::string& what) {
  std::cerr << what << "\n";
  return false;
}

}  // namespace

namespace detail {

std::map<std::string, FlagEntry>& flags() {
  static auto* known = new std::map<std::string, FlagEntry>();
  return *known;
}
bool parse_flag(const std::string& text, int& value) { return parse_number(text, value); }
bool parse_flag(const std::string& text, int64_t& value) { return parse_number(text, value); }
bool parse_flag(const std::string& text, double& value) { return parse_number(text, value); }
bool parse_flag(const std::string& text, bool& value) {
  const bool is_true = text == "true" || text == "1" || text == "True" || text == "TRUE";
  if (!is_true && text != "false" && text != "0" && text != "False" && text != "FALSE") return false;
  value = is_true;
  return true;
}
bool parse_flag(const std::string& text, std::string& value) {
  value = text;
  return true;
}

}  // namespace detail

void SetUsageMessage(const std::string& text) { usage() = text; }
const char* UsageMessage() { return usage().c_str(); }
bool CommandLineFlagsHasBeenParsed() { return g_parsed; }

bool ParseCommandLineFlags(int* argc, char*** argv) {
  if (*argc == 0) return true;
  std::vector<char*> rest{(*argv)[0]};
  bool good = true;
  for (int i = 1; i < *argc; ++i) {
    std::string argument = (*argv)[i];
    if (argument.rfind("--", 0) != 0) {
      rest.push_back((*argv)[i]);
      continue;
    }
    if (argument == "--help") print_help();
    const size_t sign = argument.find('=');
    const std::string name = argument.substr(2, sign == std::string::npos ? sign : sign - 2);
    auto found = detail::flags().find(name);
    if (found == detail::flags().end()) {
      good = fails("there is no flag --" + name);
      continue;
    }
    std::string value;
    if (sign != std::string::npos)
      value = argument.substr(sign + 1);
    else if (found->second.is_switch)
      value = "true";
    else if (++i < *argc)
      value = (*argv)[i];
    else
      good = fails("--" + name + " wants a value");
    if (i < *argc && !found->second.set(value)) good = fails("--" + name + " cannot be '" + value + "'");
  }
  for (size_t i = 0; i < rest.size(); ++i) (*argv)[i] = rest[i];
  *argc = static_cast<int>(rest.size());
  g_parsed = good;
  return good;
}

}  // namespace c10
