// Package unwind describes a process that a fatal signal has stopped: the kind of access, the calls
// that led there with their names, and the layers that distinguish one bug from another. It reads
// registers, memory and the memory map through its arguments, and the files of the mapped programs
// and libraries. It starts, stops and changes nothing, so it can be tested with plain values.
//
// It supports only amd64. Frames are unwound by .eh_frame (DWARF 5, section 6.4, with the
// exceptions of the Linux Standard Base); for a module without it, by the saved frame pointer or a
// word of the stack that follows a call. Names come from DWARF, else from the symbol table, else
// they are module and offset. Start at [Process.Diagnose].
package unwind
