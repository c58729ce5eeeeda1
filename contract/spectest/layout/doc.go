// Package layout formats the YAML of a spec-test block: indentation, and where spec-lang
// expressions are broken into lines. It changes only blanks, line breaks and the quotes within
// expressions; comments, key order and everything else stay as they are, and the meaning of a block
// does not change.
//
// Expressions follow the Spec-Test authoring guide: one list item each, in brackets, strings in
// double quotes, at most 60 columns, and a list that does not fit is broken after its first
// element.
//
// The package knows YAML but no cases. It imports engine/doctree and engine/jsontree. Start at
// [Block].
package layout
