#include "solver/csr_matrix.hpp"
