"""A petsc4py script as its users write it: CG on a grid, made by DMDA. Prints the iterations and a hash of the bits of x."""

import hashlib
import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc

da = PETSc.DMDA().create([40, 30], stencil_width=1)
a = da.createMatrix()
row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
(x_begin, x_end), (y_begin, y_end) = da.getRanges()
for j in range(y_begin, y_end):
    for i in range(x_begin, x_end):
        row.index = (i, j)
        for (di, dj), value in {(0, 0): 4.1, (1, 0): -1, (-1, 0): -1, (0, 1): -1, (0, -1): -1}.items():
            if 0 <= i + di < 40 and 0 <= j + dj < 30:
                column.index = (i + di, j + dj)
                a.setValueStencil(row, column, value)
a.assemble()

b = da.createGlobalVec()
with_natural_order = da.createNaturalVec()
begin, end = with_natural_order.getOwnershipRange()
with_natural_order.setValues(range(begin, end), [1 / (k + 1) for k in range(begin, end)])
with_natural_order.assemble()
da.naturalToGlobal(with_natural_order, b)
x = b.duplicate()
ksp = PETSc.KSP().create()
ksp.setOperators(a)
ksp.setType("cg")
ksp.getPC().setType("jacobi")
ksp.setTolerances(rtol=1e-10)
ksp.setFromOptions()
ksp.solve(b, x)

da.globalToNatural(x, with_natural_order)
to_zero, everything = PETSc.Scatter.toZero(with_natural_order)
to_zero.scatter(with_natural_order, everything)
if PETSc.COMM_WORLD.getRank() == 0:
    print(ksp.getIterationNumber(), "iterations, x", hashlib.sha256(everything.getArray().tobytes()).hexdigest()[:16])
