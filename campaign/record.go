package campaign

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/diag"
)

// Finding is one problem: a group of failing cases with one fingerprint.
type Finding struct {
	ID          string   `json:"id"`          // equal in every run, from contract, campaign name and fingerprint
	Fingerprint string   `json:"fingerprint"` // hex
	Contract    string   `json:"contract"`
	Campaign    string   `json:"campaign"`
	Kind        string   `json:"kind"`
	Title       string   `json:"title"`
	Severity    Severity `json:"severity"`
	Cases       int64    `json:"cases"` // failing cases in the group
	Flaky       bool     `json:"flaky"` // did not fail the same way in every re-run
	Signature   string   `json:"signature,omitempty"`
	Cause       []string `json:"cause,omitempty"`
	First       int64    `json:"first_case"` // smallest failing case index
	// Unconfirmed says why no case was run again to confirm the finding; "": one was
	// run.
	Unconfirmed string    `json:"unconfirmed,omitempty"`
	Samples     []Sample  `json:"samples"`             // a few different inputs, by case index
	Rerun       Rerun     `json:"rerun"`               // how often it failed again
	Reproduce   []string  `json:"reproduce"`           // argv; exits with 1 while the finding shows, 0 once it no longer does
	Minimized   *Minimal  `json:"minimized,omitempty"` // smallest reproducer found
	Group       string    `json:"group,omitempty"`     // equal for findings with one cause, see [ByCause]
	Evidence    []Exhibit `json:"evidence"`
}

// Uncertain says of a finding that did not show in every re-run what that means for a test of it,
// as the end of a sentence; "" for other findings.
func (f *Finding) Uncertain() string {
	const passes = ", so the test may pass although the bug is there"
	switch {
	case f.Unconfirmed == "" && !f.Flaky:
		return ""
	case f.Unconfirmed != "" || f.Rerun.Tried == 0:
		return "was not confirmed" + passes
	}
	return fmt.Sprintf("failed the same way in %d of %s", f.Rerun.Same, diag.Plural(f.Rerun.Tried, "re-run")) + passes
}

// About describes a regression test of the finding; what it holds is a sentence.
func (f *Finding) About(holds string) string {
	about := "Regression test for " + f.ID + ": " + f.Title + ". " + holds
	if why := f.Uncertain(); why != "" {
		about += " It " + why + "."
	}
	return about
}

// number is an entry of a published list of weaknesses or techniques.
var number = regexp.MustCompile(`^([A-Z]{2,8}[0-9]+:[0-9]{4}|AML\.T[0-9.]+)$`)

// Numbers returns the causes of the finding that are entries of published lists, such
// as OWASP's "LLM01:2025".
func (f *Finding) Numbers() []string {
	return slices.DeleteFunc(slices.Clone(f.Cause), func(c string) bool { return !number.MatchString(c) })
}

// Sample is a failing case of a finding.
type Sample struct {
	Case  Case   `json:"case"`
	Input string `json:"input,omitempty"` // hex digest of the input
	Blob  string `json:"blob,omitempty"`  // content address of the explicit input in the store
	Size  int64  `json:"size"`            // bytes of the explicit input
	Gauge *Gauge `json:"gauge,omitempty"` // its size for people, if the bytes are an internal encoding
}

// Gauge is the size of a case, by [Traits].Gauge.
type Gauge struct {
	Unit string `json:"unit"` // in the singular; "": the case has no size
	Size int64  `json:"size"`
	From int64  `json:"from,omitempty"` // for a minimized case, the size of the case it was made from
}

// GaugeOf returns the size of a case in its campaign's unit; nil: in bytes.
func GaugeOf(ctx context.Context, c any, payload []byte) *Gauge {
	gauge := TraitsOf(c).Gauge
	if gauge == nil {
		return nil
	}
	size, unit := gauge(ctx, payload)
	return &Gauge{Unit: unit, Size: size}
}

// GaugeFrom is [GaugeOf] for a minimized case.
func GaugeFrom(ctx context.Context, c any, payload, from []byte) *Gauge {
	g := GaugeOf(ctx, c, payload)
	if g != nil {
		g.From = GaugeOf(ctx, c, from).Size
	}
	return g
}

// Rerun counts cold re-executions of the first sample.
type Rerun struct {
	Tried  int `json:"tried"`
	Same   int `json:"same"`             // failed again with the same fingerprint
	Errors int `json:"errors,omitempty"` // could not be executed; not counted in Tried
}

// Minimal is a smaller case that fails with the same fingerprint.
type Minimal struct {
	Blob     string `json:"blob"`
	Size     int64  `json:"size"`                // bytes
	From     int64  `json:"from"`                // bytes of the case it was made from
	Tries    int    `json:"tries"`               // executions spent
	Verified bool   `json:"verified"`            // failed again, cold, after shrinking
	NoResult bool   `json:"no_result,omitempty"` // not verified, since no run of it had a result
	// OneMinimal names the parts, such as "byte", if no single one can be removed; "":
	// unknown.
	OneMinimal string `json:"one_minimal,omitempty"`
	Spent      bool   `json:"spent,omitempty"` // the budget ended the search
	Preview    []byte `json:"preview"`         // the first 256 bytes
	Gauge      *Gauge `json:"gauge,omitempty"` // sizes for people, if the bytes are an internal encoding
}

// Cases returns the planned cases in words, such as "at least 6 cases"; "": unknown.
func (t Traits) Cases() string {
	if t.Planned == 0 {
		return ""
	}
	return strings.TrimSpace(t.Roughly + " " + diag.Plural(t.Planned, "case"))
}

// Counts is a number of cases by verdict.
type Counts struct {
	Planned int64 `json:"planned"`
	Run     int64 `json:"run"`
	Pass    int64 `json:"pass"`
	Fail    int64 `json:"fail"`
	Skip    int64 `json:"skip"`
	Error   int64 `json:"error"`
	// Replaced cases ran but count nowhere else, because others replace them.
	Replaced int64 `json:"replaced,omitempty"`
	// Closing counts the cases of closing rounds, see [Traits].Closes. They also count
	// in Run and by their verdict, but are not planned.
	Closing int64 `json:"closing,omitempty"`
}

// Executed returns how many cases ran, with those that were replaced.
func (c *Counts) Executed() int64 { return c.Run + c.Replaced }

// FollowUps returns how many cases ran beyond the planned ones, to investigate
// something that was found.
func (c *Counts) FollowUps() int64 {
	if c.Planned == 0 {
		return 0
	}
	return max(0, c.Run-c.Planned)
}

// Replace counts cases as replaced.
func (c *Counts) Replace(by Counts) {
	n := by.Pass + by.Skip
	c.Run, c.Pass, c.Skip, c.Replaced = c.Run-n, c.Pass-by.Pass, c.Skip-by.Skip, c.Replaced+n
	if c.Planned > c.Run {
		c.Planned = max(c.Planned-n, c.Run)
	}
}

// Plus adds other counts.
func (c *Counts) Plus(d Counts) {
	c.Planned, c.Run, c.Replaced = c.Planned+d.Planned, c.Run+d.Run, c.Replaced+d.Replaced
	c.Closing += d.Closing
	c.Pass, c.Fail, c.Skip, c.Error = c.Pass+d.Pass, c.Fail+d.Fail, c.Skip+d.Skip, c.Error+d.Error
}

// Add counts one more case.
func (c *Counts) Add(v Verdict) {
	c.Run++
	switch v {
	case VerdictPass:
		c.Pass++
	case VerdictFail:
		c.Fail++
	case VerdictSkip:
		c.Skip++
	default:
		c.Error++
	}
}

// CampaignRecord is one campaign of a stored run.
type CampaignRecord struct {
	Contract string   `json:"contract"`
	Name     string   `json:"name"`
	Identity string   `json:"identity"` // hex digest
	Source   string   `json:"source"`   // path of the document, as on the command line
	Cases    Counts   `json:"cases"`
	Prompts  bool     `json:"prompts,omitempty"` // its cases send prompts, which reports hits and attempts list
	Score    *float64 `json:"score,omitempty"`
	// ScoreInterval is the score's 95 % interval, if the score is an estimate.
	ScoreInterval *[2]float64 `json:"score_interval,omitempty"`
	// Figures measure what the campaign reached, in its own order.
	Figures []Figure `json:"figures,omitempty"`
	// Parts are the parts of the score, in the contract's order.
	Parts    []ScorePart `json:"parts,omitempty"`
	Exhibits []Exhibit   `json:"exhibits,omitempty"`
}

// Figure is a number with its name: "edges", 375.
type Figure struct {
	Name  string `json:"name"` // what is counted, as a plural
	Value int64  `json:"value"`
}

// ScorePart is a part of a campaign's score, which is the weighted mean of its
// parts. Their weights sum to 1.
type ScorePart struct {
	Name   string  `json:"name"`
	Score  float64 `json:"score"`  // 0 to 1
	Weight float64 `json:"weight"` // 0 to 1
	// Interval is the score's 95 % interval, if the score is an estimate.
	Interval *[2]float64 `json:"interval,omitempty"`
}

// Record is the result of a run, from which every report is made. Times, durations
// and facts about the host are in Environment alone, so the records of two equal
// runs differ nowhere else.
type Record struct {
	RunID       string           `json:"run_id"`
	Digest      string           `json:"digest"`
	Verdict     string           `json:"verdict"` // "pass", "fail" or "error"
	Complete    bool             `json:"complete"`
	Stopped     string           `json:"stopped,omitempty"` // why a run ended early: "fail-fast", "time", "interrupted", ...
	Campaigns   []CampaignRecord `json:"campaigns"`
	Findings    []Finding        `json:"findings"`
	Warnings    []string         `json:"warnings"`
	Hints       []string         `json:"hints,omitempty"` // what to try next; nothing is wrong
	Environment Environment      `json:"environment"`
}

// Environment is what may differ between two equal runs.
type Environment struct {
	Command  []string        `json:"command"`
	Started  time.Time       `json:"started"`
	Finished time.Time       `json:"finished"`
	Seconds  float64         `json:"seconds"` // wall time spent running, resumed parts added
	Workers  int             `json:"workers"`
	Rate     float64         `json:"cases_per_second"`
	Version  string          `json:"version"`
	OS       string          `json:"os"`
	Arch     string          `json:"arch"`
	CPUs     int             `json:"cpus"`
	Host     string          `json:"host"`
	Notes    []string        `json:"notes,omitempty"`    // how cases were executed: accelerators, sandbox, what was not available
	Progress []ProgressPoint `json:"progress,omitempty"` // at most 240 points
	Origin   *Origin         `json:"origin,omitempty"`
	// Root is the root of a Merkle tree over outcomes in case order and evidence in the
	// order of writing; thresh verify checks it.
	Root  string          `json:"root,omitempty"`
	Extra json.RawMessage `json:"extra,omitempty"`
}

// Origin is where a run was started; "" is unknown.
type Origin struct {
	Folder string `json:"folder"`           // base of relative file names
	Commit string `json:"commit,omitempty"` // what was checked out, with or without changes
	Branch string `json:"branch,omitempty"`
	CI     string `json:"ci,omitempty"` // address of the job
}

// ProgressPoint is how far a run was after some seconds.
type ProgressPoint struct {
	Seconds  float64 `json:"t"`
	Cases    int64   `json:"cases"`
	Findings int     `json:"findings"`
}

// StoppedInterrupted is [Record].Stopped if a signal ended the run.
const StoppedInterrupted = "interrupted"

// Exit returns the exit code of a run that finished, as an error; nil for 0.
func (r *Record) Exit() error {
	switch r.Verdict {
	case "pass":
		return nil
	case "fail":
		return diag.ExitError(diag.ExitFindings)
	}
	return diag.ExitError(diag.ExitEnvironment)
}

// Trend is the results of a campaign, run by run.
type Trend struct {
	Contract string       `json:"contract"`
	Name     string       `json:"name"`
	Source   string       `json:"source"` // path of the document in the newest run
	Runs     int          `json:"runs"`   // number of runs, which may be more than there are points
	Points   []TrendPoint `json:"points"` // oldest first
}

// TrendPoint is a campaign's result in one run.
type TrendPoint struct {
	RunID    string    `json:"run_id"`
	Created  time.Time `json:"created"`
	Verdict  string    `json:"verdict"` // of the campaign: "pass", "fail" or "error"; "" while running
	Cases    int64     `json:"cases"`
	Failed   int64     `json:"failed"`
	Findings int       `json:"findings"`
	Score    *float64  `json:"score,omitempty"`
}
