package diag

import "testing"

func TestNamesOfFilesStayOnALine(t *testing.T) {
	for want, p := range map[string]Pos{
		"a b.json":                    {File: "a b.json"},
		"a.json:2:3":                  {File: "a.json", Line: 2, Col: 3},
		`"x\nerror: all is lost":1:1`: {File: "x\nerror: all is lost", Line: 1, Col: 1},
		`"\x1b[2Jx"`:                  {File: "\x1b[2Jx"},
	} {
		if got := p.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
