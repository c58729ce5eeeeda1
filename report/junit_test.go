package report

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

func checkXML(t *testing.T, out string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(out))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("not XML: %v", err)
		}
	}
}

func TestJUnitCountsAddUp(t *testing.T) {
	out := write(t, "junit", richRecord(), Options{})
	checkXML(t, out)
	var all junitSuites
	if err := xml.Unmarshal([]byte(out), &all); err != nil {
		t.Fatal(err)
	}
	var tests, failures, errs, skips int
	ids := map[string]bool{}
	for _, s := range all.Suites {
		f, e, k := 0, 0, 0
		for _, c := range s.Cases {
			if id := c.Class + "\x00" + c.Name; ids[id] {
				t.Errorf("two tests are called %q", id)
			} else {
				ids[id] = true
			}
			switch {
			case c.Failure != nil:
				f++
			case c.Error != nil:
				e++
			case c.Skipped != nil:
				k++
			}
		}
		if s.Tests != len(s.Cases) || s.Failures != f || s.Errors != e || s.Skipped != k {
			t.Errorf("suite %s: counts do not add up", s.Name)
		}
		tests, failures, errs, skips = tests+s.Tests, failures+f, errs+e, skips+k
	}
	if all.Tests != tests || all.Failures != failures || all.Errors != errs || all.Skipped != skips {
		t.Error("counts of all suites do not add up")
	}
	for _, c := range all.Suites[0].Cases {
		if c.Line == 1 { // nothing in this record says where a finding stands
			t.Errorf("%s: a line that nobody knows", c.Name)
		}
	}
	if failures != 4 {
		t.Errorf("%d failures for 4 findings", failures)
	}
}

func TestJUnitFailureHoldsTheReproduction(t *testing.T) {
	out := write(t, "junit", richRecord(), Options{})
	for _, want := range []string{
		`<failure type="crash" message="heap-buffer-overflow in parse_xref">`,
		"ERROR: AddressSanitizer",
		"reproduce: thresh replay F-1a2b3c4d --store 'it'\\''s here'",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q", want)
		}
	}
}

func TestJUnitKeepsHostileTextWellFormed(t *testing.T) {
	checkXML(t, write(t, "junit", hostileRecord(), Options{}))
}
