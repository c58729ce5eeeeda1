package report

import (
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// Inputs that were made from text are shown as text, with what was changed
// marked in both; a dump is for the others.
func TestBytesThatAreText(t *testing.T) {
	row := func(label, data string) campaign.BytesRow { return campaign.BytesRow{Label: label, Data: []byte(data)} }
	marked := func(r textRow) (out []string) {
		for _, p := range r.Parts {
			for _, m := range p.Text.Marks {
				out = append(out, p.Text.Body[m.From:m.To])
			}
		}
		return out
	}
	for _, c := range []struct {
		name string
		rows []campaign.BytesRow
		want string // what is marked in each row; "dump" for none
	}{
		{"replaced", []campaign.BytesRow{row("seed", "size = 10\n"), row("case", "size = \x8d0\n"), row("minimized", "=\x8d")}, "1/\x8d/\x8d"},
		{"put in", []campaign.BytesRow{row("seed", "ab"), row("case", "aXb")}, "/X"},
		{"taken out", []campaign.BytesRow{row("seed", "a\nb"), row("case", "ab")}, "\n/"},
		{"whole characters", []campaign.BytesRow{row("seed", "가"), row("case", "각")}, "가/각"},
		{"alone", []campaign.BytesRow{row("minimized", "loop")}, ""},
		{"binary seed", []campaign.BytesRow{row("seed", "\x00\x01"), row("case", "ab")}, "dump"},
		{"binary case", []campaign.BytesRow{row("seed", "ab"), row("case", strings.Repeat("\x00\xff", 20))}, "dump"},
		{"nothing", []campaign.BytesRow{row("seed", "")}, "dump"},
		{"a part", []campaign.BytesRow{{Data: []byte("ab"), Start: 5}}, "dump"},
	} {
		rows := textRows(&campaign.Bytes{Rows: c.rows})
		var got []string
		for _, r := range rows {
			got = append(got, strings.Join(marked(r), ","))
		}
		if rows == nil {
			got = []string{"dump"}
		}
		if s := strings.Join(got, "/"); s != c.want {
			t.Errorf("%s: marked %q, want %q", c.name, s, c.want)
		}
	}
	rows := textRows(&campaign.Bytes{Rows: []campaign.BytesRow{row("seed", "a\nb"), row("case", "ab")}})
	if r := rows[0].Parts[0].Runs; len(r) != 4 || r[1] != (run{`\n`, true, "changed"}) || r[2] != (run{"\n", false, ""}) {
		t.Errorf("an end of a line that was taken out: %+v", r)
	}
	long := strings.Repeat("same\n", 20)
	rows = textRows(&campaign.Bytes{Rows: []campaign.BytesRow{row("seed", long+"a=1\n"+long), row("case", long+"a=2\n"+long)}})
	if p := rows[1].Parts; len(p) != 3 || p[0].Gone != 17 || p[2].Gone != 17 || strings.Count(p[1].Text.Body, "\n") != 7 || marked(rows[1])[0] != "2" {
		t.Errorf("equal lines: %+v", p)
	}
	rows = textRows(&campaign.Bytes{Rows: []campaign.BytesRow{row("seed", long+"a\n"+long), row("case", "same\nsame\nsame\nsame\na\n"+long)}})
	if p := rows[1].Parts; len(p) != 2 || p[1].Gone != 17 || strings.Count(p[0].Text.Body, "\n") != 8 {
		t.Errorf("lines around what was taken out: %+v", p)
	}
	rows = textRows(&campaign.Bytes{Rows: []campaign.BytesRow{row("seed", long), row("case", long[:50]+"put in\n"+long[50:])}})
	if p := rows[0].Parts; len(p) != 3 || p[0].Gone == 0 || p[1].Gone != 0 {
		t.Errorf("lines around the place of what was put in: %+v", p)
	}
}

// A column that no row has anything in says nothing on a page.
func TestEmptyColumnsAreNotDrawn(t *testing.T) {
	e := campaign.Exhibit{Kind: "table", Title: "Steps", Table: &campaign.Table{
		Columns: []string{"#", "actor", "action", "measured"}, Rows: [][]string{{"1", "", "add", ""}, {"2", "", "lend", ""}}, Focus: []int{1}, Numeric: []bool{true, false, false, true},
	}}
	v := DrawExhibit(&e).Table
	if strings.Join(v.Columns, ",") != "#,action" || strings.Join(v.Rows[1], ",") != "2,lend" || !v.Numeric[0] || v.Numeric[1] || v.Focus[0] != 1 {
		t.Errorf("%+v", v)
	}
}
