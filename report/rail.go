package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// Rail is a campaign's matrix beside the findings. Its cells, rows and columns link to their
// findings.
type Rail struct {
	Title   string
	Columns []RailPart
	Rows    []RailRow
	Note    string // says that the matrix is cut
}

// RailRow is a row and its cells.
type RailRow struct {
	RailPart
	Cells []RailPart
}

// RailPart is a cell, or the name of a row or column.
type RailPart struct {
	Name, Class string // class of a cell: "held", "broke" or "gone"
	Said        string // a cell's content, for screen readers
	Link        string // "": there is no finding
	Show, What  string // ids of findings, and what they have in common
}

// Limits of the matrices beside findings.
const (
	railCap     = 3
	railColumns = 16
	railRows    = 40
)

// Rails returns the matrices whose cells have findings. link returns the link to the findings with
// the given ids; what describes them for people.
func Rails(rec *campaign.Record, findings []campaign.Finding, link func(ids []string, what string) string) []Rail {
	var out []Rail
	for i := range rec.Campaigns {
		c := &rec.Campaigns[i]
		first, there := make(map[int64][]string), make(map[string]bool)
		for k := range findings {
			if f := &findings[k]; f.Contract == c.Contract && f.Campaign == c.Name {
				first[f.First], there[f.ID] = append(first[f.First], f.ID), true
			}
		}
		for k := range c.Exhibits {
			if m := c.Exhibits[k].Matrix; m != nil && len(out) < railCap {
				of := func(c campaign.MatrixCell) []string {
					if !there[c.Finding] || slices.Contains(first[*c.Case], c.Finding) {
						return first[*c.Case]
					}
					return append([]string{c.Finding}, first[*c.Case]...)
				}
				if r, leads := railOf(m, of, link); leads {
					r.Title = c.Exhibits[k].Title
					out = append(out, r)
				}
			}
		}
	}
	return out
}

func railOf(m *campaign.Matrix, of func(campaign.MatrixCell) []string, link func(ids []string, what string) string) (r Rail, leads bool) {
	part := func(name, what string, ids []string) RailPart {
		each := make(map[string]bool)
		ids = slices.DeleteFunc(ids, func(id string) bool {
			twice := each[id]
			each[id] = true
			return twice
		})
		p := RailPart{Name: name, Show: strings.Join(ids, " "), What: what}
		if len(ids) > 0 {
			p.Link, leads = link(ids, what), true
		}
		return p
	}
	names, note := firstOf(m.Rows, railRows, "row")
	columns, more := firstOf(m.Columns, railColumns, "column")
	r.Note = strings.Trim(note+"; "+more, "; ")
	ofColumn := make([][]string, len(columns))
	for i, name := range names {
		var row RailRow
		var ofRow []string
		for j, column := range columns {
			c, ok := cellAt(m, i, j)
			var ids []string
			if ok && c.Case != nil {
				ids = of(c)
			}
			p := part("", name+" in "+column, ids)
			switch {
			case !ok:
				p.Class, p.Said = "gone", cmp.Or(c.Note, "no result")
			case c.Hits < c.Total:
				p.Class, p.Said = "broke", count(c.Hits)+" of "+count(c.Total)
			default:
				p.Class, p.Said = "held", count(c.Hits)+" of "+count(c.Total)
			}
			ofRow, ofColumn[j] = append(ofRow, ids...), append(ofColumn[j], ids...)
			row.Cells = append(row.Cells, p)
		}
		row.RailPart = part(name, name, ofRow)
		r.Rows = append(r.Rows, row)
	}
	for j, column := range columns {
		r.Columns = append(r.Columns, part(column, column, ofColumn[j]))
	}
	return r, leads
}
