// Package jsontree reads JSON text into a tree in which every value and key has
// a position, and writes trees back as text. Contracts that are written in JSON
// use it to report errors with file:line:column, and to write files byte for
// byte as Python's json module would.
//
// The rules of the text are those of RFC 8259. Real documents are written for
// CPython's json module, which differs in a few places (NaN, repeated keys,
// lone surrogates, limits); [Options] names each difference, and [Python] and
// [Strict] are the two useful sets of them.
//
// Offsets and columns count bytes; columns and lines are 1-based, and a line
// ends with a line feed. Strings are UTF-8, except that a surrogate escape
// without its partner is kept as the three bytes that UTF-8 would give its code
// point (the form known as WTF-8), so that nothing is lost from text to text;
// [IsLone] finds these.
//
// The package is pure: it imports the standard library alone, opens no file
// and knows no contract. Start reading at [Parse] and [Node].
package jsontree
