package campaign

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

// Spec is a user's document: its content, and its name in messages.
type Spec struct {
	Path string // as the user named it
	Name string // for reports, digests and ids: the same however the path is typed. Thresh sets it
	Data []byte
	// Release frees the memory of Data until it is read again, since a long text is a
	// memory-mapped file. It changes no content and is safe for concurrent use. Nil: Data
	// stays in memory.
	Release func()
}

// Option is a setting of one contract. It becomes the flag --Name of the verbs
// that run the contract's documents.
type Option struct {
	Name    string
	Usage   string   // one line; a word in back quotes names the value
	Default string   // shown in help; "" for none
	Values  []string // allowed values; nil: any
	Bool    bool     // given without a value
	Bare    string   // the value if the flag is given without one; "": it needs a value
	Short   string   // one letter; "" for none
	Many    bool     // may be given more than once
	// Path: the value names a file or a folder. Clients that may only name files below a
	// folder are restricted to it. NoPath is a value that names no file. Program: the value
	// names a program, and is stored as an absolute path. Attempts: the value names a file or
	// a stored run, whose report of format attempts then stands for the file.
	Path     bool
	Program  bool
	Attempts bool
	NoPath   string
}

// Settings are the settings of a run that a contract gets.
type Settings struct {
	Seed   *int64 // --seed: replaces the document's own seed
	Strict bool   // --strict: refuse documents with warnings
	// Check: the document is only checked, so what a run would report as a failing case is an
	// error.
	Check   bool
	Options map[string][]string // the contract's own options, by name
	// Stored: a stored run is compiled again. Missing or changed files of the user are no
	// error.
	Stored bool
	// Read returns the content of a file that the document names. The content is
	// stored with the run, so that a replay does not need the user's files.
	Read func(path string) ([]byte, error)
	// List returns the sorted names of the regular files in a folder that the user
	// named. It is stored with the run as well.
	List func(dir string) ([]string, error)
	// Digest returns the hex SHA-256 of a file that decides the cases but is not
	// stored with the run, such as the program under test.
	Digest func(path string) (string, error)
	// Redact replaces secrets in what a campaign itself writes to files; nil: it has none.
	Redact func([]byte) []byte
	// Self is the path of the running program, for [Self] in documents; "": unknown.
	Self string
}

// Self stands for the running program where a document names a program, so that
// documents need no path of the machine they were written on.
const Self = "{thresh}"

// Program returns a word of a command with [Self] replaced by the running program.
func (s Settings) Program(word string) string {
	if s.Self == "" {
		return word
	}
	return strings.ReplaceAll(word, Self, s.Self)
}

// Programs is [Settings.Program] for each word of a command.
func (s Settings) Programs(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = s.Program(w)
	}
	return out
}

// Has reports whether an option was given.
func (s Settings) Has(name string) bool { return len(s.Options[name]) > 0 }

// Get returns the last value given for an option; def if it was not given.
func (s Settings) Get(name, def string) string {
	if v := s.Options[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return def
}

// ParseSize parses a number of bytes: "512MiB", "4GiB", "1000", "0".
func ParseSize(s string) (int64, error) {
	units := []struct {
		suffix string
		factor int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"", 1}}
	for _, u := range units {
		digits, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/u.factor {
			break
		}
		return n * u.factor, nil
	}
	return 0, fmt.Errorf("must be a number of bytes such as 1048576, 512MiB or 4GiB, got %q", s)
}

// Contract is a document format and its rules: it decodes, checks and compiles
// documents. It reads files only through [Settings].
type Contract interface {
	// Name returns the contract's name on the command line and in reports, such as
	// "fuzzspec".
	Name() string
	// Summary returns one line for help texts.
	Summary() string
	// Detect reports whether a document's content is of this contract.
	Detect(Spec) bool
	Options() []Option
	// Compile checks and compiles a document. It returns everything that is wrong
	// with it at once; if that includes errors, there are no campaigns.
	Compile(ctx context.Context, spec Spec, set Settings) ([]Any, diag.List)
	// Starter returns a commented document to start from, and the files it needs to
	// run. dir is the absolute path of their folder.
	Starter(dir string) []File
}

// Chooser is implemented by contracts that skip some of the documents in a folder, such as
// the copy that a run leaves behind.
type Chooser interface {
	// Chooses reports whether to run the document path, which was found in a folder
	// that the user named.
	Chooses(folder, path string, set Settings) Choice
}

// Choice is what becomes of a document in a folder.
type Choice struct {
	Taken bool   // the document is run
	Hint  string // how to run a document that is skipped; "": nothing needs to be said
	Left  bool   // a run left it there or runs it with another document, so no page offers it
}

// Adopter is implemented by campaigns whose payloads refer to places in their document.
type Adopter interface {
	// Adopt returns the payload of the same case for this version of the document, given a
	// payload of another version. The error completes a sentence about "it", the document:
	// why it has no such case, or why the case can no longer fail with the signature ("":
	// any).
	Adopt(ctx context.Context, other Any, payload []byte, signature string) ([]byte, error)
}

// Pairer is implemented by contracts in which the replies of some campaigns decide what is
// sent next. Two runs of such a campaign have in common only what both of them sent.
type Pairer interface {
	// Sent reads a digest of what was sent, and whether the system failed, from the facts of
	// a case; ok is false if nothing was sent or nobody judged it.
	Sent(data []byte) (what uint64, failed, ok bool)
}

// Exerciser is implemented by contracts whose cases may pass because the event that they test
// for, such as a fault, did not occur. A finding that was not exercised is not fixed.
type Exerciser interface {
	// Exercised reports, from the facts of a case, whether the event occurred.
	Exercised(data []byte) bool
}

// Formatted is implemented by contracts that declare their documents' keys.
type Formatted interface{ Formats() []Format }

// Format is a kind of document.
type Format struct {
	Name    string // its name for thresh schema: "flakestorm"
	Summary string // what its documents are, for people
	// Schema returns the JSON Schema (draft 2020-12) of a document, for editors.
	Schema func() []byte
	// Fence is the word in the info string of fenced Markdown blocks that contain
	// documents; "": a document is a file.
	Fence string
	// Tests: the documents are regression tests already, so nothing is promoted.
	Tests bool
	// Keys returns tables of all keys in Markdown, for the reference.
	Keys func() string
	// Example returns a document that uses every feature, for programs that write
	// documents; nil: there is none.
	Example func() File
}
