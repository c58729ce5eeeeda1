package campaign

import (
	"context"
	"io"
	"iter"
	"strconv"
	"time"

	"github.com/thresh-dev/thresh/diag"
)

// Commander is implemented by contracts that have commands of their own, besides
// the verbs that take documents of any contract.
type Commander interface {
	// Commands returns the contract's commands: usually one with its name and verbs
	// below it. Every command line calls it anew, so a command may keep its flags in
	// variables.
	Commands() []Command
}

// Command is a command of a contract, or a group of commands. The command line is
// built from it, without the contract knowing how.
type Command struct {
	Use     string // name and arguments: "coverage [RUN]"
	Summary string // one line
	Long    string // its help; "": the summary
	Example string
	// Least and Most bound the number of arguments; Most below 0: no bound.
	Least, Most int

	Flags    func(Flags)         // declares its flags; nil: it has none
	Required []string            // flags that must be given
	Values   map[string][]string // values of a flag, for completion
	Files    map[string][]string // file extensions for a flag that names a file, for completion
	Hidden   []string            // flags that help leaves out
	Declared bool                // help lists flags in the order of their declaration, not by name
	Store    bool                // it has the flag --store
	Options  bool                // it has the contract's options as flags
	Runs     bool                // it has the flags of thresh run, except those that Flags declares
	Raw      bool                // all arguments, flags too, are for another program
	Verb     string              // it is the verb of that name, as a command of the group; other fields are ignored

	// Run executes the command. To exit with a code after showing the reason, it
	// returns a [diag.ExitError].
	Run func(ctx context.Context, d Desk, args []string) error
	// Instead makes the command an addition to the verb of its name. The verb gets the
	// command's flags, and runs the command when Instead returns true.
	Instead  func() bool
	Commands []Command // the commands of a group, which has no Run
}

// MaxDocument is the largest size of a document, in bytes.
const MaxDocument = 64 << 20

// Flags declares the flags of a command, as *pflag.FlagSet does. A word in back
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

// Desk gives a command access to the user's streams and files, and to the store.
type Desk interface {
	In() io.Reader
	Out() io.Writer // for results
	Err() io.Writer // for progress and messages
	Getenv(name string) string
	// Warn shows warnings about documents.
	Warn(diag.List)
	// Settings returns the settings that documents are compiled with, and the options
	// of the command line.
	Settings() Settings
	// Files returns the files below a folder, in path order, or path alone if it is
	// not a folder.
	Files(path string) (list []string, folder bool, err error)
	// Document reads a document of any format.
	Document(path string) (Spec, error)
	// Compile compiles documents of the contract as a run does. The list has their
	// warnings.
	Compile(ctx context.Context, docs []Spec, set Settings) ([]Any, diag.List, error)
	// Open opens a file for reading.
	Open(file string) (io.ReadCloser, error)
	// MakeFolder makes a folder and those above it, if they are missing.
	MakeFolder(dir string) error
	// Write writes a file atomically; "-" is standard output.
	Write(file string, write func(io.Writer) error) error
	// Draw writes an exhibit as SVG, if its kind is a drawing.
	Draw(w io.Writer, e *Exhibit) error
	// Record returns the record of a stored run, by its id, a unique prefix of it,
	// "latest" or "latest~1".
	Record(run string) (Record, error)
	// Trends returns the results of the contract's stored campaigns, or of those with
	// a name, over their newest runs.
	Trends(name string, limit int) ([]Trend, error)
	// Order returns the run that the command's flags ask for.
	Order() Order
	// Run runs documents of the contract and stores the run. If no run started, the
	// record has no id. The error says why a run did not start or did not finish.
	Run(ctx context.Context, o Order) (Record, error)
	// Report reports the result of [Desk.Run] as thresh run does, and returns the exit
	// code as an error.
	Report(rec Record, err error) error
	// WriteReports writes the reports that the flags ask for.
	WriteReports(rec Record) error
	// Earlier returns the newest stored run of the order's document whose options pass
	// and whose campaign has the same cases; "" if there is none. changed names a file
	// that has changed since the newest run whose options pass; "": none.
	Earlier(o Order, passes func(options map[string][]string) bool) (run, changed string, err error)
	// Own creates a file that only one process can own until it closes it.
	Own(file string) (io.Closer, error)
	// Stored opens a stored run.
	Stored(ctx context.Context, runID string) (Stored, error)
}

// WriteFile writes a file by [Desk.Write].
func WriteFile(d Desk, file string, data []byte) error {
	return d.Write(file, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Order is a run that a command asks for. Its fields mean what the flags of thresh
// run mean.
type Order struct {
	Docs        []Spec
	Options     map[string][]string // the contract's, by name
	Seed        *int64
	Workers     int
	Cases       int64
	CaseTimeout time.Duration
	AllowEmpty  bool
	Quiet       bool
	Store       string
	Strict      bool
	Reports     []string // FORMAT=FILE
	Silent      bool     // the run prints nothing on standard output

	// Compiled are the documents' campaigns, by [Desk.Compile]; nil: the run compiles
	// them.
	Compiled []Any
	Resume   string // id of the stored run to continue; "": a new run
	// Stop, if set, is called with every outcome from case StopFrom on, in case order.
	// The run ends when it returns true.
	Stop     func(*Outcome) bool
	StopFrom int64
}

// Set adds a value to an option.
func (o *Order) Set(option, value string) { o.Options[option] = append(o.Options[option], value) }

// Stored is a stored run.
type Stored interface {
	// Campaigns returns the run's campaigns, compiled from the stored documents.
	Campaigns(ctx context.Context) ([]Any, error)
	// Outcomes returns the outcomes of campaign k in case order, up to the first case
	// that has none.
	Outcomes(k int) iter.Seq[StoredCase]
	// Cases returns all outcomes of campaign k that count, with their evidence.
	Cases(k int) iter.Seq[StoredCase]
	// State returns the state of c, campaign k of the run, after its last outcome.
	State(c Any, k int) (any, error)
	// Blob returns what is stored under a content address, such as a finding's input.
	Blob(id string) ([]byte, error)
	Close() error
}

// StoredCase is a case of a stored run with its outcome.
type StoredCase struct {
	Case
	Outcome
	At time.Time
}

// ParseSeed parses the value of --seed; nil for "".
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
