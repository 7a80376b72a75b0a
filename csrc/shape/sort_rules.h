#pragma once
#include "shape/spec.h"
