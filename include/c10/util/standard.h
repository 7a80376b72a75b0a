// Parts of the standard library that programs use without including them, as PyTorch's headers do.
#pragma once
#include <bitset>
#include <chrono>
#include <deque>
#include <iomanip>
#include <iostream>
#include <list>
#include <map>
#include <mutex>
#include <numeric>
#include <queue>
#include <set>
#include <stack>
#include <thread>
#include <unordered_set>
