package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/run/triage"
	"github.com/thresh-dev/thresh/store"
)

// revived is a stored campaign, compiled again. Once opened, it is ready to execute cases.
type revived struct {
	campaign campaign.Any
	index    int
	state    any
	exec     campaign.Executor[any] // nil: not opened
	call     *run.Caller            // for a finding that shows only after its case; else nil
	life     campaign.Life
	journal  *store.Journal // nil: not compiled as stored
	source   string         // the document
	settings Settings
	changed  []string // programs that have changed
}

// revive compiles the campaign with that contract and name of a stored run again, and opens a cold
// lane for it. Without a name, the run must have only one campaign.
func (a *App) revive(ctx context.Context, st *store.Store, runID, contract, name string) (*revived, error) {
	r, err := a.recompile(ctx, st, runID, contract, name)
	if err != nil {
		return nil, err
	}
	if err = startedHere(r.journal.Manifest()); err == nil {
		err = a.open(ctx, r)
	}
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// recompile is revive without a lane: it does not touch the target.
func (a *App) recompile(ctx context.Context, st *store.Store, runID, contract, name string) (*revived, error) {
	j, err := st.OpenJournal(runID)
	if err != nil {
		return nil, err
	}
	c, set, changed, err := a.Stored(ctx, st.Blob, j.Manifest())
	if err != nil {
		j.Close()
		return nil, err
	}
	r := &revived{journal: j, settings: set, changed: changed}
	for k, x := range c.Campaigns {
		id := x.Identity()
		if name != "" && (id.Contract != contract || id.Name != name) {
			continue
		}
		if name == "" && len(c.Campaigns) > 1 {
			j.Close()
			return nil, diag.Refused("run %s has %d campaigns; name a finding", runID, len(c.Campaigns))
		}
		r.campaign, r.index, r.source = x, k, c.Sources[k]
		return r, nil
	}
	j.Close()
	return nil, diag.Refused("run %s has no campaign %q", runID, name)
}

// open opens a cold lane.
func (a *App) open(ctx context.Context, r *revived) (err error) {
	for _, p := range r.changed {
		a.note("note: %s has changed since run %s", p, r.journal.Manifest().RunID)
	}
	if r.state, err = run.FirstState(r.campaign, r.index, r.journal); err != nil {
		return err
	}
	if r.exec, err = campaign.Solo(campaign.WithLife(ctx, &r.life), r.campaign, campaign.Lane{Of: 1, Cold: true}); err != nil {
		return diag.Environment("starting the target: %w", err)
	}
	return nil
}

func (r *revived) execute(ctx context.Context, c campaign.Case) (campaign.Outcome, error) {
	if r.call != nil {
		return r.call.Execute(ctx, r.state, c)
	}
	return r.exec.Execute(ctx, r.state, c)
}

func (r *revived) close() (err error) {
	if r.exec != nil {
		err = r.exec.Close()
	}
	if r.journal != nil {
		err = errors.Join(err, r.journal.Close())
	}
	return err
}

// payload returns the smallest input stored for a finding.
func payload(st *store.Store, f campaign.Finding) (campaign.Case, error) {
	if len(f.Samples) == 0 {
		return campaign.Case{}, fmt.Errorf("finding %s keeps no case", f.ID)
	}
	c, blob := f.Samples[0].Case, f.Samples[0].Blob
	if f.Minimized != nil && f.Minimized.Verified {
		blob = f.Minimized.Blob
	}
	if blob == "" {
		return c, nil
	}
	data, err := st.Blob(blob)
	if err != nil {
		return c, fmt.Errorf("reading the input of finding %s back: %w", f.ID, err)
	}
	if data == nil {
		data = []byte{}
	}
	c.Payload = data
	return c, nil
}

// Replayed is the result of running a finding again.
type Replayed struct {
	RunID   string
	Finding campaign.Finding
	Rerun   campaign.Rerun
	Now     string // title of what the case shows now, if it differs
}

// ReplayJob says how to run a finding again.
type ReplayJob struct {
	Times int // at least 1; flaky findings are run at least ten times
	// AsStored uses the document that was stored with the run, even if it has changed since.
	AsStored bool
	System   string // system file that replaces the run's own system; "": none
}

// Replay runs the smallest reproducer of a stored finding again, with the current document or, if
// that is gone, with the stored one.
func (a *App) Replay(ctx context.Context, st *Store, finding string, job ReplayJob) (Replayed, error) {
	rec, f, err := st.Finding(finding)
	if err != nil {
		return Replayed{}, err
	}
	out := Replayed{RunID: rec.RunID, Finding: f}
	r, err := a.recompile(ctx, st, rec.RunID, f.Contract, f.Campaign)
	if err != nil {
		return out, err
	}
	defer r.close()
	at, err := payload(st, f)
	if err != nil {
		return out, err
	}
	m := r.journal.Manifest()
	now := false // the current document is used
	if !job.AsStored {
		changed, err := changedSince(st, m, r.source, r.settings.Options)
		if err != nil {
			return out, err
		}
		if _, err := os.Stat(r.source); err != nil {
			a.note("note: %s; the case runs under the stored document", cmp.Or(startedHere(m), fmt.Errorf("%s no longer exists", r.source)))
		} else if now = len(changed) > 0; now {
			a.note("note: %s changed since run %s; the case runs under the current document (--as-stored uses the stored one)", strings.Join(changed, ", "), rec.RunID)
		}
	}
	if now || job.System != "" {
		other, same, err := a.recompiled(ctx, st, r, at, &f, now, job.System)
		if err != nil {
			return out, err
		}
		defer other.close()
		r, at = other, same
	} else if err := a.open(ctx, r); err != nil {
		return out, err
	}
	r.watch(&f)
	times := job.Times
	if f.Flaky {
		times = max(times, 10)
	}
	conf, err := triage.Confirm(ctx, r.execute, f.Contract, at, f.Fingerprint, times)
	if err != nil {
		return out, diag.Environment("running case %d again: %w", at.Index, err)
	}
	if conf.Rerun.Same == 0 && job.System == "" {
		if err := startedHere(m); err != nil {
			return out, err
		}
	}
	if conf.Rerun.Errors > 0 && conf.Rerun.Same == 0 {
		return out, diag.Environment("running case %d again: %s", at.Index, conf.Outcome.Title)
	}
	out.Rerun = conf.Rerun
	switch x, ok := campaign.As[campaign.Refiner](r.campaign); {
	case conf.Rerun.Same == 0 && len(conf.Observed) > 0:
		out.Now = conf.Outcome.Title
	case ok && conf.Rerun.Same > 0 && (f.Minimized == nil || f.Minimized.Size == f.Minimized.From):
		if out.Now, _ = x.Refine(conf.Outcome.Title, f.Severity, conf.Outcome); out.Now == f.Title {
			out.Now = ""
		}
	}
	return out, nil
}

// RunCase runs one case of a stored campaign again, and returns its outcome and exhibits. Without a
// name, the run must have only one campaign. A system file, if given, replaces the run's system.
func (a *App) RunCase(ctx context.Context, st *Store, runID, contract, name string, index int64, system string) (campaign.Outcome, []campaign.Exhibit, error) {
	r, err := a.recompile(ctx, st, runID, contract, name)
	if err != nil {
		return campaign.Outcome{}, nil, err
	}
	defer r.close()
	c, state, err := run.CaseAt(ctx, r.campaign, r.index, r.journal, index)
	if err != nil {
		return campaign.Outcome{}, nil, diag.Refused("%w", err)
	}
	if system != "" {
		other, same, err := a.recompiled(ctx, st, r, c, nil, false, system)
		if err != nil {
			return campaign.Outcome{}, nil, err
		}
		defer other.close()
		r, c, state = other, same, other.state
	} else if err := a.open(ctx, r); err != nil {
		return campaign.Outcome{}, nil, err
	}
	o, err := r.exec.Execute(ctx, state, c)
	if err != nil {
		return campaign.Outcome{}, nil, diag.Environment("running case %d: %w", index, err)
	}
	if o.Verdict != campaign.VerdictFail && system == "" {
		if err := startedHere(r.journal.Manifest()); err != nil {
			return campaign.Outcome{}, nil, err
		}
	}
	var shown []campaign.Exhibit
	if d, ok := campaign.As[campaign.Describer[any]](r.campaign); ok {
		shown = d.Describe(state, c, o, nil)
	}
	return o, shown, nil
}

// Shrunk is the result of minimizing a finding further.
type Shrunk struct {
	Finding       campaign.Finding
	Still         bool   // false: the finding no longer shows, and nothing was changed
	Before, After int64  // size of the reproducer
	Unit          string // what sizes count: "byte", "step", ...
	Tries         int    // executions spent
}

// Shrink continues from the smallest stored reproducer of a finding. A smaller
// one is verified and replaces it in the stored run.
func (a *App) Shrink(ctx context.Context, st *Store, finding string, budget int) (Shrunk, error) {
	rec, f, err := st.Finding(finding)
	if err != nil {
		return Shrunk{}, err
	}
	out := Shrunk{Finding: f}
	if f.Kind == campaign.KindNondeterminism {
		return out, diag.Refused("%s reports that equal cases have different outcomes; no single case shows that, so there is nothing to shrink", f.ID)
	}
	r, err := a.revive(ctx, st, rec.RunID, f.Contract, f.Campaign)
	if err != nil {
		return out, err
	}
	defer r.close()
	reducer, ok := campaign.As[campaign.Reducer](r.campaign)
	if !ok {
		return out, diag.Refused("%s findings cannot be made smaller", f.Contract)
	}
	c, err := payload(st, f)
	if err != nil {
		return out, err
	}
	before := c.Payload
	r.watch(&f)
	red, err := triage.Reduce(ctx, reducer, r.execute, f.Contract, f.Fingerprint, c, triage.Budget{Tries: budget})
	if err != nil {
		return out, diag.Environment("making %s smaller: %w", f.ID, err)
	}
	if red.NoResult {
		return out, diag.Environment("making %s smaller: no run of it had a result", f.ID)
	}
	if !red.Verified {
		return out, nil
	}
	out.Still, out.Tries = true, red.Tries
	out.Before, out.After, out.Unit = int64(len(before)), int64(len(red.Payload)), "byte"
	if g := campaign.GaugeFrom(ctx, r.campaign, red.Payload, before); g != nil && g.Unit != "" {
		out.Before, out.After, out.Unit = g.From, g.Size, g.Unit
	}
	return out, run.SaveMinimized(ctx, st, rec, f, c, red, r.campaign, r.state)
}

// Promote writes a finding as a regression test into a new folder below to, and
// returns the names of the files.
func (a *App) Promote(ctx context.Context, st *Store, finding, to string) ([]string, error) {
	rec, f, err := st.Finding(finding)
	if err != nil {
		return nil, err
	}
	if f.Kind == campaign.KindNondeterminism {
		return nil, diag.Refused("%s reports that equal cases have different outcomes; a test of one of them would sometimes pass", f.ID)
	}
	r, err := a.revive(ctx, st, rec.RunID, f.Contract, f.Campaign)
	if err != nil {
		return nil, err
	}
	defer r.close()
	p, ok := campaign.As[campaign.Promoter](r.campaign)
	if !ok {
		return nil, isTest(&f)
	}
	at, err := payload(st, f)
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(filepath.Join(to, f.ID))
	if err != nil {
		return nil, fmt.Errorf("finding the folder %s: %w", to, err)
	}
	payloads := [][]byte{at.Payload}
	for _, s := range f.Samples {
		if s.Blob == "" {
			continue
		}
		b, err := st.Blob(s.Blob)
		if err != nil {
			return nil, err
		}
		payloads = append(payloads, b)
	}
	files, err := p.Promote(ctx, f, payloads, folder)
	if err != nil {
		return nil, err
	}
	if err := WriteFiles(folder, files); err != nil {
		return nil, err
	}
	if why := f.Uncertain(); why != "" {
		a.note("note: %s %s", f.ID, why)
	}
	return seq.Map(files, func(x campaign.File) string { return filepath.Join(to, f.ID, filepath.FromSlash(x.Name)) }), nil
}

// IsFinding reports whether an id is that of a finding and not of a run.
func IsFinding(what string) bool {
	_, f, qualified := strings.Cut(what, "/")
	if !qualified {
		f = what
	}
	return strings.HasPrefix(f, "F-")
}

// Raw returns the bytes stored as a part of a finding: "minimized" or "input".
func (a *App) Raw(st *Store, finding, part string) ([]byte, error) {
	_, f, err := st.Finding(finding)
	if err != nil {
		return nil, err
	}
	blob := ""
	switch part {
	case "minimized":
		if f.Minimized == nil {
			return nil, diag.WithHint(diag.Refused("finding %s has no minimized input", f.ID), "thresh shrink "+f.ID)
		}
		blob = f.Minimized.Blob
	case "input":
		if len(f.Samples) > 0 {
			blob = f.Samples[0].Blob
		}
		if blob == "" {
			return nil, diag.Refused("finding %s keeps no input", f.ID)
		}
	default:
		return nil, diag.Refused("the part of a finding must be minimized or input, got %q", part)
	}
	return st.Blob(blob)
}

// Materialize runs a case of a run, or the first case of a finding, again and returns the folder
// with the case as files.
func (a *App) Materialize(ctx context.Context, st *Store, what string, index int64) (string, error) {
	contract, name := "", ""
	if IsFinding(what) {
		rec, f, err := st.Finding(what)
		if err != nil {
			return "", err
		}
		if index != 0 && index != f.First {
			return "", diag.Refused("a finding's files are those of its first case, %d; for case %d name the run, %s", f.First, index, rec.RunID)
		}
		what, index = rec.RunID, f.First
		contract, name = f.Contract, f.Campaign
	}
	id, err := st.ResolveRun(what)
	if err != nil {
		return "", err
	}
	r, err := a.revive(ctx, st, id, contract, name)
	if err != nil {
		return "", err
	}
	defer r.close()
	c, state, err := run.CaseAt(ctx, r.campaign, r.index, r.journal, index)
	if err != nil {
		return "", diag.Refused("%w", err)
	}
	m, ok := campaign.As[campaign.Materializer[any]](r.campaign)
	if !ok {
		return "", diag.Refused("the cases of this format cannot be written out as files")
	}
	folder, err := m.Materialize(ctx, state, c)
	if err != nil && diag.ExitCode(err) != diag.ExitRefused {
		err = diag.Environment("writing case %d out: %w", index, err)
	}
	return folder, err
}

// WriteFiles writes files below dir, each atomically.
func WriteFiles(dir string, files []campaign.File) error {
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return diag.Environment("making a folder for %s: %w", path, err)
		}
		mode := os.FileMode(0o644)
		if f.Exec {
			mode = 0o755
		}
		if err := WriteWhole(path, f.Data, mode); err != nil {
			return diag.Environment("writing %s: %w", path, err)
		}
	}
	return nil
}
