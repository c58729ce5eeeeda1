package campaign

import (
	"context"
	"io"
	"time"

	"github.com/thresh-dev/thresh/diag"
)

// Commander is implemented by contracts that have commands of their own, beside
// the verbs that take documents of every contract.
type Commander interface {
	// Commands are what the contract adds to the command line: as a rule one
	// command of its name, with its verbs below. They are made anew for every
	// command line, so that flags may be kept in variables of theirs.
	Commands() []Command
}

// Command is a command of a contract, or a group of such. Command lines are made
// of it by a face, which the contract does not know.
type Command struct {
	Use     string // its name, and what it takes: "coverage [RUN]"
	Summary string // one line
	Long    string // what it does, for its help; "": the summary says it
	Example string
	// Least and Most say how many arguments it takes; Most below 0: any number.
	Least, Most int

	Flags    func(Flags)         // declares its flags; nil: it has none
	Required []string            // flags that must be given
	Values   map[string][]string // what a flag may be, for a shell to complete
	Declared bool                // help lists flags as they are declared, not by name
	Store    bool                // it takes --store
	Options  bool                // it takes the contract's options

	// Run does what the command is for. An exit code whose reason was told is a
	// [diag.ExitError].
	Run      func(ctx context.Context, d Desk, args []string) error
	Commands []Command // what a group holds; it has no Run then
}

// MaxDocument bounds what is read as a document.
const MaxDocument = 64 << 20

// Flags takes the flags of a command, as *pflag.FlagSet does. A word in back
// quotes in the usage names the value.
type Flags interface {
	StringVar(p *string, name, value, usage string)
	StringVarP(p *string, name, short, value, usage string)
	StringArrayVar(p *[]string, name string, value []string, usage string)
	BoolVar(p *bool, name string, value bool, usage string)
	BoolVarP(p *bool, name, short string, value bool, usage string)
	IntVar(p *int, name string, value int, usage string)
	IntVarP(p *int, name, short string, value int, usage string)
	Int64Var(p *int64, name string, value int64, usage string)
	Int64VarP(p *int64, name, short string, value int64, usage string)
	Float64Var(p *float64, name string, value float64, usage string)
	DurationVar(p *time.Duration, name string, value time.Duration, usage string)
	// Changed reports whether a flag was given on the command line.
	Changed(name string) bool
}

// Desk is what a command works with: the user's streams and files, and runs that
// are stored.
type Desk interface {
	In() io.Reader
	Out() io.Writer // results
	Err() io.Writer // progress, and what is said about results
	Getenv(name string) string
	// Warn shows what is doubtful about documents.
	Warn(diag.List)
	// Settings are what documents are compiled with, and the options that were given.
	Settings() Settings
	// Open opens a file to read.
	Open(file string) (io.ReadCloser, error)
	// MakeFolder makes a folder, and those above it, unless it is there.
	MakeFolder(dir string) error
	// Write writes a file so that nobody sees a part of it; - is standard output.
	Write(file string, write func(io.Writer) error) error
	// Draw writes an exhibit that is a drawing, as SVG.
	Draw(w io.Writer, e *Exhibit) error
	// Record is what is stored of a run: of its id, a unique beginning of that,
	// "latest" or "latest~1".
	Record(run string) (Record, error)
}
