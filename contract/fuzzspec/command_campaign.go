package fuzzspec

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// knownFailure converts an error to the exit code and line that scripts expect.
func knownFailure(d campaign.Desk, verb string, err error) error {
	var r *Refusal
	var list diag.List
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return diag.ExitError(diag.ExitInterrupted)
	case errors.As(err, &r):
		if r.Unexpected {
			fmt.Fprintln(d.Err(), strings.Replace(r.Line, "spec:", verb+":", 1))
			return diag.ExitError(1)
		}
		fmt.Fprintln(d.Err(), r.Line)
		return diag.ExitError(diag.ExitRefused)
	case errors.As(err, &list):
		d.Warn(list)
		return diag.ExitError(diag.ExitRefused)
	}
	fmt.Fprintf(d.Err(), "%s: unexpected error (%s): %s\n", verb, pyClass(err), diag.Printable(err.Error()))
	if h := diag.Hint(err); h != "" {
		fmt.Fprintln(d.Err(), "  hint: "+h)
	}
	return diag.ExitError(1)
}

// compileSpec validates a document as scripts expect and compiles it.
func compileSpec(ctx context.Context, d campaign.Desk, path string, set campaign.Settings) (*Campaign, campaign.Any, campaign.Spec, error) {
	var doc campaign.Spec
	if len(set.Options["allow-exec"]) == 0 {
		if err := validated(d, path, set.Strict); err != nil {
			return nil, nil, doc, err
		}
	}
	doc, err := d.Document(path)
	if err != nil {
		return nil, nil, doc, readRefusal(path, err)
	}
	list, _, err := d.Compile(ctx, []campaign.Spec{doc}, set)
	if err != nil {
		return nil, nil, doc, err
	}
	f, ok := campaign.As[*Campaign](list[0])
	if !ok {
		return nil, nil, doc, fmt.Errorf("%s did not compile to a FuzzSpec campaign", path)
	}
	return f, list[0], doc, nil
}

func runCommand(name string) campaign.Command {
	var spec, runID, failOn string
	var index int64
	var dry bool
	c := campaign.Command{
		Use:     name + " --spec FILE",
		Summary: map[string]string{"run": "Run one case and keep its folder", "run-one": "Run case 0 and keep its folder"}[name],
		Long: `Runs one case and keeps its folder, <work_root_base>/runs/<run id>. Prints the
folder and its failure record. Exit 0 says that the record was written, whatever
it says; --fail-on makes verdicts count.`,
		Example: "  thresh fuzzspec " + name + " --spec spec.json" + map[string]string{"run": " --case-index 7"}[name],
		Run: func(ctx context.Context, d campaign.Desk, _ []string) error {
			set := d.Settings()
			requireOutputs(set)
			camp, _, _, err := compileSpec(ctx, d, spec, set)
			if err != nil {
				return knownFailure(d, name, err)
			}
			if n := camp.Planned(); index < 0 || index >= n {
				return knownFailure(d, name, fmt.Errorf("case_index must be from 0 to %d (mutations.cases is %d), got %d", n-1, n, index))
			}
			if runID == "" {
				runID = newRunID()
			}
			folder, kept, err := camp.RunCase(ctx, index, runID, dry, time.Now())
			if err != nil {
				return knownFailure(d, name, err)
			}
			fmt.Fprintln(d.Out(), folder.Dir())
			fmt.Fprintln(d.Out(), folder.RecordPath())
			for _, n := range kept.Notes {
				fmt.Fprintln(d.Err(), "note: "+diag.Printable(n))
			}
			if verdictSet(failOn)[kept.CaseVerdict()] {
				return diag.ExitError(diag.ExitFindings)
			}
			return nil
		},
	}
	c.Flags = func(fs campaign.Flags) {
		fs.StringVar(&spec, "spec", "", "the document")
		if name == "run" {
			fs.Int64Var(&index, "case-index", 0, "which case, from 0")
		}
		fs.StringVar(&runID, "run-id", "", "name of the run's folder (default: random)")
		fs.BoolVar(&dry, "dry-run", false, "write the folder without running the program")
		fs.StringVar(&failOn, "fail-on", "", "exit 1 if the verdict is one of these `VERDICTS`, such as FAIL,TIMEOUT")
	}
	c.Required, c.Options = []string{"spec"}, true
	if name == "run" {
		c.Required = append(c.Required, "case-index")
	}
	return c
}

// requireOutputs makes missing JSON outputs a failure unless the user says otherwise, as existing
// commands do.
func requireOutputs(set campaign.Settings) {
	if !set.Has("outputs") {
		set.Options["outputs"] = []string{"require"}
	}
}

// newRunID returns 32 hexadecimal digits: a random version 4 UUID.
func newRunID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return hex.EncodeToString(b[:])
}

// verdictSet reads a list of verdicts; unknown words match nothing.
func verdictSet(list string) map[string]bool {
	set := make(map[string]bool)
	for v := range strings.SplitSeq(list, ",") {
		if v = strings.ToUpper(strings.TrimSpace(v)); v != "" {
			set[v] = true
		}
	}
	return set
}

// campaignFlags are the flags of thresh fuzzspec campaign.
type campaignFlags struct {
	spec, campaignID, stopOn, failOn string
	start                            int64
	exec, goOn                       bool
	given                            func(flag string) bool
}

func campaignCommand() campaign.Command {
	var f campaignFlags
	c := campaign.Command{
		Use:     "campaign --spec FILE --cases N",
		Summary: "Plan or run a range of cases and keep the campaign's folder",
		Long: `Campaign plans the cases (the default) or, with --exec, runs them, and keeps
<work_root_base>/llmfuzz/campaigns/<campaign id>/ with campaign.json, cases.jsonl,
summary.json and triage/. Prints the campaign's id and folder.

Exit 0 says that the campaign was written, whatever it found; --fail-on makes
verdicts count. Its run is stored in <work_root_base>/.thresh unless --store says
otherwise, so that findings can be shown, replayed and shrunk.`,
		Example: `  thresh fuzzspec campaign --spec spec.json --cases 1000 --exec --stop-on NONE
  thresh fuzzspec campaign --spec spec.json --cases 1000 --exec --fail-on FAIL`,
		Run: func(ctx context.Context, d campaign.Desk, _ []string) error {
			o := d.Order()
			if o.Cases < 1 {
				return knownFailure(d, "campaign", fmt.Errorf("cases must be greater than 0, got %d", o.Cases))
			}
			if f.start < 0 {
				return knownFailure(d, "campaign", fmt.Errorf("start-index must not be negative, got %d", f.start))
			}
			err := f.run(ctx, d, o)
			if _, ok := errors.AsType[diag.ExitError](err); ok {
				return err
			}
			return knownFailure(d, "campaign", err)
		},
		Runs: true, Options: true, Declared: true, Required: []string{"spec", "cases"},
	}
	c.Flags = func(fs campaign.Flags) {
		f.given = fs.Changed
		fs.BoolVar(&f.goOn, "resume", false, "continue the campaign where it ended; finished cases are not run again")
		fs.StringVar(&f.spec, "spec", "", "the document")
		fs.Int64Var(&f.start, "start-index", 0, "first case")
		fs.StringVar(&f.campaignID, "campaign-id", "", "name of the campaign's folder (default: made from the document)")
		fs.BoolVar(&f.exec, "exec", false, "run the cases; otherwise they are only planned")
		fs.StringVar(&f.stopOn, "stop-on", "FAIL,TIMEOUT", "stop at the first case with one of these `VERDICTS`; NONE: never")
		fs.StringVar(&f.failOn, "fail-on", "", "exit 1 if any case has one of these `VERDICTS`, such as FAIL,TIMEOUT")
	}
	return c
}

func (f *campaignFlags) run(ctx context.Context, d campaign.Desk, o campaign.Order) error {
	set := d.Settings()
	set.Options = o.Options
	requireOutputs(set)
	o.Set(OptStartIndex, strconv.FormatInt(f.start, 10))
	o.Set(OptCount, strconv.FormatInt(o.Cases, 10))
	if f.campaignID != "" {
		o.Set(OptCampaignID, f.campaignID)
	}
	camp, erased, doc, err := compileSpec(ctx, d, f.spec, set)
	if err != nil {
		return err
	}
	if n := camp.Planned(); n < o.Cases {
		fmt.Fprintf(d.Err(), "note: the document plans %[3]d cases from case %[2]d on, not %[1]d\n", o.Cases, f.start, n)
	}
	folder, err := camp.Folder()
	if err != nil {
		return err
	}
	if err := camp.Begin(time.Now()); err != nil {
		return err
	}
	own, err := d.Own(filepath.Join(folder.Dir(), "locks", "campaign.lock"))
	if err != nil {
		return fmt.Errorf("campaign %s is being run by another process: %w", camp.CampaignID(), err)
	}
	defer own.Close()
	fmt.Fprintln(d.Out(), camp.CampaignID())
	fmt.Fprintln(d.Out(), folder.Dir())
	asked := o.Cases
	if !f.exec {
		return planCampaign(camp, folder, f.start, asked)
	}
	if !f.given("store") {
		o.Store = filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(folder.Dir()))), o.Store)
	}
	stop := verdictSet(f.stopOn)
	o.Docs, o.Compiled, o.Cases, o.Silent = []campaign.Spec{doc}, []campaign.Any{erased}, 0, true // the compiled campaign already has the requested number of cases
	o.Stop = func(x *campaign.Outcome) bool { return stop[camp.Verdict(x)] }
	if f.goOn {
		if err := f.resume(d, &o, camp, folder); err != nil {
			return err
		}
	}
	rec, runErr := d.Run(ctx, o)
	if rec.RunID == "" {
		return runErr
	}
	seen, err := writeCampaign(ctx, d, camp, folder, rec, asked)
	if err != nil {
		return errors.Join(runErr, err)
	}
	if err := d.WriteReports(rec); err != nil {
		return err
	}
	for _, x := range rec.Findings {
		fmt.Fprintf(d.Err(), "%s %s %s: %s (%s)\n", x.ID, x.Severity, x.Kind, diag.Printable(x.Title), diag.Plural(x.Cases, "case"))
	}
	switch {
	case rec.Stopped == campaign.StoppedInterrupted:
		fmt.Fprintln(d.Err(), "interrupted; nothing is lost. Continue with the same command and --resume")
		return diag.ExitError(diag.ExitInterrupted)
	case runErr != nil:
		return runErr
	}
	for v := range verdictSet(f.failOn) {
		if seen[v] {
			return diag.ExitError(diag.ExitFindings)
		}
	}
	return nil
}

// resume continues the newest stored run of the same campaign id, document and settings, if there
// is one.
//
// If the newest run of the campaign id has another seed or program, resume returns an error: its
// cases would not belong to the same campaign.
func (f *campaignFlags) resume(d campaign.Desk, o *campaign.Order, camp *Campaign, folder CampaignFolder) error {
	run, changed, err := d.Earlier(*o, func(options map[string][]string) bool {
		given := options[OptCampaignID]
		return len(given) == 0 || given[0] == camp.CampaignID()
	})
	switch {
	case err != nil || run == "" && changed == "":
		return err
	case run == "":
		return diag.WithHint(fmt.Errorf("campaign %s cannot be continued: %s has changed since its cases were run", camp.CampaignID(), changed),
			"restore it, or start another campaign with --campaign-id")
	}
	o.Resume = run
	// The outcomes of the cases that the folder lists as executed are known, so resuming does not stop
	// at them.
	if lines, _, err := folder.ReadCases(); err == nil {
		o.StopFrom = int64(bytes.Count(lines, []byte(`"mode":"EXEC"`)))
	}
	return nil
}

// planCampaign writes every case without running it.
func planCampaign(camp *Campaign, folder CampaignFolder, start, asked int64) error {
	now := time.Now()
	var failed error
	lines := func(yield func(CaseLine) bool) {
		for i := range camp.Planned() {
			l, err := camp.PlanCase(start+i, now)
			if err != nil {
				failed = err
				return
			}
			if !yield(l) {
				return
			}
		}
	}
	if err := folder.Write(camp.SpecText(), asked, now, lines); err != nil {
		return err
	}
	return failed
}

// writeCampaign writes the campaign's files from the journal of its run and returns the verdicts
// that occurred. It leaves out cases that were in flight when the run was stopped, as the record
// does.
func writeCampaign(ctx context.Context, d campaign.Desk, camp *Campaign, folder CampaignFolder, rec campaign.Record, asked int64) (map[string]bool, error) {
	stored, err := d.Stored(ctx, rec.RunID)
	if err != nil {
		return nil, err
	}
	defer stored.Close()
	seen := make(map[string]bool)
	var lines iter.Seq[CaseLine] = func(yield func(CaseLine) bool) {
		left := rec.Campaigns[0].Cases.Run
		for x := range stored.Outcomes(0) {
			if left--; left < 0 {
				return
			}
			l := camp.Line(x.Case, &x.Outcome, x.At)
			seen[l.Verdict] = true
			if !yield(l) {
				return
			}
		}
	}
	if err := folder.Write(camp.SpecText(), asked, time.Now(), lines); err != nil {
		return nil, err
	}
	_, _, err = folder.Triage(TriageOptions{TopK: DefaultTopK}, true, false)
	return seen, err
}
