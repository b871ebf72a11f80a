#include "sim/base/errors.h"
