// Package match searches text with regular expressions as Python's re module
// does: re.search on str. The contracts' patterns were written for CPython, and
// neither Go's regexp nor .NET's flavour means the same by $, \Z, \w, \b, (?i)
// or (?P=name).
//
// The package's own parser reads a pattern. It follows CPython 3.11's grammar
// and refuses what that refuses. The tree decides what searches: a literal is
// looked for as bytes; a pattern without context (no look-around, no
// back-references) goes to Go's regexp, whose time is linear; everything else
// goes to github.com/dlclark/regexp2 with a time limit. Both engines get a
// pattern that is written anew from the tree in constructs on which they agree
// with Python, never the original pattern.
//
// The package also holds what the portable profile of Spec-Test says about a
// pattern's text. It is pure but for regexp2's clock; it imports no other part
// of the house. Start reading at [Compile].
package match
