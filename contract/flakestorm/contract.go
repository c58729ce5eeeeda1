package flakestorm

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/similarity"
)

// MeasureOpener opens the measure that a configuration names: an embeddings endpoint (url, name,
// key) or an encoder in Python (python). Kind is auto, lexical, embeddings or
// sentence-transformers. It returns an error if the chosen measure is not available.
type MeasureOpener func(ctx context.Context, kind, url, name, key, python string) (similarity.Measure, error)

// Targets are the ways in which agents are reached.
type Targets struct {
	Agents   agentcall.Opener
	Faults   fault.Opener
	Measures MeasureOpener
	// Start runs a program with additional variables, on the streams of this process, and returns
	// its exit code.
	Start func(ctx context.Context, argv, env []string) (code int, err error)
	// Variants holds the variants written by models; nil keeps none.
	Variants Variants
	// Command starts this program as the starter's bundled agent: its path and the arguments.
	Command []string
}

// Contract implements [campaign.Contract].
type Contract struct {
	targets Targets
	getenv  func(string) (string, bool)
}

// New returns the contract. Variables that documents name are environment variables of this
// process.
func New(t Targets) *Contract { return &Contract{targets: t, getenv: os.LookupEnv} }

// Name implements [campaign.Contract].
func (*Contract) Name() string { return "flakestorm" }

// Summary implements [campaign.Contract].
func (*Contract) Summary() string {
	return "test an agent while its tools and models fail (flakestorm v1 and v2)"
}

// Exercised implements [campaign.Exerciser]: either the case had no faults or at least one of them
// fired.
func (*Contract) Exercised(data []byte) bool {
	var n note
	_ = json.Unmarshal(data, &n) // no notes means that there were no faults
	return len(n.Fired) == 0 || slices.ContainsFunc(n.Fired, func(f [2]int) bool { return f[1] > 0 })
}

// topLevel matches a line that opens a section of a document.
var topLevel = lazy.Pattern(`(?m)^["']?(golden_prompts|agent|invariants|mutations|contract|chaos|chaos_matrix|replays)["']?\s*:`)

// Detect implements [campaign.Contract]. It recognizes a YAML mapping with the section agent or
// golden_prompts and another section of the format; if anything else is missing, Compile says so. A
// Markdown page that shows such a mapping is not recognized.
func (*Contract) Detect(s campaign.Spec) bool {
	if e := strings.ToLower(filepath.Ext(s.Path)); e == ".md" || e == ".markdown" {
		return false
	}
	if !bytes.Contains(s.Data, []byte("agent")) && !bytes.Contains(s.Data, []byte("golden_prompts")) {
		return false // decided early, because the file may be long
	}
	found := seq.SetOf(topLevel().FindAllSubmatch(s.Data, -1), func(m [][]byte) string { return string(m[1]) })
	if (found["agent"] || found["golden_prompts"]) && len(found) > 1 {
		return true
	}
	text := bytes.TrimSpace(s.Data)
	return bytes.HasPrefix(text, []byte("{")) && bytes.Contains(text, []byte(`"golden_prompts"`)) && bytes.Contains(text, []byte(`"agent"`))
}

// Names of the options.
const (
	OptPhase   = "phase"
	OptProfile = "chaos-profile"
	OptChaos   = "chaos"
	OptReplay  = "replay"
	OptOnly    = "replay-only"
	OptRuns    = "runs-per-cell"
	OptSystem  = "system"
	OptReplies = "replies"
	OptInstall = "requirements"
)

// The phases of a campaign.
const (
	PhaseMutation = config.PhaseMutation
	PhaseChaos    = config.PhaseChaos
	PhaseContract = config.PhaseContract
	PhaseReplay   = config.PhaseReplay
)

// Options implements [campaign.Contract].
func (*Contract) Options() []campaign.Option {
	return []campaign.Option{
		{Name: OptSystem, Path: true, Usage: "test the system in this `FILE` instead of the one in the document"},
		{Name: OptPhase, Many: true, Usage: "run only this `PHASE`: mutation, chaos, contract or replay; repeatable"},
		{Name: OptProfile, Many: true, Usage: "add a built-in `PROFILE` of faults to those of the document: " + strings.Join(config.Profiles(), ", ")},
		{Name: OptChaos, Bool: true, Usage: "inject the document's faults into the mutation phase too"},
		{Name: OptReplay, Many: true, Path: true, Usage: "also replay the sessions of `PATH`, a file or a folder"},
		{Name: OptOnly, Bool: true, Usage: "replay only the sessions of --replay, not those of the document"},
		{Name: OptReplies, Bool: true, Usage: "show what the agent answered in each case"},
		{Name: OptInstall, Path: true, Usage: "run the agent in its own Python environment, with the packages of this requirements `FILE` of pip"},
		{Name: OptRuns, Usage: "runs of each contract cell, in place of the document's `N`"},
	}
}

var _ campaign.Contract = (*Contract)(nil)

// Formats implements [campaign.Formatted].
func (*Contract) Formats() []campaign.Format {
	return []campaign.Format{{
		Name: "flakestorm", Summary: "a flakestorm configuration (YAML)",
		Schema: func() []byte { return doctree.Schema("flakestorm.v2", config.Format(), config.Files()...) },
		Keys:   func() string { return doctree.Tables(append([]doctree.Type{config.Format()}, config.Files()...)...) },
	}}
}
