package pyhost

import "testing"

func TestFault(t *testing.T) {
	f := &Fault{Class: "json.decoder.JSONDecodeError", Bases: []string{"json.decoder.JSONDecodeError", "ValueError"}, Message: "line one\nline two", File: "a.py", Line: 3}
	if got, want := f.String(), "a.py:3: json.decoder.JSONDecodeError: line one line two"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if !f.Is("ValueError") || f.Is("TypeError") || (*Fault)(nil).Is("ValueError") || (*Fault)(nil).String() != "" {
		t.Error("Is")
	}
	if got := (&FaultError{Doing: "load x", Fault: &Fault{Class: "KeyError"}}).Error(); got != "load x: KeyError" {
		t.Errorf("%q", got)
	}
}
