// Package crash names the cause of a failure from how a program ended and what
// it printed: the class and kind of the failure, the functions in which it
// happened, one line for people, and the layers of a fingerprint.
//
// Two failures with one cause must have equal [Cause.Layers], whatever
// addresses, process ids, folders, clocks and excerpts of the input they print;
// two failures with different causes should differ. Where both goals conflict,
// the layers err towards fewer groups for text (words of the input must not make
// groups) and towards more groups for structure (signal, exit code, kind and
// functions always count).
//
// The rules come from the report formats of the tools themselves: the sanitizer
// runtimes, valgrind, gdb, glibc, musl, and the runtimes of Go, Rust, C++,
// Python, Java, JavaScript, Ruby, Perl, PHP and .NET. testdata/ has one report
// per file with its expected cause; captures says which tool made them.
//
// Everything is pure and linear in the size of the output. Signals have their
// Linux numbers. The package imports the standard library and engine/lazy alone;
// it must not import campaign, a contract or a target. Start at [Analyze].
package crash
