package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/app"
	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fuzzspec"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/store"
	"github.com/thresh-dev/thresh/store/lock"
)

// knownFailure turns an error into the exit code and line that scripts know.
func (a *application) knownFailure(verb string, err error) error {
	var r *fuzzspec.Refusal
	var list diag.List
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return exitError(diag.ExitInterrupted)
	case errors.As(err, &r):
		if r.Unexpected {
			fmt.Fprintln(a.io.Err, strings.Replace(r.Line, "spec:", verb+":", 1))
			return exitError(1)
		}
		fmt.Fprintln(a.io.Err, r.Line)
		return exitError(diag.ExitRefused)
	case errors.As(err, &list):
		a.warn(list)
		return exitError(diag.ExitRefused)
	}
	fmt.Fprintf(a.io.Err, "%s: unexpected error (%s): %s\n", verb, pyClass(err), printable(err.Error()))
	if h := diag.Hint(err); h != "" {
		fmt.Fprintln(a.io.Err, "  hint: "+h)
	}
	return exitError(1)
}

// compileSpec validates a document as scripts expect and compiles it.
func (a *application) compileSpec(ctx context.Context, path string, set campaign.Settings) (*fuzzspec.Campaign, campaign.Any, app.Document, error) {
	var d app.Document
	if len(set.Options["allow-exec"]) == 0 {
		if _, err := a.validated(path, set.Strict); err != nil {
			return nil, nil, d, err
		}
	}
	d, err := a.app.Document(path)
	if err != nil {
		return nil, nil, d, readRefusal(path, err)
	}
	for _, c := range a.app.Contracts {
		if c.Name() == "fuzzspec" {
			d.Contract = c
		}
	}
	c, err := app.Compile(ctx, []app.Document{d}, set)
	if err != nil {
		return nil, nil, d, err
	}
	f, ok := campaign.As[*fuzzspec.Campaign](c.Campaigns[0])
	if !ok {
		return nil, nil, d, fmt.Errorf("%s did not compile to a FuzzSpec campaign", path)
	}
	return f, c.Campaigns[0], d, nil
}

func (a *application) fuzzRun(name string) *cobra.Command {
	var spec, runID, failOn string
	var index int64
	var dry bool
	var options optionFlags
	c := &cobra.Command{
		Use:   name + " --spec FILE",
		Short: map[string]string{"run": "Run one case and keep its folder", "run-one": "Run case 0 and keep its folder"}[name],
		Long: `Runs one case and keeps its folder, <work_root_base>/runs/<run id>. Prints the
folder and its failure record. Exit 0 says that the record was written, whatever
it says; --fail-on makes verdicts count.`,
		Example: "  thresh fuzzspec " + name + " --spec spec.json" + map[string]string{"run": " --case-index 7"}[name],
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := options.validate(); err != nil {
				return err
			}
			b := app.NewBundle()
			set := b.Fill(campaign.Settings{Options: options.values()})
			requireOutputs(set)
			camp, _, _, err := a.compileSpec(c.Context(), spec, set)
			if err != nil {
				return a.knownFailure(name, err)
			}
			if n := camp.Planned(); index < 0 || index >= n {
				return a.knownFailure(name, fmt.Errorf("case_index must be from 0 to %d (mutations.cases is %d), got %d", n-1, n, index))
			}
			if runID == "" {
				runID = newRunID()
			}
			folder, kept, err := camp.RunCase(c.Context(), index, runID, dry, time.Now())
			if err != nil {
				return a.knownFailure(name, err)
			}
			fmt.Fprintln(a.io.Out, folder.Dir())
			fmt.Fprintln(a.io.Out, folder.RecordPath())
			for _, n := range kept.Notes {
				fmt.Fprintln(a.io.Err, "note: "+printable(n))
			}
			if verdictSet(failOn)[kept.CaseVerdict()] {
				return exitError(diag.ExitFindings)
			}
			return nil
		},
	}
	c.Flags().StringVar(&spec, "spec", "", "the document")
	if name == "run" {
		c.Flags().Int64Var(&index, "case-index", 0, "which case, from 0")
		_ = c.MarkFlagRequired("case-index")
	}
	c.Flags().StringVar(&runID, "run-id", "", "name of the run's folder (default: random)")
	c.Flags().BoolVar(&dry, "dry-run", false, "write the folder without running the program")
	c.Flags().StringVar(&failOn, "fail-on", "", "exit 1 if the verdict is one of these `VERDICTS`, such as FAIL,TIMEOUT")
	_ = c.MarkFlagRequired("spec")
	options.register(c.Flags(), a.app.Contracts)
	return c
}

// requireOutputs makes missing JSON outputs a failure unless the user says
// otherwise: that is what users of the known commands have today.
func requireOutputs(set campaign.Settings) {
	if !set.Has("outputs") {
		set.Options["outputs"] = []string{"require"}
	}
}

// newRunID is 32 hexadecimal digits of a random version 4 UUID.
func newRunID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return hex.EncodeToString(b[:])
}

// verdictSet reads a list of verdicts; unknown words match nothing.
func verdictSet(list string) map[string]bool {
	set := make(map[string]bool)
	for _, v := range strings.Split(list, ",") {
		if v = strings.ToUpper(strings.TrimSpace(v)); v != "" {
			set[v] = true
		}
	}
	return set
}

// campaignFlags are those of thresh fuzzspec campaign.
type campaignFlags struct {
	runFlags
	spec, campaignID, stopOn, failOn string
	start                            int64
	exec, goOn                       bool
}

func (a *application) fuzzCampaign() *cobra.Command {
	var f campaignFlags
	c := &cobra.Command{
		Use:   "campaign --spec FILE --cases N",
		Short: "Plan or run a range of cases and keep the campaign's folder",
		Long: `Campaign plans the cases (the default) or, with --exec, runs them, and keeps
<work_root_base>/llmfuzz/campaigns/<campaign id>/ with campaign.json, cases.jsonl,
summary.json and triage/. Prints the campaign's id and folder.

Exit 0 says that the campaign was written, whatever it found; --fail-on makes
verdicts count. Its run is stored in <work_root_base>/.thresh unless --store says
otherwise, so that findings can be shown, replayed and shrunk.`,
		Example: `  thresh fuzzspec campaign --spec spec.json --cases 1000 --exec --stop-on NONE -j 4
  thresh fuzzspec campaign --spec spec.json --cases 1000 --exec --fail-on FAIL,TIMEOUT`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.validate(); err != nil {
				return err
			}
			if f.cases < 1 {
				return a.knownFailure("campaign", fmt.Errorf("cases must be greater than 0, got %d", f.cases))
			}
			if f.start < 0 {
				return a.knownFailure("campaign", fmt.Errorf("start-index must not be negative, got %d", f.start))
			}
			return a.knownFailure2(a.fuzzCampaignRun(c.Context(), &f, c.Flags().Changed("store")))
		},
	}
	f.register(c, a.app.Contracts)
	fs := c.Flags()
	*fs.Lookup("resume") = *resumeFlag(&f.goOn)
	fs.StringVar(&f.spec, "spec", "", "the document")
	fs.Int64Var(&f.start, "start-index", 0, "first case")
	fs.StringVar(&f.campaignID, "campaign-id", "", "name of the campaign's folder (default: made from the document)")
	fs.BoolVar(&f.exec, "exec", false, "run the cases; otherwise they are only planned")
	fs.StringVar(&f.stopOn, "stop-on", "FAIL,TIMEOUT", "stop at the first case with one of these `VERDICTS`; NONE: never")
	fs.StringVar(&f.failOn, "fail-on", "", "exit 1 if any case has one of these `VERDICTS`, such as FAIL,TIMEOUT")
	_ = c.MarkFlagRequired("spec")
	_ = c.MarkFlagRequired("cases")
	return c
}

func (a *application) knownFailure2(err error) error {
	var code exitError
	if errors.As(err, &code) {
		return err
	}
	return a.knownFailure("campaign", err)
}

func (a *application) fuzzCampaignRun(ctx context.Context, f *campaignFlags, storeGiven bool) error {
	b := app.NewBundle()
	set := b.Fill(f.settings())
	requireOutputs(set)
	set.Options[fuzzspec.OptStartIndex] = []string{strconv.FormatInt(f.start, 10)}
	set.Options[fuzzspec.OptCount] = []string{strconv.FormatInt(f.cases, 10)}
	if f.campaignID != "" {
		set.Options[fuzzspec.OptCampaignID] = []string{f.campaignID}
	}
	camp, erased, doc, err := a.compileSpec(ctx, f.spec, set)
	if err != nil {
		return err
	}
	if n := camp.Planned(); n < f.cases {
		fmt.Fprintf(a.io.Err, "note: %d cases were asked for from case %d on; the document plans %d there\n", f.cases, f.start, n)
	}
	folder, err := camp.Folder()
	if err != nil {
		return err
	}
	if err := camp.Begin(time.Now()); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(folder.Dir(), "locks"), 0o755); err != nil {
		return fmt.Errorf("make the campaign's lock: %w", err)
	}
	own, err := lock.Own(filepath.Join(folder.Dir(), "locks", "campaign.lock"))
	if err != nil {
		return fmt.Errorf("campaign %s is being run by another process: %w", camp.CampaignID(), err)
	}
	defer own.Close()
	fmt.Fprintln(a.io.Out, camp.CampaignID())
	fmt.Fprintln(a.io.Out, folder.Dir())
	if !f.exec {
		return a.planCampaign(camp, folder, f)
	}
	if !storeGiven {
		f.store = filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(folder.Dir()))), app.DefaultStore)
	}
	st, err := a.app.OpenStore(f.store)
	if err != nil {
		return err
	}
	defer st.Close()
	resume := ""
	if f.goOn {
		if resume, err = campaignRun(st, camp, doc, b); err != nil {
			return err
		}
		if resume != "" {
			f.stopFrom = told(folder)
		}
	}
	stop := verdictSet(f.stopOn)
	f.stop = func(o *campaign.Outcome) bool {
		return stop[camp.Verdict(o)]
	}
	job := a.job(&f.runFlags)
	job.Cases = 0 // the campaign has as many as were asked for
	c := app.Compiled{Docs: []app.Document{doc}, Campaigns: []campaign.Any{erased}, Sources: []string{doc.Path}}
	rec, runErr := a.app.RunCompiled(ctx, c, b, set, resume, job)
	if rec.RunID == "" {
		return runErr
	}
	seen, err := a.writeCampaign(st, camp, folder, rec, f.cases)
	if err != nil {
		return errors.Join(runErr, err)
	}
	f.screen = func(io.Writer, campaign.Record) error { return nil } // the campaign's own lines say it
	if _, err := a.report(rec, &f.runFlags); err != nil {
		return err
	}
	for _, x := range rec.Findings {
		fmt.Fprintf(a.io.Err, "%s %s %s: %s (%s)\n", x.ID, x.Severity, x.Kind, printable(x.Title), diag.Plural(x.Cases, "case"))
	}
	switch {
	case rec.Stopped == run.StoppedInterrupted:
		fmt.Fprintln(a.io.Err, "interrupted; nothing is lost. Go on with the same command and --resume")
		return exitError(diag.ExitInterrupted)
	case runErr != nil:
		return runErr
	}
	for v := range verdictSet(f.failOn) {
		if seen[v] {
			return exitError(diag.ExitFindings)
		}
	}
	return nil
}

// planCampaign writes every case without running it.
func (a *application) planCampaign(camp *fuzzspec.Campaign, folder fuzzspec.CampaignFolder, f *campaignFlags) error {
	now := time.Now()
	var failed error
	lines := func(yield func(fuzzspec.CaseLine) bool) {
		for i := range camp.Planned() {
			l, err := camp.PlanCase(f.start+i, now)
			if err != nil {
				failed = err
				return
			}
			if !yield(l) {
				return
			}
		}
	}
	if err := folder.Write(camp.SpecText(), f.cases, now, lines); err != nil {
		return err
	}
	return failed
}

// writeCampaign writes the campaign's files from the journal of its run, and
// returns the verdicts that were met. Cases that were in flight when the run
// was stopped are left out, as they are from its record.
func (a *application) writeCampaign(st *store.Store, camp *fuzzspec.Campaign, folder fuzzspec.CampaignFolder, rec campaign.Record, asked int64) (map[string]bool, error) {
	j, err := st.OpenJournal(rec.RunID)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	seen := make(map[string]bool)
	var lines iter.Seq[fuzzspec.CaseLine] = func(yield func(fuzzspec.CaseLine) bool) {
		left := rec.Campaigns[0].Cases.Run
		for x := range run.Outcomes(j, 0) {
			if left--; left < 0 {
				return
			}
			l := camp.Line(x.Case, &x.Outcome, j.Manifest().Created.Add(x.At))
			seen[l.Verdict] = true
			if !yield(l) {
				return
			}
		}
	}
	if err := folder.Write(camp.SpecText(), asked, time.Now(), lines); err != nil {
		return nil, err
	}
	_, _, err = folder.Triage(fuzzspec.TriageOptions{TopK: fuzzspec.DefaultTopK}, true, false)
	return seen, err
}
