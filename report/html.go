package report

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"slices"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/markup"
)

//go:embed page
var pageFiles embed.FS

// detailed is how many findings, most severe first, the page shows in full.
const (
	detailed = 200
	// detailedAlso is how many further findings of one cause it shows in full, and told how many
	// cases it shows with their evidence.
	detailedAlso = 10
	told         = 200
)

// page is the content of the single file: the run and its findings.
type page struct {
	*RunView
	CSS      markup.Raw
	Script   markup.Raw
	Policy   string // content security policy
	Findings []FindingView
	Rest     []FindingView // as rows of a table
	Rails    []Rail
	Cases    []caseView
	Untold   int64 // further cases with evidence
}

// caseView is a case with stored evidence.
type caseView struct {
	Case
	Anchor   string
	Exhibits []Exhibit
}

func writeHTML(w io.Writer, rec campaign.Record, opt Options) error {
	t, err := Parts()
	if err != nil {
		return err
	}
	p, err := pageOf(&rec, opt)
	if err != nil {
		return err
	}
	if err := t.ExecuteTemplate(w, "page.tmpl", p); err != nil {
		return fmt.Errorf("write html report of run %s: %w", rec.RunID, err)
	}
	return nil
}

func pageOf(rec *campaign.Record, opt Options) (*page, error) {
	css, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return nil, fmt.Errorf("read the page's style: %w", err)
	}
	script, err := pageFiles.ReadFile("page/page.js")
	if err != nil {
		return nil, fmt.Errorf("read the page's script: %w", err)
	}
	d := &drawer{left: evidenceBudget, folder: originOf(rec).Folder}
	cases, untold, err := casesOf(opt)
	if err != nil {
		return nil, fmt.Errorf("read the cases of run %s: %w", rec.RunID, err)
	}
	if opt.CaseLink == nil {
		opt.CaseLink = linksWithin(rec, cases)
	}
	groups := causes(opt.Since.ordered(rec))
	p := &page{
		RunView: runViewOf(rec, len(rec.Findings), len(groups), opt, d),
		CSS:     markup.Raw(css), Script: markup.Raw(script),
		Policy: "default-src 'none'; style-src " + sourceHash(css) + "; script-src " + sourceHash(script) + "; base-uri 'none'; form-action 'none'",
	}
	p.Rails = Rails(rec, rec.Findings, func(ids []string, _ string) string { return "#" + brief(ids[0]) })
	for i, group := range groups {
		v := findingViewOf(group[0], opt)
		for _, f := range group[1:] {
			also := findingViewOf(f, opt)
			v.Also = append(v.Also, &also)
		}
		if i >= detailed {
			p.Rest = append(p.Rest, v)
			continue
		}
		v.detail(opt, d)
		for _, also := range v.Also[:min(len(v.Also), detailedAlso)] {
			also.detail(opt, d)
		}
		p.Findings = append(p.Findings, v)
	}
	// Cases get the part of the page's budget that the findings leave.
	for i := range cases {
		v := caseView{Case: cases[i], Anchor: anchorOf(&cases[i])}
		for k := range v.Evidence {
			v.Exhibits = append(v.Exhibits, d.exhibit(&v.Evidence[k]))
		}
		p.Cases = append(p.Cases, v)
	}
	p.Untold = untold
	return p, nil
}

// causes groups findings by cause.
func causes(fs []*campaign.Finding) [][]*campaign.Finding {
	return campaign.ByCause(fs, func(f *campaign.Finding) string { return f.Group })
}

// casesOf returns the first cases with evidence, and how many more there are.
func casesOf(opt Options) (list []Case, more int64, err error) {
	if opt.Cases == nil {
		return nil, 0, nil
	}
	for c, err := range opt.Cases {
		switch {
		case err != nil:
			return nil, 0, err
		case len(c.Evidence) == 0:
		case len(list) < told:
			list = append(list, c)
		default:
			more++
		}
	}
	return list, more, nil
}

func anchorOf(c *Case) string { return fmt.Sprintf("case-%d-%d", c.Campaign, c.Index) }

// linksWithin returns a function that links a case to the finding that begins with it, or else to
// the case's own section.
func linksWithin(rec *campaign.Record, cases []Case) func(contract, campaign string, index int64) string {
	finding := findingLinks(rec)
	anchors := make(map[string]bool, len(cases))
	for i := range cases {
		anchors[anchorOf(&cases[i])] = true
	}
	return func(contract, name string, index int64) string {
		if to := finding(contract, name, index); to != "" {
			return to
		}
		for k := range rec.Campaigns {
			if c := &rec.Campaigns[k]; c.Contract == contract && c.Name == name {
				if to := anchorOf(&Case{Campaign: k, Index: index}); anchors[to] {
					return "#" + to
				}
			}
		}
		return ""
	}
}

// findingLinks returns a function that links a case to the finding that begins with it. It links a
// case named by a cell of a matrix to the finding that has it.
func findingLinks(rec *campaign.Record) func(contract, campaign string, index int64) string {
	type first struct {
		contract, campaign string
		index              int64
	}
	at, there := make(map[first]string, len(rec.Findings)), make(map[string]bool)
	for i := len(rec.Findings) - 1; i >= 0; i-- { // backwards, so that the first finding wins
		f := &rec.Findings[i]
		at[first{f.Contract, f.Campaign, f.First}], there[f.ID] = "#"+brief(f.ID), true
	}
	for i := range rec.Campaigns { // cases in matrices link to the findings that have them
		c := &rec.Campaigns[i]
		for k := range c.Exhibits {
			if c.Exhibits[k].Matrix == nil {
				continue
			}
			for _, x := range slices.Concat(c.Exhibits[k].Matrix.Cells...) {
				if x.Case != nil && there[x.Finding] && at[first{c.Contract, c.Name, *x.Case}] == "" {
					at[first{c.Contract, c.Name, *x.Case}] = "#" + brief(x.Finding)
				}
			}
		}
	}
	return func(contract, campaign string, index int64) string { return at[first{contract, campaign, index}] }
}

// sourceHash returns the name of an inline style or script in a content security policy.
func sourceHash(content []byte) string {
	sum := sha256.Sum256(content)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
