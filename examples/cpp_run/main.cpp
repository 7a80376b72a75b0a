// Runs a saved program without Python: cpp_run net.pt 2 3 calls forward on a tensor of shape (2, 3) that holds 0, 1, 2
// ...
//
//   g++ -std=c++20 main.cpp -I$TAEDA/include -L$TAEDA/lib -ltaeda -Wl,-rpath,$TAEDA/lib -o cpp_run
//
// where $TAEDA is the folder of the installed package (python -c "import taeda; print(taeda.__path__[0])").
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "taeda/jit/module.h"

int main(int count, char** words) {
  if (count < 2) {
    std::cerr << "usage: cpp_run ARCHIVE [SIZE ...]\n";
    return 2;
  }
  try {
    taeda::jit::Module net = taeda::jit::load(words[1]);
    for (const auto& [name, tensor] : net.parameters()) std::cout << name << " " << taeda::str(tensor.sizes()) << "\n";
    std::vector<int64_t> sizes;
    for (int i = 2; i < count; ++i) sizes.push_back(std::atoll(words[i]));
    taeda::Tensor x = taeda::new_tensor(sizes, taeda::DType::Float32);
    for (int64_t i = 0; i < x.numel(); ++i) x.data<float>()[i] = static_cast<float>(i);
    taeda::Tensor y = net.run("forward", {x}).to_tensor();
    std::cout << "result " << taeda::str(y.sizes()) << "\n";
    for (int64_t i = 0; i < y.numel(); ++i) std::printf("%.6g\n", static_cast<double>(y.data<float>()[i]));
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
