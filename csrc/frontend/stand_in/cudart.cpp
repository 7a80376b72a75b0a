// CUDA's runtime library where there is none: published binaries for CPU and GPU ask for it before anything runs. What
// registers kernels does nothing, and every call says that there is no device. Arguments are the caller's to clean up,
// so the functions need not know them.
#define TAEDA_C extern "C" __attribute__((visibility("default")))

namespace {
constexpr int kNoDevice = 100;  // cudaErrorNoDevice
void* g_handle = nullptr;
}  // namespace

TAEDA_C void** __cudaRegisterFatBinary(void*) { return &g_handle; }
TAEDA_C void __cudaRegisterFatBinaryEnd(void**) {}
TAEDA_C void __cudaUnregisterFatBinary(void**) {}
TAEDA_C void __cudaRegisterFunction() {}
TAEDA_C void __cudaRegisterVar() {}
TAEDA_C void __cudaRegisterManagedVar() {}
TAEDA_C char __cudaInitModule(void**) { return 0; }
TAEDA_C const char* cudaGetErrorString(int) { return "this build has no CUDA"; }
TAEDA_C const char* cudaGetErrorName(int) { return "cudaErrorNoDevice"; }
TAEDA_C int cudaGetDeviceCount(int* count) {
  if (count) *count = 0;
  return kNoDevice;
}

#define TAEDA_FAILS(name) \
  TAEDA_C int name() { return kNoDevice; }
TAEDA_FAILS(__cudaGetKernel)
TAEDA_FAILS(__cudaLaunchKernel)
TAEDA_FAILS(__cudaPopCallConfiguration)
TAEDA_FAILS(__cudaPushCallConfiguration)
TAEDA_FAILS(cudaDeviceCanAccessPeer)
TAEDA_FAILS(cudaDeviceGetAttribute)
TAEDA_FAILS(cudaDeviceGetDefaultMemPool)
TAEDA_FAILS(cudaDeviceGetPCIBusId)
TAEDA_FAILS(cudaDeviceGetStreamPriorityRange)
TAEDA_FAILS(cudaDeviceSynchronize)
TAEDA_FAILS(cudaDriverGetVersion)
TAEDA_FAILS(cudaEventCreate)
TAEDA_FAILS(cudaEventCreateWithFlags)
TAEDA_FAILS(cudaEventDestroy)
TAEDA_FAILS(cudaEventElapsedTime)
TAEDA_FAILS(cudaEventQuery)
TAEDA_FAILS(cudaEventRecord)
TAEDA_FAILS(cudaEventSynchronize)
TAEDA_FAILS(cudaFree)
TAEDA_FAILS(cudaFreeAsync)
TAEDA_FAILS(cudaFreeHost)
TAEDA_FAILS(cudaFuncGetAttributes)
TAEDA_FAILS(cudaFuncSetAttribute)
TAEDA_FAILS(cudaFuncSetCacheConfig)
TAEDA_FAILS(cudaGetDevice)
TAEDA_FAILS(cudaGetDeviceProperties)
TAEDA_FAILS(cudaGetDeviceProperties_v2)
TAEDA_FAILS(cudaGetDriverEntryPoint)
TAEDA_FAILS(cudaGetDriverEntryPointByVersion)
TAEDA_FAILS(cudaGetLastError)
TAEDA_FAILS(cudaGetSymbolAddress)
TAEDA_FAILS(cudaHostAlloc)
TAEDA_FAILS(cudaHostGetDevicePointer)
TAEDA_FAILS(cudaHostRegister)
TAEDA_FAILS(cudaHostUnregister)
TAEDA_FAILS(cudaIpcCloseMemHandle)
TAEDA_FAILS(cudaIpcGetMemHandle)
TAEDA_FAILS(cudaIpcOpenMemHandle)
TAEDA_FAILS(cudaLaunchCooperativeKernel)
TAEDA_FAILS(cudaLaunchHostFunc)
TAEDA_FAILS(cudaLaunchKernel)
TAEDA_FAILS(cudaLaunchKernelExC)
TAEDA_FAILS(cudaMalloc)
TAEDA_FAILS(cudaMallocAsync)
TAEDA_FAILS(cudaMallocHost)
TAEDA_FAILS(cudaMallocManaged)
TAEDA_FAILS(cudaMemGetInfo)
TAEDA_FAILS(cudaMemcpy)
TAEDA_FAILS(cudaMemcpy2D)
TAEDA_FAILS(cudaMemcpy2DAsync)
TAEDA_FAILS(cudaMemcpyAsync)
TAEDA_FAILS(cudaMemcpyFromSymbol)
TAEDA_FAILS(cudaMemcpyToSymbol)
TAEDA_FAILS(cudaMemcpyToSymbolAsync)
TAEDA_FAILS(cudaMemset)
TAEDA_FAILS(cudaMemset2DAsync)
TAEDA_FAILS(cudaMemsetAsync)
TAEDA_FAILS(cudaOccupancyMaxActiveBlocksPerMultiprocessor)
TAEDA_FAILS(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
TAEDA_FAILS(cudaPeekAtLastError)
TAEDA_FAILS(cudaPointerGetAttributes)
TAEDA_FAILS(cudaRuntimeGetVersion)
TAEDA_FAILS(cudaSetDevice)
TAEDA_FAILS(cudaStreamBeginCapture)
TAEDA_FAILS(cudaStreamCreate)
TAEDA_FAILS(cudaStreamCreateWithFlags)
TAEDA_FAILS(cudaStreamCreateWithPriority)
TAEDA_FAILS(cudaStreamDestroy)
TAEDA_FAILS(cudaStreamEndCapture)
TAEDA_FAILS(cudaStreamGetPriority)
TAEDA_FAILS(cudaStreamIsCapturing)
TAEDA_FAILS(cudaStreamQuery)
TAEDA_FAILS(cudaStreamSynchronize)
TAEDA_FAILS(cudaStreamWaitEvent)
