package campaign

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
)

// Spec is one user's document: its content and the name it goes by in messages.
type Spec struct {
	Path string // as the user named it
	Data []byte
	// Release gives back the memory that Data takes, until it is looked at again:
	// a long text lies in a file. It changes nothing that can be seen, and may be
	// called at any time, by any goroutine. Nil: Data is in memory for good.
	Release func()
}

// Option is a command-line setting that is special to one contract. It becomes
// the flag --Name wherever that contract is run.
type Option struct {
	Name    string
	Usage   string   // one line; a word in back quotes names the value
	Default string   // shown in help; "" for none
	Values  []string // allowed values; nil: any
	Bool    bool     // given without a value
	Bare    string   // the value of an option that may be given without one; "" if it may not
	Short   string   // one letter; "" for none
	Many    bool     // may be given more than once
	// Path says that its value names a file or a folder; a client that may name
	// none but those below a folder is held to that. NoPath is the value that says
	// that there is none.
	Path   bool
	NoPath string
}

// Settings are the options of one run, as they reach a contract.
type Settings struct {
	Seed   *int64 // --seed: replaces the document's own seed
	Strict bool   // --strict: what is reserved or doubtful is refused
	// Check says that the document is checked and nothing will be run: what a
	// run would report as a failing case of its own is an error here.
	Check   bool
	Options map[string][]string // the contract's own options, by name
	// Stored says that a run is compiled again from what was kept with it: the
	// user's files may have changed or gone, which is no fault of the document.
	Stored bool
	// Read returns the content of a file that the document names. What is read
	// is kept with the run, so that a replay needs none of the user's files.
	Read func(path string) ([]byte, error)
	// List returns the names of the regular files in a folder that the user
	// named, sorted; it is kept with the run as well.
	List func(dir string) ([]string, error)
	// Digest returns the hex SHA-256 of a file that decides the cases but is
	// not kept with the run, such as the program under test.
	Digest func(path string) (string, error)
	// Self is the path of the running program, for [Self] in documents; "": it
	// is not known.
	Self string
}

// Self stands for the running program wherever a document names one. Documents
// that are kept and shared hold no path of the machine they were written on.
const Self = "{thresh}"

// Program is a word of a command with the running program in place of [Self].
func (s Settings) Program(word string) string {
	if s.Self == "" {
		return word
	}
	return strings.ReplaceAll(word, Self, s.Self)
}

// Programs are the words of a command, each as [Settings.Program] has it.
func (s Settings) Programs(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = s.Program(w)
	}
	return out
}

// Has reports whether an option was given.
func (s Settings) Has(name string) bool { return len(s.Options[name]) > 0 }

// Get returns the last value given for an option, or its default def.
func (s Settings) Get(name, def string) string {
	if v := s.Options[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return def
}

// ParseSize reads an option that is a number of bytes: "512MiB", "4GiB", "1000", "0".
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

// Contract is a format and its rules: it decodes, checks and compiles documents of one
// format. It touches nothing but what Settings.Read gives.
type Contract interface {
	// Name is the word on the command line and in reports: "fuzzspec".
	Name() string
	// Summary is one line for help texts.
	Summary() string
	// Detect says from its content whether a document is of this contract.
	Detect(Spec) bool
	Options() []Option
	// Compile checks the document and compiles it. All that is wrong with it is
	// returned at once; campaigns are nil if any of that is an error.
	Compile(ctx context.Context, spec Spec, set Settings) ([]Any, diag.List)
	// Starter returns a document that runs, explained within, and what it needs,
	// for a user to begin with. dir is the absolute folder they will be in.
	Starter(dir string) []File
}

// Chooser is implemented by contracts that skip some of their documents in a folder,
// such as the copy that a run leaves behind.
type Chooser interface {
	// Chooses reports whether a document is taken that was found in a folder
	// which the user named: path begins with folder. The user learns of those
	// that are skipped, with the hint; without a hint they are passed over.
	Chooses(folder, path string, set Settings) (taken bool, hint string)
}

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
	// Tests are documents that are regression tests already: nothing is promoted.
	Tests bool
	// Keys are the tables of all keys in Markdown, for the reference.
	Keys func() string
	// Example, if there is one, is a document that shows all that can be written, for
	// programs that write documents.
	Example func() File
}
