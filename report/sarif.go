package report

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

// The types below are the part of SARIF 2.1.0 that a run fills, with the standard's names and
// required properties.

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool         `json:"tool"`
	Automation  sarifAutomation   `json:"automationDetails"`
	Invocations []sarifInvocation `json:"invocations"`
	Artifacts   []sarifArtifact   `json:"artifacts"`
	Results     []sarifResult     `json:"results"`
	ColumnKind  string            `json:"columnKind"`
	Properties  map[string]any    `json:"properties"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version,omitempty"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID         string       `json:"id"`
	Name       string       `json:"name"`
	Short      sarifMessage `json:"shortDescription"`
	Full       sarifMessage `json:"fullDescription"`
	Help       sarifMessage `json:"help"`
	Default    sarifConfig  `json:"defaultConfiguration"`
	Properties sarifTags    `json:"properties"`
}

type sarifTags struct {
	Tags []string `json:"tags"`
}

type sarifConfig struct {
	Level string `json:"level"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifAutomation struct {
	ID string `json:"id"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	CommandLine   string              `json:"commandLine,omitempty"`
	Arguments     []string            `json:"arguments,omitempty"`
	Start         string              `json:"startTimeUtc,omitempty"`
	End           string              `json:"endTimeUtc,omitempty"`
	Notifications []sarifNotification `json:"toolExecutionNotifications"`
}

type sarifNotification struct {
	Level   string       `json:"level"`
	Message sarifMessage `json:"message"`
}

type sarifArtifact struct {
	Location sarifLocation `json:"location"`
	Roles    []string      `json:"roles"`
}

type sarifLocation struct {
	URI   string `json:"uri"`
	Index *int   `json:"index,omitempty"`
}

type sarifResult struct {
	RuleID      string                `json:"ruleId"`
	RuleIndex   int                   `json:"ruleIndex"`
	Kind        string                `json:"kind"`
	Level       string                `json:"level"`
	Message     sarifMessage          `json:"message"`
	Locations   []sarifResultLocation `json:"locations"`
	Fingerprint map[string]string     `json:"partialFingerprints"`
	Occurrences int64                 `json:"occurrenceCount"`
	Properties  sarifFinding          `json:"properties"`
}

type sarifResultLocation struct {
	Physical sarifPhysical  `json:"physicalLocation"`
	Logical  []sarifLogical `json:"logicalLocations"`
}

type sarifPhysical struct {
	Artifact sarifLocation `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

type sarifLogical struct {
	Name          string `json:"name"`
	QualifiedName string `json:"fullyQualifiedName"`
}

type sarifFinding struct {
	ID        string `json:"id"`
	Severity  string `json:"severity"`
	Flaky     bool   `json:"flaky"`
	Cases     int64  `json:"cases"`
	FirstCase int64  `json:"firstCase"`
	Reproduce string `json:"reproduce"`
}

func writeSARIF(w io.Writer, rec campaign.Record, opt Options) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	log := sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{sarifOf(&rec, opt)},
	}
	if err := enc.Encode(log); err != nil {
		return fmt.Errorf("write sarif report of run %s: %w", rec.RunID, err)
	}
	return nil
}

func sarifOf(rec *campaign.Record, opt Options) sarifRun {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "Thresh", Version: rec.Environment.Version, InformationURI: "https://thresh.dev",
			Rules: []sarifRule{},
		}},
		// Readers compare results within a category: the text before the last slash.
		Automation:  sarifAutomation{"thresh/" + rec.RunID},
		Invocations: []sarifInvocation{sarifInvocationOf(rec)},
		Artifacts:   []sarifArtifact{},
		Results:     []sarifResult{},
		ColumnKind:  "utf16CodeUnits",
		Properties:  map[string]any{"digest": rec.Digest, "verdict": rec.Verdict, "complete": rec.Complete, "cases": total(rec)},
	}
	artifacts := map[string]int{}
	locate := func(source string) sarifLocation {
		at, ok := artifacts[source]
		loc := sarifLocation{URI: fileURI(source)}
		if !ok {
			at = len(run.Artifacts)
			artifacts[source] = at
			run.Artifacts = append(run.Artifacts, sarifArtifact{loc, []string{"analysisTarget"}})
		}
		loc.Index = &at
		return loc
	}
	rules := map[string]int{}
	rule := func(f *campaign.Finding) int {
		id := sarifRuleID(f)
		at, ok := rules[id]
		if !ok {
			at = len(run.Tool.Driver.Rules)
			rules[id] = at
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(id, f))
		}
		return at
	}
	by, lost := findingsByCampaign(rec)
	for i := range rec.Campaigns {
		c := &rec.Campaigns[i]
		locate(c.Source)
		for _, f := range by[i] {
			file, line := place(f, c.Source)
			run.Results = append(run.Results, sarifResultOf(f, rule(f), []sarifResultLocation{{
				sarifPhysical{locate(file), sarifRegion{max(line, 1)}},
				[]sarifLogical{{c.Name, c.Contract + "." + c.Name}},
			}}))
		}
	}
	for _, f := range lost {
		run.Results = append(run.Results, sarifResultOf(f, rule(f), []sarifResultLocation{}))
	}
	return run
}

func sarifInvocationOf(rec *campaign.Record) sarifInvocation {
	env := rec.Environment
	inv := sarifInvocation{
		Successful:  rec.Complete && (rec.Verdict == "pass" || rec.Verdict == "fail"),
		CommandLine: shellQuote(env.Command), Start: sarifTime(env.Started), End: sarifTime(env.Finished),
		Notifications: []sarifNotification{},
	}
	if len(env.Command) > 1 {
		inv.Arguments = env.Command[1:]
	}
	for _, warning := range rec.Warnings {
		inv.Notifications = append(inv.Notifications, sarifNotification{"warning", sarifMessage{visible(warning)}})
	}
	for _, s := range suites(rec) {
		for _, p := range s.Points {
			if s.Campaign != nil && p.Status == errored {
				text := s.Campaign.Contract + "/" + s.Campaign.Name + ": " + p.Name
				inv.Notifications = append(inv.Notifications, sarifNotification{"error", sarifMessage{visible(text)}})
			}
		}
	}
	if !rec.Complete {
		why := "run is not complete"
		if rec.Stopped != "" {
			why += ": " + visible(rec.Stopped)
		}
		inv.Notifications = append(inv.Notifications, sarifNotification{"error", sarifMessage{why}})
	}
	return inv
}

// sarifRuleID returns the contract and the kind, and the finding's number in a published list.
func sarifRuleID(f *campaign.Finding) string {
	id := f.Contract + "/" + f.Kind
	if list := f.Numbers(); len(list) > 0 {
		id += "/" + list[0]
	}
	return id
}

func sarifRuleOf(id string, f *campaign.Finding) sarifRule {
	about := fmt.Sprintf("A campaign of contract %s failed with a problem of kind %s.", f.Contract, f.Kind)
	short := f.Contract + ": " + f.Kind
	if list := f.Numbers(); len(list) > 0 {
		short += " (" + list[0] + ")"
		about += " It is listed as " + strings.Join(list, ", ") + "."
	}
	return sarifRule{
		ID: id, Name: strings.ReplaceAll(id, "/", "."),
		Short:      sarifMessage{short},
		Full:       sarifMessage{about},
		Help:       sarifMessage{about + " The property reproduce of a result is the command that shows it again."},
		Default:    sarifConfig{sarifLevel(f.Severity)},
		Properties: sarifTags{append([]string{f.Contract}, f.Numbers()...)},
	}
}

func sarifResultOf(f *campaign.Finding, rule int, at []sarifResultLocation) sarifResult {
	text := visible(f.Title)
	if f.Flaky {
		text += " (" + flakyLabel(f) + ")"
	}
	return sarifResult{
		RuleID: sarifRuleID(f), RuleIndex: rule, Kind: "fail", Level: sarifLevel(f.Severity),
		Message: sarifMessage{text}, Locations: at,
		Fingerprint: map[string]string{"thresh/v1": f.Fingerprint},
		Occurrences: max(f.Cases, 1),
		Properties:  sarifFinding{f.ID, f.Severity.String(), f.Flaky, f.Cases, f.First, shellQuote(f.Reproduce)},
	}
}

func sarifLevel(s campaign.Severity) string {
	switch {
	case s >= campaign.SeverityHigh:
		return "error"
	case s == campaign.SeverityMedium:
		return "warning"
	}
	return "note"
}

func sarifTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// fileURI returns a document's name as a URI reference.
func fileURI(name string) string {
	u := url.URL{Path: name}
	if strings.HasPrefix(name, "/") {
		u.Scheme = "file"
	}
	return u.String()
}
