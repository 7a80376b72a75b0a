// How many threads a region may have while other processes want the cores. A thread that the system interrupts for
// somebody else lets all others wait at the region's end, for milliseconds where the region takes microseconds; results
// do not depend on the number of threads, so fewer of them are the remedy.
#pragma once

namespace taeda {

// At most `wanted`, at least 1: fewer for a while after this process's threads were interrupted often.
int uncontended_threads(int wanted);

}  // namespace taeda
