package campaign

import (
	"context"
	"io"
	"iter"
	"strconv"
	"time"

	"github.com/thresh-dev/thresh/diag"
)

// Commander is implemented by contracts that have commands of their own, beside
// the verbs that take documents of every contract.
type Commander interface {
	// Commands are what the contract adds to the command line: usually one
	// command of its name, with its verbs below. They are made anew for every
	// command line, so that each may keep its flags in variables.
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
	Files    map[string][]string // flags that name a file, with its extensions, for the same
	Hidden   []string            // flags that help does not show
	Declared bool                // help lists flags as they are declared, not by name
	Store    bool                // it takes --store
	Options  bool                // it takes the contract's options
	Runs     bool                // it takes the flags of thresh run; those that Flags declares too are its own
	Raw      bool                // all its arguments are another program's, flags too
	Verb     string              // it is this verb, below the group; nothing else of it counts

	// Run does what the command is for. An exit code whose reason was shown is a
	// [diag.ExitError].
	Run func(ctx context.Context, d Desk, args []string) error
	// Instead makes the command, which has the name of a verb then, an addition to
	// that verb: its flags are among the verb's, and when Instead reports true the
	// command has the turn.
	Instead  func() bool
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
	// Files are the files in a folder and the folders in it, in path order; of
	// another path, that path alone.
	Files(path string) (list []string, folder bool, err error)
	// Document reads a document of any format.
	Document(path string) (Spec, error)
	// Compile compiles documents of the contract as a run does. It returns what is
	// doubtful about them as well.
	Compile(ctx context.Context, docs []Spec, set Settings) ([]Any, diag.List, error)
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
	// Trends are the stored campaigns of the contract, or those of a name, with what
	// their newest runs came to.
	Trends(name string, limit int) ([]Trend, error)
	// Order is what the command's flags say of a run.
	Order() Order
	// Run runs documents of the contract and stores the run. A record without an
	// id says that no run was made; the error says why, or why it did not come to
	// its end.
	Run(ctx context.Context, o Order) (Record, error)
	// Report reports what [Desk.Run] returned as thresh run does, and returns the
	// exit code that says what came of it.
	Report(rec Record, err error) error
	// WriteReports writes the reports that the flags ask for.
	WriteReports(rec Record) error
	// Earlier is the newest stored run of the order's document whose options pass
	// and whose cases are those of its campaign; "" if there is none. changed is a
	// file that is not what it was for the newest run that passes; "": none.
	Earlier(o Order, passes func(options map[string][]string) bool) (run, changed string, err error)
	// Own makes a file that one process at a time can own, until it is closed.
	Own(file string) (io.Closer, error)
	// Stored opens a run that is stored.
	Stored(ctx context.Context, runID string) (Stored, error)
}

// WriteFile writes a file of a command.
func WriteFile(d Desk, file string, data []byte) error {
	return d.Write(file, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Order is a run that a command wants. Its fields say what the flags of thresh
// run say.
type Order struct {
	Docs        []Spec
	Options     map[string][]string // of the contract, by name
	Seed        *int64
	Workers     int
	Cases       int64
	CaseTimeout time.Duration
	AllowEmpty  bool
	Quiet       bool
	Store       string
	Strict      bool
	Reports     []string // FORMAT=FILE
	Silent      bool     // standard output shows nothing of the run

	// Compiled are the campaigns of the documents, by [Desk.Compile]; nil: they are
	// compiled by the run.
	Compiled []Any
	Resume   string // the stored run of these to go on with; "": a new one
	// Stop, if set, is asked about every outcome from case StopFrom on, in case
	// order; true ends the run.
	Stop     func(*Outcome) bool
	StopFrom int64
}

// Set gives an option a value, beside those that it has.
func (o *Order) Set(option, value string) { o.Options[option] = append(o.Options[option], value) }

// Stored is a run that is stored.
type Stored interface {
	// Campaigns are compiled from what is kept.
	Campaigns(ctx context.Context) ([]Any, error)
	// Outcomes are the outcomes of campaign k in case order, up to the first case
	// that has none.
	Outcomes(k int) iter.Seq[StoredCase]
	// Cases are all outcomes of campaign k that count, with their evidence.
	Cases(k int) iter.Seq[StoredCase]
	// State is the state of campaign k, which is c, after its last outcome.
	State(c Any, k int) (any, error)
	// Blob is what is kept under a content address, such as a finding's input.
	Blob(id string) ([]byte, error)
	Close() error
}

// StoredCase is a case of a stored run with what came of it.
type StoredCase struct {
	Case
	Outcome
	At time.Time
}

// ParseSeed reads what --seed says; nil: nothing.
func ParseSeed(text string) (*int64, error) {
	if text == "" {
		return nil, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, diag.Refused("--seed must be a 64-bit integer, got %q", text)
	}
	return &n, nil
}
