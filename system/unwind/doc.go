// Package unwind describes a process that a fatal signal has stopped: the kind
// of access, the calls that led there with their names, and the layers that
// distinguish one bug from another. It reads registers, the memory map and
// memory through what it is given, and the files of the mapped programs and
// libraries; it starts, stops and changes nothing, so that it can be tried on
// values.
//
// It knows amd64 alone. Rules of unwinding are those of .eh_frame (DWARF 5,
// section 6.4, with the exceptions of the Linux Standard Base); where a module
// has none, the saved frame pointer or a word of the stack that follows a call
// stands in. Names come from DWARF, else the symbol table, else they are module
// and offset. Start at [Process.Diagnose].
package unwind
