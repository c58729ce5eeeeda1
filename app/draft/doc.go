// Package draft turns what a user wants to try (a program, an address, a
// server, a module, an agent or a folder of pages) into a document that tests
// it: [Read] looks at it, and the document says why it is as it is, asks what
// could not be known, with the line to edit, and names the flags for which the
// format has no key.
//
// It is pure: what is known of a thing comes in as values, which package app
// learns by looking at it. It imports contracts for what their documents look
// like, and must not import an edge or a face.
package draft
