package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/secret"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/store"
)

// Version is Thresh's version.
const Version = "0.1.0"

// DefaultStore is the folder of runs that a job uses if it names none.
const DefaultStore = ".thresh"

// Store is a folder of runs.
type Store = store.Store

// App provides the use cases for a set of contracts. Hooks may be nil.
type App struct {
	Contracts []campaign.Contract
	// Note receives lines about what is going on, written for people, without line ends.
	Note func(line string)
	// Warn receives warnings about documents.
	Warn func(diag.List)
	// Getenv looks up environment variables; nil: os.Getenv.
	Getenv func(string) string
	// Command is the command line that runs and reports name; nil: that of this process.
	Command []string

	// texts holds documents during a run; nil: they stay on the heap, because the process continues
	// after the run or makes none.
	texts *texts
	// last is the newest run of this process. It spares compiling the run's campaigns again.
	last struct {
		run       string
		campaigns []campaign.Any
	}
}

// New returns the use cases for the built-in contracts and further ones.
func New(further ...campaign.Contract) *App {
	a := new(App)
	a.Contracts = append(builtin(func(line string) { a.note("%s", line) }), further...)
	return a
}

// withContracts returns the same use cases with further contracts.
func (a *App) withContracts(further []campaign.Contract) *App {
	if len(further) == 0 {
		return a
	}
	b := *a
	b.Contracts = append(slices.Clone(a.Contracts), further...)
	return &b
}

// HoldTexts makes later reads keep many or long documents in a file below dir until the process
// ends.
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

// commandLine returns how this process was started, with "thresh" as the program.
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

// OpenStore opens a folder of runs and creates it if it is missing.
func (a *App) OpenStore(dir string) (*Store, error) { return a.openStore(dir, store.Open) }

func (a *App) openStore(dir string, open func(string) (*Store, error)) (*Store, error) {
	st, err := open(dir)
	if err != nil {
		return nil, err
	}
	for _, n := range st.Notices() {
		a.note("note: %s", n)
	}
	st.Contract = func(name string) any { c, _ := a.Contract(name); return c }
	st.CaseNames = func(runID string, c *campaign.CampaignRecord) func(campaign.Case) string {
		return a.caseNames(st, runID, c)
	}
	return st, nil
}

// ExistingStore opens a folder of runs, which must exist.
func (a *App) ExistingStore(dir string) (*Store, error) { return a.existingStore(dir, store.Open) }

// StoreAsIs is ExistingStore for Verify: it repairs nothing in the folder.
func (a *App) StoreAsIs(dir string) (*Store, error) { return a.existingStore(dir, store.OpenAsIs) }

func (a *App) existingStore(dir string, open func(string) (*Store, error)) (*Store, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, diag.WithHint(diag.Refused("there is no store %s", dir), "thresh run makes one; --store names another")
	}
	return a.openStore(dir, open)
}

// ReplayCommand returns the command line that replays a finding of a store; the
// caller appends the finding.
func ReplayCommand(dir string) []string { return verbAt(dir, "replay") }

// ReplayHere makes a finding's command replay it from the store that it was read from, because runs
// are copied between stores and stores are moved.
func ReplayHere(dir string, f *campaign.Finding) {
	f.Reproduce = append(ReplayCommand(dir), f.ID)
}

// ResumeCommand returns the command line that resumes a run of a store.
func ResumeCommand(dir, runID string) []string { return verbAt(dir, "run", "--resume", runID) }

// ReportCommand returns the command line that reports a run of a store.
func ReportCommand(dir, runID string) []string { return verbAt(dir, "report", runID) }

// Promotes reports whether [App.Promote] can make a regression test of a finding. It cannot if
// equal cases had different outcomes, or if the document is already a regression test.
func (a *App) Promotes(f *campaign.Finding) bool { return a.refusePromotion(f) == nil }

// refusePromotion returns why a finding cannot become a regression test.
func (a *App) refusePromotion(f *campaign.Finding) error {
	if f.Kind == campaign.KindNondeterminism {
		return diag.Refused("%s reports that equal cases get different answers; a test of one of them would sometimes pass", f.ID)
	}
	c, _ := a.Contract(f.Contract)
	if formats, _ := c.(campaign.Formatted); formats != nil && slices.ContainsFunc(formats.Formats(), func(x campaign.Format) bool { return x.Tests }) {
		return isTest(f)
	}
	return nil
}

// isTest refuses to promote a finding whose document is a test already.
func isTest(f *campaign.Finding) error {
	return diag.Refused("%s findings need no regression test: the document is one, and fails until %s is fixed", f.Contract, f.ID)
}

// PromoteCommand returns the command line that promotes a finding of a store.
func PromoteCommand(dir, finding string) []string { return verbAt(dir, "promote", finding) }

// called is the word by which commands that a user can type call the running program.
var called = "thresh"

// CallProgram makes commands call the running program by the name of its file: one with further
// formats is another program than thresh, which cannot replay their findings.
func CallProgram(file string) {
	if name := strings.TrimSuffix(filepath.Base(file), ".exe"); file != "" {
		called = name
	}
}

func verbAt(dir string, words ...string) []string {
	argv := append([]string{called}, words...)
	if dir != DefaultStore {
		argv = append(argv, "--store", dir)
	}
	return argv
}

// ShellLine quotes a command line for a POSIX shell.
func ShellLine(argv []string) string { return report.Shell(argv) }

// ShellQuote quotes s as one word for a POSIX shell.
func ShellQuote(s string) string { return report.Shell([]string{s}) }
