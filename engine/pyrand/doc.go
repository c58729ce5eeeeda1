// Package pyrand reproduces CPython's random.Random bit for bit: the MT19937
// generator, its ways of seeding, and the methods built on it, in the version
// that CPython 3.11 has. Contracts whose published behaviour was defined by a
// Python program draw from it, so that the same seed gives the same cases.
//
// The rules come from the MT19937 reference algorithm (Matsumoto and
// Nishimura, 2002) and from measured vectors, which are in testdata. [Rand] is
// the general generator; [Batch] seeds several generators at once, for hot
// loops that make a fresh one for every case and take few words of each.
//
// One thing is not Python's own: logarithms, sines and powers, which CPython
// takes from its C library. Deviates that need them (Gauss, Normal, Exponential,
// Gamma, Beta) are rounded to the nearest here, and differ from those of glibc by
// one unit in the last place about once in a thousand times.
//
// The package imports the standard library alone. Floating-point methods round
// every intermediate result to float64, so that a processor with fused
// multiply-add gives the same numbers.
package pyrand
