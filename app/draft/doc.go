// Package draft turns what a user wants to try (a program, an address, a server, a module, an agent
// or a folder of pages) into a document that tests it: [Read] recognizes it, and the document gives
// the reasons for its content, asks for what could not be determined, with the line to edit, and
// names the flags for which the format has no key.
//
// It is pure: facts come in as values, which package app learns by looking at the thing. It imports
// contracts for the form of their documents, and must not import an edge or a face.
package draft
