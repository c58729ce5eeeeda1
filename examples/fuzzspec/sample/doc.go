// Package sample turns the example programs into campaigns that run here: it
// compiles them into a folder and writes their seeds and FuzzSpecs, which must
// hold absolute paths and so cannot be shipped as they are. An example whose
// compiler or program is not installed is skipped, with the reason.
//
// The package runs compilers; nothing but tests and the composition root may
// import it.
package sample
