// The number of the binary interface. What was compiled against another does not load: the loader's message is the
// name of this symbol. What only uses the stable interface in C does not ask for it.
#pragma once
#define TAEDA_ABI_NUMBER 1
#define TAEDA_ABI taeda_abi_1_differs_please_rebuild_for_the_installed_version_of_taeda
extern "C" __attribute__((visibility("default"))) const int TAEDA_ABI;
namespace {
[[gnu::used]] const int* const taeda_abi = &TAEDA_ABI;
}
