package app

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/report"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/run/triage"
)

// ShardOption is the option, "I/N", that restricts a run to a part of its cases.
const ShardOption = "shard"

// shardOf returns this job's share of the documents. Formats that have the option split their cases
// themselves; documents of other formats are dealt out whole, in turn.
func shardOf(docs []Document, options map[string][]string) ([]Document, error) {
	given := options[ShardOption]
	if len(given) == 0 {
		return docs, nil
	}
	i, n, err := parseShard(given[len(given)-1])
	if err != nil {
		return nil, err
	}
	var mine []Document
	whole := 0
	for _, d := range docs {
		if !slices.ContainsFunc(d.Contract.Options(), func(o campaign.Option) bool { return o.Name == ShardOption }) {
			if whole++; (whole-1)%n != i-1 {
				continue
			}
		}
		mine = append(mine, d)
	}
	return mine, nil
}

// Merged is several runs combined into one.
type Merged struct {
	Record campaign.Record
	runs   []campaign.Record
	places [][]int  // for each run: the indices of its campaigns in the record
	stored []bool   // whether the run is in the store
	shards []string // for each run: the part of the work that it is, I/N; "": all of it
}

// Merge merges runs into one record: the newest run of each named store, which it copies into the
// store dir, and runs from JSON reports.
func (a *App) Merge(dir string, names []string) (Merged, error) {
	var m Merged
	st, err := a.OpenStore(dir)
	if err != nil {
		return m, err
	}
	defer st.Close()
	for _, name := range names {
		rec, stored, err := a.mergeable(st, name)
		if err != nil {
			return m, err
		}
		if i := slices.IndexFunc(m.runs, func(r campaign.Record) bool { return r.RunID == rec.RunID && r.Digest == rec.Digest }); i >= 0 {
			return m, diag.Refused("%s holds run %s, which %s holds too", name, rec.RunID, names[i])
		}
		shard := shardIn(rec.Environment.Command)
		if stored {
			if shard, err = shardOfRun(st, rec.RunID); err != nil {
				return m, err
			}
		}
		m.runs, m.stored, m.shards = append(m.runs, rec), append(m.stored, stored), append(m.shards, shard)
	}
	m.join(dir)
	return m, nil
}

func (a *App) mergeable(st *Store, name string) (rec campaign.Record, stored bool, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return rec, false, diag.Refused("%s: %s", name, Reason(err))
	}
	if info.Mode().IsRegular() {
		b, err := reported(name)
		if err != nil {
			return rec, false, err
		}
		return b.record, false, nil
	}
	from, err := a.OpenStore(name)
	if err != nil {
		return rec, false, err
	}
	defer from.Close()
	if rec, err = from.Record("latest"); err != nil {
		return rec, false, err
	}
	return rec, true, st.Import(from, rec.RunID)
}

// join builds the record. It merges campaigns of the same name and equal findings.
func (m *Merged) join(dir string) {
	out := campaign.Record{Verdict: "pass", Complete: true, Findings: []campaign.Finding{}, Warnings: []string{}}
	sum := sha256.New()
	var ids, hints []string
	warn := func(text string) {
		if !slices.Contains(out.Warnings, text) {
			out.Warnings = append(out.Warnings, text)
		}
	}
	for i, r := range m.runs {
		ids = append(ids, r.RunID)
		sum.Write([]byte(r.Digest))
		if worse := []string{"pass", "error", "fail"}; slices.Index(worse, r.Verdict) > slices.Index(worse, out.Verdict) {
			out.Verdict = r.Verdict
		}
		if out.Complete = out.Complete && r.Complete; !r.Complete && out.Stopped == "" {
			out.Stopped = r.Stopped
		}
		places := make([]int, len(r.Campaigns))
		for k, c := range r.Campaigns {
			c.Name = nameIn(out.Campaigns, c)
			at := slices.IndexFunc(out.Campaigns, func(x campaign.CampaignRecord) bool {
				return x.Contract == c.Contract && x.Name == c.Name && oneDocument(x, c)
			})
			if places[k] = at; at < 0 {
				places[k] = len(out.Campaigns)
				out.Campaigns = append(out.Campaigns, c)
				continue
			}
			if x := &out.Campaigns[at]; x.Score != nil || c.Score != nil {
				warn(fmt.Sprintf("%s %s: parts of one campaign have no common score; the runs' own reports have theirs", c.Contract, c.Name))
			}
			addCampaign(&out.Campaigns[at], c)
		}
		m.places = append(m.places, places)
		for _, f := range r.Findings {
			if m.stored[i] {
				ReplayHere(dir, &f)
			}
			k := slices.IndexFunc(r.Campaigns, func(c campaign.CampaignRecord) bool { return c.Contract == f.Contract && c.Name == f.Campaign })
			reproduceBy(&f, r.RunID+"/"+f.ID)
			if k >= 0 && f.Campaign != out.Campaigns[places[k]].Name { // its id is that of a run of all documents
				f.Campaign = out.Campaigns[places[k]].Name
				f.ID = triage.FindingID(campaign.Identity{Contract: f.Contract, Name: f.Campaign}, f.Fingerprint)
				if f.Group != "" {
					f.Group += " in " + f.Campaign
				}
			}
			addFinding(&out, f)
		}
		for _, w := range r.Warnings {
			warn(w)
		}
		hints = append(hints, r.Hints...)
		addEnvironment(&out.Environment, r.Environment, i == 0)
	}
	for i, n := 0, idsInRuns(out.Findings); i < len(out.Findings); i++ {
		if f := &out.Findings[i]; len(f.Reproduce) > 0 {
			if _, id, _ := strings.Cut(f.Reproduce[len(f.Reproduce)-1], "/"); n[id] == 1 { // the run need not be named
				reproduceBy(f, id)
			}
		}
	}
	if list := m.absent(); len(list) > 0 {
		warn(diag.Plural(len(list), "part") + " of the work missing: no run of --shard " + strings.Join(list, ", "))
		if out.Complete = false; out.Verdict == "pass" {
			out.Verdict = "error"
		}
		out.Stopped = cmp.Or(out.Stopped, run.StoppedFatal)
	}
	slices.Sort(hints)
	out.Hints = slices.Compact(hints)
	out.RunID, out.Digest = strings.Join(ids, "+"), hex.EncodeToString(sum.Sum(nil))
	m.Record = out
}

// absent returns the parts, I/N, that no run is, if other parts of N are there.
func (m *Merged) absent() (list []string) {
	there := make(map[int]map[int]bool) // parts by their number
	for _, word := range m.shards {
		if word == anyShard {
			return nil
		}
		i, n, err := parseShard(word)
		if err != nil {
			continue
		}
		if there[n] == nil {
			there[n] = make(map[int]bool)
		}
		there[n][i] = true
	}
	for _, n := range slices.Sorted(maps.Keys(there)) {
		for i := 1; i <= n && len(list) < maxAbsent; i++ {
			if !there[n][i] {
				list = append(list, fmt.Sprintf("%d/%d", i, n))
			}
		}
	}
	return list
}

const maxAbsent = 20 // parts that are named

// anyShard stands for a part that the report of a resumed run does not name.
const anyShard = "?"

// shardOfRun returns the part of the work that a stored run is; "": all of it.
func shardOfRun(st *Store, runID string) (string, error) {
	j, err := st.OpenJournal(runID)
	if err != nil {
		return "", err
	}
	defer j.Close()
	var set Settings
	if raw := j.Manifest().Settings; len(raw) == 0 {
		return "", nil
	} else if err := json.Unmarshal(raw, &set); err != nil {
		return "", diag.Environment("the settings of run %s cannot be read: %w", runID, err)
	}
	return strings.Join(set.Options[ShardOption], ""), nil
}

// shardIn returns the part of the work that a command line asks for; "": all of it.
func shardIn(command []string) string {
	if slices.Contains(command, "--resume") {
		return anyShard
	}
	for at, word := range command {
		if value, found := strings.CutPrefix(word, "--"+ShardOption+"="); found {
			return value
		}
		if word == "--"+ShardOption && at+1 < len(command) {
			return command[at+1]
		}
	}
	return ""
}

func parseShard(word string) (i, n int, err error) {
	first, of, _ := strings.Cut(word, "/")
	i, ierr := strconv.Atoi(first)
	n, nerr := strconv.Atoi(of)
	if ierr != nil || nerr != nil || i < 1 || i > n {
		return 0, 0, diag.Refused("--%s must be I/N with 1 <= I <= N, such as 2/5, got %q", ShardOption, word)
	}
	return i, n, nil
}

// nameIn returns the name of a campaign in a record, where a campaign of another document may have
// its name: findings of two documents are not one.
func nameIn(list []campaign.CampaignRecord, c campaign.CampaignRecord) string {
	i := slices.IndexFunc(list, func(x campaign.CampaignRecord) bool { return x.Contract == c.Contract && x.Name == c.Name })
	if i < 0 || oneDocument(list[i], c) {
		return c.Name
	}
	return nameBeside(c.Name, c.Source, list[i].Source)
}

// oneDocument reports whether campaigns of one name are of one document. If their name is a path,
// see [diag.DocumentName], it says so whatever the jobs typed.
func oneDocument(x, c campaign.CampaignRecord) bool {
	named := func(source string) bool { return strings.HasSuffix("/"+filepath.ToSlash(source), "/"+c.Name) }
	return x.Source == c.Source || named(x.Source) && named(c.Source)
}

func addCampaign(x *campaign.CampaignRecord, c campaign.CampaignRecord) {
	x.Cases.Plus(c.Cases)
	x.Score, x.ScoreInterval, x.Parts = nil, nil, nil
	x.Exhibits = slices.Concat(x.Exhibits, c.Exhibits)
	x.Figures = slices.Clone(x.Figures)
	for _, f := range c.Figures {
		if i := slices.IndexFunc(x.Figures, func(y campaign.Figure) bool { return y.Name == f.Name }); i >= 0 {
			x.Figures[i].Value += f.Value
			continue
		}
		x.Figures = append(x.Figures, f)
	}
}

// addFinding adds a finding to the record. If another run has it too, addFinding adds up the cases
// and keeps the finding with the smaller input.
func addFinding(out *campaign.Record, f campaign.Finding) {
	i := slices.IndexFunc(out.Findings, func(x campaign.Finding) bool { return x.ID == f.ID })
	if i < 0 {
		out.Findings = append(out.Findings, f)
		return
	}
	x := &out.Findings[i]
	cases := x.Cases + f.Cases
	if f.Minimized != nil && (x.Minimized == nil || f.Minimized.Size < x.Minimized.Size) || x.Flaky && !f.Flaky {
		*x = f
	}
	x.Cases = cases
}

// idsInRuns counts findings by the id that they have in their runs, which the commands that reproduce
// them name.
func idsInRuns(list []campaign.Finding) map[string]int {
	n := make(map[string]int)
	for _, f := range list {
		if len(f.Reproduce) > 0 {
			_, id, _ := strings.Cut(f.Reproduce[len(f.Reproduce)-1], "/")
			n[id]++
		}
	}
	return n
}

// reproduceBy names the finding anew in the command that reproduces it.
func reproduceBy(f *campaign.Finding, name string) {
	if n := len(f.Reproduce); n > 0 {
		f.Reproduce = append(slices.Clone(f.Reproduce[:n-1]), name)
	}
}

func addEnvironment(e *campaign.Environment, b campaign.Environment, first bool) {
	if first {
		*e = b
		e.Root, e.Extra, e.Progress, e.Notes = "", nil, nil, slices.Clone(b.Notes)
		return
	}
	if b.Started.Before(e.Started) {
		e.Started = b.Started
	}
	if b.Finished.After(e.Finished) {
		e.Finished = b.Finished
	}
	e.Seconds += b.Seconds
	e.Workers += b.Workers
	e.Rate += b.Rate
	for _, n := range b.Notes {
		if !slices.Contains(e.Notes, n) {
			e.Notes = append(e.Notes, n)
		}
	}
}

// Cases returns the cases of the merged runs that are in the store, for a report format.
func (m *Merged) Cases(a *App, st *Store, format string) report.Cases {
	parts := make([]report.Cases, len(m.runs))
	for i, r := range m.runs {
		if m.stored[i] {
			parts[i] = a.Cases(st, r, format)
		}
	}
	if !slices.ContainsFunc(parts, func(c report.Cases) bool { return c != nil }) {
		return nil
	}
	return func(yield func(report.Case, error) bool) {
		for i, cases := range parts {
			if cases == nil {
				continue
			}
			for c, err := range cases {
				if err == nil {
					c.Campaign = m.places[i][c.Campaign]
				}
				if !yield(c, err) {
					return
				}
			}
		}
	}
}
