package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// basis is what a campaign was asked to do. Two runs with one basis differ only in the
// program under test, so a finding that only one of them has says something about that
// program.
type basis struct {
	Identity string `json:"identity,omitempty"`
	Document string `json:"document,omitempty"` // digest of its text
	Settings string `json:"settings,omitempty"` // digest of seed, number of cases and options
	Inputs   string `json:"inputs,omitempty"`   // digest of the files that documents name, except modules
}

// basis returns the basis of a campaign of the run.
func (m *Manifest) basis(c *campaign.CampaignRecord) basis {
	b := basis{Identity: c.Identity, Settings: settingsDigest(m.Settings, "strict")}
	var texts, inputs []string
	for _, s := range m.Specs {
		if s.Path == c.Source {
			texts = append(texts, s.text())
		}
	}
	if len(texts) > 0 {
		b.Document = digestOf(texts)
	}
	for path, blob := range m.Files {
		if ext := filepath.Ext(path); ext != ".wasm" && ext != ".wat" { // the program under test
			inputs = append(inputs, blob)
		}
	}
	slices.Sort(inputs)
	b.Inputs = digestOf(inputs)
	return b
}

// text identifies the text of a document.
func (r SpecRef) text() string {
	if r.Digest != "" || r.Part == nil {
		return cmp.Or(r.Digest, r.Blob)
	}
	return fmt.Sprintf("%s %d %d", r.Blob, r.Part.From, r.Part.Size)
}

// settingsDigest skips settings that change no case.
func settingsDigest(raw json.RawMessage, neutral ...string) string {
	var set map[string]json.RawMessage
	if json.Unmarshal(raw, &set) != nil {
		return digestOf([]string{string(raw)})
	}
	var list []string
	for name, v := range set {
		if !slices.Contains(neutral, name) {
			list = append(list, name+"="+string(v))
		}
	}
	slices.Sort(list)
	return digestOf(list)
}

func digestOf(list []string) string {
	sum := sha256.Sum256([]byte(strings.Join(list, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// comparable reports whether two runs asked the same of a campaign.
func (c *outlined) comparable(d *outlined) bool {
	return c.Contract == d.Contract && c.Name == d.Name && c.Settings == d.Settings &&
		(c.Identity == d.Identity || c.Document != "" && c.Document == d.Document && c.Inputs == d.Inputs)
}

// record returns what is known of the campaign's record without its exhibits.
func (c *outlined) record() *campaign.CampaignRecord {
	return &campaign.CampaignRecord{Contract: c.Contract, Name: c.Name, Source: c.Source, Identity: c.Identity, Cases: c.Cases}
}

// of returns a campaign of the run that is comparable with c; nil: there is none.
func (k *entry) of(c *outlined) *outlined {
	if at := slices.IndexFunc(k.Each, func(d outlined) bool { return c.comparable(&d) }); at >= 0 {
		return &k.Each[at]
	}
	return nil
}

// covers reports whether k has a comparable campaign for each campaign of run.
func (k *entry) covers(run *entry) bool {
	return len(run.Each) > 0 && !slices.ContainsFunc(run.Each, func(c outlined) bool { return k.of(&c) == nil })
}

// asFar reports whether k got as far as run, or was stopped by the same limit.
func (k *entry) asFar(run *entry) bool {
	return k.Complete || k.Status == statusDone && k.Stopped == run.Stopped
}

// Previous returns the newest earlier run that a run can be compared with: it asked the
// same (documents, seed, number of cases, options) and ended. Without one, id is the
// nearest run and why says what keeps it from being comparable; both are "" if no earlier
// run has a campaign or document of the run.
func (s *Store) Previous(runID string) (id, why string, err error) {
	runs, at, err := s.at(runID)
	if err != nil {
		return "", "", diag.Environment("find a run to compare %s with: %w", runID, err)
	}
	run := runs[at]
	for _, k := range runs[at+1:] {
		if !k.covers(run) {
			continue
		}
		if k.asFar(run) {
			return k.RunID, "", nil
		}
		if why == "" {
			id, why = k.RunID, fmt.Sprintf("run %s did not complete", k.RunID)
		}
	}
	for _, k := range runs[at+1:] {
		if why != "" {
			break
		}
		if why = k.incomparable(run, s.settingsApart); why != "" {
			id = k.RunID
		}
	}
	return id, why, nil
}

// settingsApart lists the flags of an earlier run that a later run did not have, or had
// with another value.
func (s *Store) settingsApart(earlier, later string) string {
	var flags [2]map[string]string
	for i, id := range [...]string{earlier, later} {
		m, err := s.manifestOf(id)
		if err != nil {
			return "another seed, number of cases, system or other options"
		}
		flags[i] = flagsOf(m.Settings)
	}
	var list []string
	for name, value := range flags[0] {
		if now, given := flags[1][name]; !given || now != value {
			list = append(list, strings.TrimSpace("--"+name+" "+diag.Cut(value, 60)))
		}
	}
	for name := range flags[1] {
		if _, given := flags[0][name]; !given {
			list = append(list, "no --"+name)
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// flagsOf returns the flags that settings came from, with their values.
func flagsOf(raw json.RawMessage) map[string]string {
	var set map[string]json.RawMessage
	var options map[string][]string
	if json.Unmarshal(raw, &set) != nil || set["options"] != nil && json.Unmarshal(set["options"], &options) != nil {
		return nil
	}
	flags := make(map[string]string)
	for name, value := range set {
		if name != "options" && name != "strict" {
			flags[name] = string(value)
		}
	}
	for name, values := range options {
		if flags[name] = strings.Join(values, " "); flags[name] == "true" {
			flags[name] = ""
		}
	}
	return flags
}

// at returns the list of runs and the position of a run, named in full.
func (s *Store) at(runID string) ([]*entry, int, error) {
	runs, err := s.runList()
	if err != nil {
		return nil, 0, err
	}
	at := slices.IndexFunc(runs, func(k *entry) bool { return k.RunID == runID })
	if at < 0 {
		return nil, 0, errors.New("its journal cannot be read")
	}
	return runs, at, nil
}

// incomparable says why a run cannot be compared with a similar later one; "": they are not
// similar. apart says how their settings differ.
func (k *entry) incomparable(run *entry, apart func(earlier, later string) string) string {
	for i := range run.Each {
		c := &run.Each[i]
		for j := range k.Each {
			d := &k.Each[j]
			if c.Contract != d.Contract || c.Name != d.Name && !diag.SamePath(c.Source, d.Source) || c.comparable(d) {
				continue
			}
			switch {
			case !diag.SamePath(c.Source, d.Source):
				return fmt.Sprintf("run %s ran another document of that name, %s", k.RunID, d.Source)
			case c.Document != d.Document || c.Name != d.Name:
				return fmt.Sprintf("%s has changed since run %s", c.Source, k.RunID)
			case c.Settings != d.Settings:
				return fmt.Sprintf("run %s had %s", k.RunID, apart(k.RunID, run.RunID))
			}
			return fmt.Sprintf("files that %s names have changed since run %s", c.Source, k.RunID)
		}
	}
	for i := range run.Each {
		for j := range k.Each {
			if run.Each[i].comparable(&k.Each[j]) {
				return fmt.Sprintf("run %s ran other documents besides", k.RunID)
			}
		}
	}
	return ""
}

// Comparables returns at most limit runs that a run can be compared with, earlier and
// later, newest first.
func (s *Store) Comparables(runID string, limit int) ([]RunSummary, error) {
	runs, at, err := s.at(runID)
	if err != nil {
		return nil, diag.Environment("find runs to compare %s with: %w", runID, err)
	}
	list := []RunSummary{}
	for i, k := range runs {
		if i != at && len(list) < limit && (k.covers(runs[at]) || runs[at].covers(k)) {
			list = append(list, k.RunSummary)
		}
	}
	return list, nil
}

// Against compares a record with an earlier run of the store, named in full, for the
// campaigns that the record has.
func (s *Store) Against(earlier string, rec campaign.Record) (Comparison, error) {
	old, err := s.Brief(earlier)
	if err != nil {
		return Comparison{}, err
	}
	return s.CompareRecords(old, rec), nil
}

// CompareRecords compares a run's record with an earlier one, which may come from a report,
// for the campaigns that the later one has. Without a store, only the records are compared.
func (s *Store) CompareRecords(old, rec campaign.Record) Comparison {
	has := make(map[campaignKey]bool)
	var campaigns []campaign.CampaignRecord
	for _, p := range Counterparts(old, rec) {
		if p[0] != nil && p[1] != nil {
			campaigns = append(campaigns, *p[0])
			has[campaignKey{p[0].Contract, p[0].Name}] = true
		}
	}
	old.Campaigns = campaigns
	old.Findings = slices.DeleteFunc(slices.Clone(old.Findings), func(f campaign.Finding) bool { return !has[campaignKey{f.Contract, f.Campaign}] })
	return s.compare(old, rec)
}
