// A library that has only a name, by which published binaries ask for PyTorch's; what they find is in libtaeda_torch,
// which it is linked with.
