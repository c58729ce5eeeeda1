// Package glibm gives logarithms, exponentials, powers, sines and cosines with
// the very bits that the GNU C library gives. None of that library's results
// is more than a unit in the last place off, but which ones are off is decided
// by its tables, its polynomials and the order of its operations; a program
// whose numbers must be those of CPython, which asks its C library, has to take
// the same steps.
//
// The steps are those of glibc from 2.28 on, on processors with fused
// multiply-add: x86-64 since 2013, and aarch64. Results have been compared, a
// million of each function or more, with those of glibc 2.31, 2.36, 2.41 and
// 2.43 on x86-64 and 2.36 on aarch64: all are the same. On a processor without
// fused multiply-add glibc itself gives others, about one in two thousand.
//
// Log, Exp and Pow follow the method of Szabolcs Nagy (ARM optimized-routines,
// 2018), Sin and Cos that of the IBM Accurate Mathematical Library as it is since
// its slow paths were taken out (2018). Polynomials and the inverses that the
// logarithm multiplies by are measured facts of the two and are constants here;
// all other tables are computed from their definition at first use.
//
// Every product that is rounded on its own is a conversion to float64, which
// keeps the compiler from fusing it with a sum of another statement, and every
// other one a [math.FMA].
package glibm
