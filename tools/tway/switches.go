package main

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/thresh-dev/thresh/diag"
)

// pictSwitches are PICT's switches, which follow the model, and the equivalent flags.
var pictSwitches = []struct {
	letter, flag string
	bare         string // value if none is given; "" if one is required
	alone        bool   // it takes no value
}{
	{"o", "strength", "", false}, {"d", "separator", "", false}, {"a", "alias-separator", "", false}, {"n", "negative-prefix", "", false},
	{"e", "rows", "", false}, {"r", "seed", "random", false}, {"c", "case-sensitive", "true", true}, {"s", "format", "summary", true},
}

// switches sets the flags for PICT's switches.
func (f *flags) switches(list []string, fs *pflag.FlagSet) error {
	for _, text := range list {
		if err := f.pictSwitch(text, fs); err != nil {
			return err
		}
	}
	if len(list) > 0 && !fs.Changed("format") {
		f.format = "tsv"
	}
	return nil
}

func (f *flags) pictSwitch(text string, fs *pflag.FlagSet) error {
	letter, value, valued := strings.Cut(text, ":")
	for _, s := range pictSwitches {
		if !strings.EqualFold(letter, "/"+s.letter) || valued && (s.alone || value == "") || !valued && s.bare == "" {
			continue
		}
		if fs.Changed(s.flag) || s.flag == "strength" && f.all {
			return diag.Refused("%s says again what was said: --%s", text, s.flag)
		}
		switch {
		case !valued && s.bare == "random":
			value = strconv.FormatUint(uint64(rand.Uint32()), 10)
			f.drawn = true
		case !valued:
			value = s.bare
		case s.flag == "strength" && value == "max":
			f.all = true
			return nil
		}
		if fs.Set(s.flag, value) != nil {
			return diag.Refused("%s must have a number, got %q", letter, value)
		}
		return nil
	}
	return diag.WithHint(diag.Refused("after the model stand switches of PICT alone, got %q", text), "there are /o:N /d:CHARACTER /a:CHARACTER /n:CHARACTER /e:FILE /r[:SEED] /c and /s")
}
