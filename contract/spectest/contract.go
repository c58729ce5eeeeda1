package spectest

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/spectest/stage"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/port/exchange"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/pyhost"
	"github.com/thresh-dev/thresh/port/sut"
)

// Targets opens the systems that cases run against.
type Targets struct {
	Commands process.Opener       // command lines of cli.run
	Python   pyhost.CommandOpener // module:function of cli.run
	HTTP     exchange.Opener      // requests of api.http
	Systems  sut.Opener           // calls of system.call
	// Scratch makes a temporary folder and returns how to remove it.
	Scratch func() (dir string, remove func() error, err error)
	// Room is what a folder's content leaves of a budget of bytes: counting all of it or, if others
	// use the folder too, only what changed since a time.
	Room func(most int64, dir string, since time.Time, old map[string]int64, skip func(dir string) bool) int64
	// FreePort returns a free local TCP port for a service of a page.
	FreePort func(context.Context) (string, error)
}

// Contract implements Spec-Test v1.
type Contract struct {
	targets Targets
	getenv  func(string) string
	environ func() []string
	kept    atomic.Int64 // cases that stay decoded, over all campaigns
	shared  programs     // shared by all campaigns
	readers sync.Pool    // of *doctree.Reader
	watches stage.Watches

	mu   sync.Mutex
	set  *settings // those requested last
	from settingsFrom
}

// New returns the contract. It reads SPEC_RUNNER_* settings and the environment of commands from
// this process.
func New(t Targets) *Contract {
	return &Contract{targets: t, getenv: os.Getenv, environ: os.Environ}
}

// Name implements [campaign.Contract].
func (*Contract) Name() string { return "spectest" }

// Summary implements [campaign.Contract].
func (*Contract) Summary() string {
	return "run the tests in Markdown documents (Spec-Test v1)"
}

// dataCase matches the type of a case in a YAML or JSON file.
var dataCase = lazy.Pattern(`(?m)(^|[{,]|^-)\s*["']?type["']?\s*:\s*["']?(text\.file|cli\.run|api\.http|system\.call)\b`)

// fenceLine matches a line that can open a spec-test block.
var fenceLine = lazy.Pattern("(?mi)(```|~~~)[^`\n]*\\b(spec-test|contract-spec)\\b")

// Detect implements [campaign.Contract]: a document with a spec-test block, or
// a YAML or JSON file with a case of a known type.
func (*Contract) Detect(s campaign.Spec) bool {
	if formatOf(s.Path) == "md" {
		found := fenceLine().Match(s.Data)
		if found && len(s.Data) > pieceSize || showsRuns(s.Data, func() {}) { // enough evidence in a text that long
			return true
		}
		if !found {
			return false
		}
		d := newDocument(s.Path, s.Data)
		return len(d.found) > 0 || len(d.passed) > 0 && strings.HasSuffix(s.Path, ".spec.md") || d.dialect()
	}
	return bytes.Contains(s.Data, []byte("id")) && dataCase().Match(s.Data)
}

// Chooses implements [campaign.Chooser]: it takes the documents that discovery finds.
func (*Contract) Chooses(folder, path string, set campaign.Settings) campaign.Choice {
	d := Discovery{Pattern: set.Get(optPattern, DefaultPattern), Recursive: set.Get(optRecursive, "") == "true"}
	var err error
	if d.Formats, err = Formats(set.Get(optFormats, "md")); err != nil {
		return campaign.Choice{Taken: true} // Compile reports the invalid option
	}
	taken, hint := d.accepts(folder, path)
	if !taken && formatOf(path) == "md" {
		// Showing commands alone does not make a page a document of a folder.
		if text, err := os.ReadFile(path); err == nil && !fenceLine().Match(text) {
			hint = ""
		}
	}
	return campaign.Choice{Taken: taken, Hint: hint}
}

// Starter implements [campaign.Contract].
func (*Contract) Starter(string) []campaign.File { return starter() }

var (
	_ campaign.Contract = (*Contract)(nil)
	_ campaign.Chooser  = (*Contract)(nil)
)

// Formats implements [campaign.Formatted].
func (*Contract) Formats() []campaign.Format {
	return []campaign.Format{{Name: "spectest", Summary: "spec-test blocks and files of cases (YAML in Markdown, YAML, JSON)", Schema: BlockSchema, Fence: "spec-test", Tests: true,
		Keys: func() string { return doctree.Tables(blockType()) }}}
}
