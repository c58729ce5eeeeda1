package app

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/crash"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// explain adds the source lines that a finding points to, and names its cause.
func (r *framer) explain(source string, f *campaign.Finding) {
	f.Evidence = append(f.Evidence, r.frames(source, f)...)
	if what := cmp.Or(f.Group, causeOf(f, source)); what != "" {
		sum := sha256.Sum256([]byte(f.Contract + "\x00" + f.Campaign + "\x00" + what))
		f.Group = hex.EncodeToString(sum[:8])
	}
}

// causeOf names the cause of a finding; findings with equal causes are shown as one. The cause is
// the first of these that exists:
//
//   - all that the system reported about its failure and where;
//   - the source line in which its trace ends. Different exception types raised by one line are
//     different causes, and so are two functions on a line, two reads, and a division and memory
//     accesses;
//   - the answer to a single question;
//   - its kind and the events;
//   - its smallest input.
//
// "" means that the finding shares its cause with no other.
func causeOf(f *campaign.Finding, document string) string {
	line := ""
	for i := range f.Evidence {
		if d := f.Evidence[i].Document; d != nil && d.Line > 0 && d.Name != document && line == "" {
			line = fmt.Sprintf("line\x00%s:%d", d.Name, d.Line)
			switch {
			case len(f.Cause) > 2 && (f.Cause[0] == "exception" || f.Cause[0] == "panic"):
				line += " " + f.Cause[2]
			case len(f.Cause) > 2 && f.Cause[0] == crash.ClassSignal:
				place := f.Cause[2]
				if f.Cause[1] != "read" { // one bug that damages memory may fault at several columns
					place, _, _ = strings.Cut(place, " (")
				}
				line += " " + place
			case slices.ContainsFunc(f.Cause, func(c string) bool { return divisions[c] }):
				line += " division"
			}
		}
	}
	reports := ""
	for i := range f.Evidence {
		if t := f.Evidence[i].Text; t != nil && t.ReportOf != "" {
			if said := lastWords(t.Body); said != "" {
				if line == "" {
					line = t.ReportOf
				}
				reports += "\x00" + said
			}
		}
	}
	if reports != "" {
		return "report\x00" + line + reports
	}
	if line != "" {
		return line
	}
	for i := range f.Evidence {
		if t := f.Evidence[i].Timeline; t != nil && len(t.Spans) > 0 {
			if n := len(t.Spans); n == 2 && t.Spans[0].Kind == "message" && len(strings.Fields(t.Spans[1].Note)) > 2 {
				return "answer\x00" + t.Spans[1].Note // whichever check it fails
			}
			if events, err := json.Marshal(t); err == nil {
				return "events\x00" + f.Kind + "\x00" + string(events)
			}
		}
	}
	if m := f.Minimized; m != nil && m.Verified && m.Blob != "" {
		return "input\x00" + m.Blob
	}
	return ""
}

// divisions lists the names of failed divisions, which have another cause than memory accesses on
// the same line.
var divisions = map[string]bool{"SIGFPE": true, "FPE": true, "undefined: division by zero": true}

// statusAlone matches a status without a reason: a service answers with it whatever failed.
var statusAlone = lazy.Pattern(`(?i)(?:http|status)\W*(?:<n>|\d+)\W*(?:internal server error)?\W*$|^\W*internal server error\W*$`)

// lastWords returns what a system reported about its failure, without what varies between cases; ""
// if it reported nothing.
func lastWords(report string) string {
	c := crash.Analyze(crash.Death{ExitCode: 1, Stderr: []byte(report)})
	if c.Class != crash.ClassExit {
		return c.Title
	}
	// Quoted words may come from a JSON answer rather than from an input.
	bare := strings.NewReplacer(`"`, " ", "'", " ", "`", " ").Replace(report)
	said := crash.Analyze(crash.Death{ExitCode: 1, Stderr: []byte(bare)}).Message
	if statusAlone().MatchString(said) {
		return ""
	}
	return said
}
