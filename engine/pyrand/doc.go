// Package pyrand reproduces CPython's random.Random: the MT19937 generator, its
// ways of seeding, and the methods built on it, as in CPython 3.11; 3.9 to 3.13
// give the same numbers. Contracts whose published behaviour was defined by a
// Python program draw from it, so that the same seed gives the same cases.
//
// The rules come from the MT19937 reference algorithm (Matsumoto and
// Nishimura, 2002) and from measured vectors, which are in testdata. [Rand] is
// the general generator; [Batch] seeds several generators at once, for hot
// loops that make a fresh one for every case and take few words of each.
//
// Logarithms, sines and powers, which CPython takes from the C library of its
// machine, are computed here, equally on every processor: deviates that need
// them (Gauss, Normal, Exponential, Gamma, Beta) agree with Python's except for
// the last bits.
//
// Products are converted to float64 before they are added to something, so that
// a processor with fused multiply-add gives the same numbers.
package pyrand
