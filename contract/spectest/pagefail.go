package spectest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/textdiff"
)

// failure is the failure of the first step that failed, with all failed steps as evidence.
func (p *pageRun) failure() *Failure {
	var first *Failure
	var all strings.Builder
	failed := 0
	for i := range p.done {
		r := &p.done[i]
		if r.holds(p.c.page.rules) {
			continue
		}
		failed++
		what, diff := p.differs(r)
		shown := r.step.displayText()
		fmt.Fprintf(&all, "%s:%d: %s\n", p.x.c.name, r.step.line, strings.ReplaceAll(shown, "\n", "\n> "))
		if r.why != "" || r.lacks != "" || !r.ended() {
			all.WriteString(what + "\n")
		}
		if all.WriteString(diff); r.lacks != "" && diff == "" {
			all.WriteString("it printed:\n" + strings.Join(r.printed, "\n") + "\n")
		}
		if first != nil {
			continue
		}
		command, _, _ := strings.Cut(shown, "\n")
		first = &Failure{
			Category: Assertion, Path: fmt.Sprintf("step[%d]", i), Op: "transcript", Line: r.step.line, Col: 1,
			Message: command + ": " + what, Want: pattern(command) + " " + what,
		}
		if r.why != "" {
			first.Category, first.Want = Runtime, ""
		}
	}
	if first != nil {
		text := p.account(failed) + all.String()
		first.steps = &text
	}
	return first
}

// account summarizes the run of the page in one line.
func (p *pageRun) account(failed int) string {
	text := fmt.Sprintf("%s: %d of %s not as the page shows", p.x.c.name, failed, diag.Plural(len(p.done), "command"))
	if n := len(p.skipped); n > 0 {
		text += fmt.Sprintf(", %s not run", diag.Plural(n, "block"))
	}
	left := -p.omitted - len(p.done)
	for i := range p.c.page.acts {
		if a := &p.c.page.acts[i]; !a.background {
			left += len(a.steps)
		}
	}
	if left > 0 {
		text += fmt.Sprintf(", %s not reached", diag.Plural(left, "command"))
	}
	return text + "\n\n"
}

// differs describes how a step differs from the page.
func (p *pageRun) differs(r *ran) (what, diff string) {
	switch {
	case r.why != "":
		what = r.why
	case r.lacks != "":
		what = "to give " + r.lacks
	case !r.ended():
		what = fmt.Sprintf("to end with exit status %d, not %d", r.step.exit, r.code)
	default:
		what = "to print what the page shows"
	}
	if !p.c.page.rules.matched(r.step.want, r.printed) {
		joined := func(l []string) string {
			if len(l) == 0 {
				return ""
			}
			return strings.Join(l, "\n") + "\n"
		}
		_, page := p.c.page.rules.repair(r.step.want, r.printed)
		want, have := joined(page), joined(r.printed)
		_, diff, _ = strings.Cut(textdiff.Format("page", "printed", want, have), "+++ printed\n")
		if readsTheSame(page, r.printed) {
			diff = "differs: " + firstLine(want, have) + "\n" + diff
		}
	}
	return what, diff
}

// readsTheSame reports whether a diff of two lists of lines would show nothing: they differ only in
// order, or look alike.
func readsTheSame(page, printed []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(page)), slices.Sorted(slices.Values(printed))) ||
		slices.EqualFunc(page, printed, func(a, b string) bool { return lettersOf(a) == lettersOf(b) })
}
