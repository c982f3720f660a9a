#pragma once  // what it declares is there already (simulator.h)
