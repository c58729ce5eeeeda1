// Package demo is a program to break: a reader of "scrolls", a made-up format of tagged records,
// with ten planted bugs of different classes. Changing a few bytes of the shipped seed reaches each
// bug, and only the content decides which. The thresh binary runs it as a hidden command, so that a
// first campaign needs neither a compiler nor any other program.
//
// A scroll is the bytes "SCRL", a version byte, and records of a tag byte, a length byte and a
// value. Damage is not a failure: for an unreadable scroll, the result says so. Only the planted
// bugs, each marked BUG, make the program fail. None of them harms the machine: the program writes
// only to the output folder, never touches the memory it requests, and floods and endless loops end
// with the process.
//
// The package imports only the standard library; nothing in Thresh may import it except the
// composition root.
package demo
