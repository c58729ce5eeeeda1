package match

import "testing"

func TestVacuous(t *testing.T) {
	for pattern, want := range map[string]bool{
		"": true, "x*": true, "a|": true, "^": true, "$": true, ".*": true, "^.*": true, "[^x]*": true, "(a)?": true, `\s*`: true,
		"x": false, "x+": false, "^$": false, "^[^<]*$": false, "^(?!.*secret)": false, ".{0,5}": false, "^.{0,5}$": false, `\b`: false, `(?<!a)`: false,
	} {
		p, err := Compile(pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Vacuous(); got != want {
			t.Errorf("%q: %t", pattern, got)
		}
	}
}
