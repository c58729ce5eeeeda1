// Package demo is a program to break: a reader of "scrolls", a made-up format
// of tagged records, with ten planted bugs of different classes. Each is
// reached by changing a few bytes of the shipped seed; content alone selects
// it. The thresh binary runs it as a hidden command, so that a first campaign
// needs neither a compiler nor any other program.
//
// A scroll is the bytes "SCRL", a version byte, and records of a tag byte, a
// length byte and a value. Damage is not a failure: an unreadable scroll gives a
// result that says so. Only the planted bugs, each marked BUG, make the program
// fail. None of them harms the machine: nothing is written outside the folder
// for outputs, memory that is asked for is never touched, and floods and
// endless loops end with the process.
//
// The package imports the standard library alone; nothing of Thresh may import
// it except the composition root.
package demo
