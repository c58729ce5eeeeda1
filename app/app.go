package app

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/secret"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/store"
)

// Version is the version that reports name.
const Version = "0.1.0"

// DefaultStore is the folder that keeps runs unless a job names another.
const DefaultStore = ".thresh"

// Store is a folder of runs, as faces read it.
type Store = store.Store

// App is the use cases over a set of contracts. The zero value of each hook
// drops what it would show.
type App struct {
	Contracts []campaign.Contract
	// Note takes a line for people about what is going on, without its end.
	Note func(line string)
	// Warn takes what is doubtful about documents.
	Warn func(diag.List)
	// Getenv looks up environment variables of the user; nil: os.Getenv.
	Getenv func(string) string
	// Command is the command line that runs and reports name; nil: that of this
	// process.
	Command []string

	// texts is where documents are held; nil: on the heap, for what goes on after
	// a run, and for what makes none.
	texts *texts
	// last is the newest run of this process, whose campaigns need not be compiled
	// again.
	last struct {
		run       string
		campaigns []campaign.Any
	}
}

// New returns the use cases over the built-in contracts and further ones.
func New(further ...campaign.Contract) *App {
	a := new(App)
	a.Contracts = append(builtin(func(line string) { a.note("%s", line) }), further...)
	return a
}

// withContracts is the same use cases with further contracts.
func (a *App) withContracts(further []campaign.Contract) *App {
	if len(further) == 0 {
		return a
	}
	b := *a
	b.Contracts = append(slices.Clone(a.Contracts), further...)
	return &b
}

// HoldTexts has the documents that are read from now on held in a file below
// dir once they are many or long, for the life of the process.
func (a *App) HoldTexts(dir string) { a.texts = &texts{dir: dir} }

func (a *App) note(format string, args ...any) {
	if a.Note != nil {
		a.Note(fmt.Sprintf(format, args...))
	}
}

func (a *App) warn(list diag.List) {
	if a.Warn != nil && len(list) > 0 {
		a.Warn(list)
	}
}

func (a *App) getenv(name string) string {
	if a.Getenv != nil {
		return a.Getenv(name)
	}
	return os.Getenv(name)
}

// commandLine is how this process was started, under the name of the program.
func (a *App) commandLine(c credentials) []string {
	argv := slices.Clone(a.Command)
	if argv == nil {
		argv = slices.Clone(os.Args)
	}
	if len(argv) > 0 {
		argv[0] = "thresh"
	}
	for i := range argv {
		switch name, _, given := strings.Cut(argv[i], "="); {
		case name == "--fleet-token" && given:
			argv[i] = name + "=" + secret.Mark(name)
		case i > 0 && argv[i-1] == "--fleet-token":
			argv[i] = secret.Mark("--fleet-token")
		default:
			argv[i] = secret.UnvaluedIn(string(sealed([]byte(argv[i]))), c.names)
		}
	}
	return argv
}

// Contract returns the contract of that name.
func (a *App) Contract(name string) (campaign.Contract, bool) {
	for _, c := range a.Contracts {
		if c.Name() == name {
			return c, true
		}
	}
	return nil, false
}

// OpenStore opens a folder of runs and makes it if needed.
func (a *App) OpenStore(dir string) (*Store, error) {
	st, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	for _, n := range st.Notices() {
		a.note("note: %s", n)
	}
	return st, nil
}

// ExistingStore opens a folder of runs to look at; none is made.
func (a *App) ExistingStore(dir string) (*Store, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, diag.WithHint(diag.Refused("there is no store %s", dir), "thresh run makes one; --store names another")
	}
	return a.OpenStore(dir)
}

// ReplayCommand is the command line that replays findings of a store, to which
// the finding is added.
func ReplayCommand(dir string) []string { return verbAt(dir, "replay") }

// ResumeCommand is the command line that goes on with a run of a store.
func ResumeCommand(dir, runID string) []string { return verbAt(dir, "run", "--resume", runID) }

// Promotes reports whether [App.Promote] can make a regression test of a finding:
// not where equal cases differ, nor where the document is such a test.
func (a *App) Promotes(f *campaign.Finding) bool {
	c, _ := a.Contract(f.Contract)
	formats, _ := c.(campaign.Formatted)
	return f.Kind != campaign.KindNondeterminism &&
		(formats == nil || !slices.ContainsFunc(formats.Formats(), func(x campaign.Format) bool { return x.Tests }))
}

// PromoteCommand is the command line that promotes a finding of a store.
func PromoteCommand(dir, finding string) []string { return verbAt(dir, "promote", finding) }

func verbAt(dir string, words ...string) []string {
	argv := append([]string{"thresh"}, words...)
	if dir != DefaultStore {
		argv = append(argv, "--store", dir)
	}
	return argv
}

// ShellLine is a command line as words of a POSIX shell.
func ShellLine(argv []string) string { return report.Shell(argv) }

// ShellQuote makes s one word of a POSIX shell.
func ShellQuote(s string) string { return report.Shell([]string{s}) }
