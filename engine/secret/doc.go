// Package secret finds the secrets that a document declares and removes their
// values from bytes, in every encoding in which they are likely to return.
//
// A secret is the value of a variable in an authorisation header, in a URL's
// userinfo, in a key-like query or key, or of what is marked `secret: true`; or
// such a value itself where the document has it literally. Values of fewer than
// [Shortest] characters are none: they stand in any text by chance.
//
// The package looks at text, line by line, and so knows no format. It imports
// the standard library alone.
package secret

// Shortest is the length of the shortest value that is a secret.
const Shortest = 8

// Secret is a value that is kept out of what is stored and shown.
type Secret struct {
	Name  string // of the variable; of a literal its number
	Value string
}

// Mark stands in the place of a secret's value.
func Mark(name string) string { return "[secret " + name + "]" }
