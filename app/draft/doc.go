// Package draft reads what a user wants to try, a program, an address, a server,
// a module, an agent or a folder of pages ([Read]), and writes the document that
// tests it: why it says what it says, what could not be known, as questions with
// the line to edit, and the flags that the format has no place for.
//
// It is pure: what is known of a thing comes in as values, which package app
// learns by looking at it. It imports contracts for what their documents look
// like, and must not import an edge or a face.
package draft
