// Package secret finds the secrets that a document declares and removes their
// values from bytes, in every encoding in which they are likely to occur.
//
// A secret is the value of a variable in an authorisation header, in a URL's
// userinfo, in a key-like query parameter or key, or in a field marked `secret:
// true`; or such a value itself if the document has it literally. Values of
// fewer than [Shortest] characters are none, since they occur in any text by
// chance.
//
// The package looks at text, line by line, and so knows no format. It imports
// the standard library and two helpers of engine, lazy and seq, alone.
package secret

// Shortest is the length of the shortest value that is a secret.
const Shortest = 8

// Secret is a value that must be neither stored nor shown.
type Secret struct {
	Name  string // of the variable; for a literal, its number
	Value string
}

// Mark replaces a secret's value.
func Mark(name string) string { return "[secret " + name + "]" }
