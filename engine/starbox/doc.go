// Package starbox runs untrusted Starlark programs, such as plug-ins of
// contracts: no files, no clock, no network, and limits on what a call may
// compute and allocate.
//
// Starlark itself counts steps, but one step may allocate a gigabyte or search
// ten million items. A program is therefore rewritten before it is compiled:
// operators, method calls, slices and built-in functions whose cost depends on
// their operands go through guards, which charge a [Budget] before they act
// (rewrite.go says which). Charges are counted, never measured, so a program
// that is refused is refused on every machine. They count everything that was
// allocated, not what is alive.
//
// The language is Starlark with while, sets and control flow at top level, and
// without recursion and load. The package imports the standard library, diag
// and go.starlark.net alone. Start reading at [Compile] and [Box].
package starbox
