package campaign

// Formatted is a contract that declares what its documents hold.
type Formatted interface{ Formats() []Format }

// Format is a kind of document.
type Format struct {
	Name    string // what thresh schema calls it: "flakestorm"
	Summary string // what its documents are, for people
	// Schema is the JSON Schema (draft 2020-12) of a document, for editors.
	Schema func() []byte
	// Fence is the word in the info string of the fenced blocks that hold documents
	// in Markdown; "": a document is its own file.
	Fence string
	// Keys are the tables of all keys in Markdown, for the reference.
	Keys func() string
	// Example, if there is one, is a document that shows all that can be written, for
	// programs that write documents.
	Example func() File
}
