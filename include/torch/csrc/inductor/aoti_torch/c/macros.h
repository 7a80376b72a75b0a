// Types of the stable interface in C: handles, and the errors that functions return.
#pragma once
#include <cstddef>
#include <cstdint>

#define AOTI_TORCH_EXPORT __attribute__((visibility("default")))
#define AOTI_TORCH_SUCCESS 0
#define AOTI_TORCH_FAILURE 1

extern "C" {

// An owned handle is given back to the function of its kind that deletes it.
struct AtenTensorOpaque;
typedef struct AtenTensorOpaque* AtenTensorHandle;
struct AtenGeneratorOpaque;
typedef struct AtenGeneratorOpaque* AtenGeneratorHandle;
struct C10IValueOpaque;
typedef struct C10IValueOpaque* C10IValueHandle;
struct TorchLibraryOpaque;
typedef struct TorchLibraryOpaque* TorchLibraryHandle;

// AOTI_TORCH_SUCCESS, or AOTI_TORCH_FAILURE: torch_exception_get_what() tells why.
typedef int32_t AOTITorchError;
}
