package spectest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/thresh-dev/thresh/engine/lazy"
)

// redaction is a place in an output that may vary: all matches of its pattern count as equal.
type redaction struct {
	name    string
	pattern *regexp.Regexp
}

type redactions []redaction

// redactionName matches a name that a page may write between < and >.
var redactionName = lazy.Pattern(`^[A-Za-z][A-Za-z0-9_-]*$`)

func (r *redactions) add(name, pattern string) error {
	if !redactionName().MatchString(name) {
		return fmt.Errorf("%q is not a name of a redaction: letters, digits, - and _", name)
	}
	p, err := regexp.Compile(pattern)
	if err != nil {
		return fmt.Errorf("%q is not a regular expression: %w", pattern, err)
	}
	if p.MatchString("") {
		return fmt.Errorf("%q matches the empty text, and so everywhere", pattern)
	}
	*r = append(*r, redaction{name, p})
	return nil
}

// builtIn are the redactions available to every page.
var builtIn = map[string]string{
	"version": `v?\d+(?:\.\d+)+(?:[-+~][0-9A-Za-z.+~-]*)?`,
	"path":    `(?:~|\.{1,2})?/[^\s:;,'"()<>]*|[A-Za-z]:\\[^\s:;,'"()<>]*`,
	"number":  `[-+]?\d[\d,_]*(?:\.\d+)?`,
	"time":    `\d+(?:\.\d+)? ?(?:ns|us|µs|ms|s|min|m|h)(?: ?\d+(?:\.\d+)? ?(?:ms|s|min|m))*|\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?: ?[AaPp][Mm])?`,
	"date":    `\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[-+]\d\d:?\d\d)?)?`,
	"hex":     `[0-9a-f]{6,}`,
	"uuid":    `[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`,
}

// redacted replaces the parts of an output line that may vary with names.
func (r redactions) redacted(line string) string {
	for _, x := range r {
		line = x.pattern.ReplaceAllLiteralString(line, "<"+x.name+">")
	}
	return strings.TrimRight(line, " \t")
}

// hole matches a placeholder for part of a line.
var hole = lazy.Pattern(`\[\.\.\]|<[A-Za-z][A-Za-z0-9_-]*>`)

// lineMatcher returns a function that reports whether a printed line matches a line of a page.
func (r redactions) lineMatcher(want string) func(got string) bool {
	plain := r.redacted(want)
	var pattern *regexp.Regexp
	if hole().MatchString(plain) {
		var b strings.Builder
		b.WriteString(`^(?s:`)
		at := 0
		for _, m := range hole().FindAllStringIndex(plain, -1) {
			b.WriteString(regexp.QuoteMeta(plain[at:m[0]]))
			name := plain[m[0]:m[1]]
			switch body, known := builtIn[strings.Trim(name, "<>")]; {
			case name == "[..]":
				b.WriteString(`.*`)
			case known:
				b.WriteString(`(?:` + regexp.QuoteMeta(name) + `|` + body + `)`)
			default:
				b.WriteString(regexp.QuoteMeta(name))
			}
			at = m[1]
		}
		b.WriteString(regexp.QuoteMeta(plain[at:]) + `)$`)
		pattern = regexp.MustCompile(b.String()) // of quoted text and the patterns above
	}
	return func(got string) bool {
		if got == want {
			return true
		}
		line := r.redacted(got)
		if line == plain {
			return true
		}
		return pattern != nil && (pattern.MatchString(line) || pattern.MatchString(strings.TrimRight(got, " \t")))
	}
}

// isDots reports whether a line of a page stands for any number of lines.
func isDots(l string) bool { return strings.TrimSpace(l) == "..." }

// matched reports whether printed lines match those of a page.
func (r redactions) matched(want, got []string) bool {
	is := make([]func(string) bool, len(want))
	for i, w := range want {
		if !isDots(w) {
			is[i] = r.lineMatcher(w)
		}
	}
	// at[j]: the lines of the page so far match the first j printed ones.
	at := make([]bool, len(got)+1)
	at[0] = true
	for i := range want {
		next := make([]bool, len(got)+1)
		reached := false
		for j := range at {
			switch {
			case is[i] == nil:
				reached = reached || at[j]
				next[j] = reached
			case j < len(got) && at[j] && is[i](got[j]):
				next[j+1] = true
			}
		}
		at = next
	}
	return at[len(got)]
}

// maxAligned limits the pairs of lines that are compared to align two texts.
const maxAligned = 4 << 20

// mendedLine is a line of a corrected page.
type mendedLine struct {
	text string
	keep int // the unchanged line of the page; -1: none
}

// repair returns the corrected lines of a page: correct ones stay, with their wildcards, others
// become the printed ones. The second list is the output, with the page's line in each place that
// is wrong.
func (r redactions) repair(want, got []string) (mended []mendedLine, page []string) {
	n, m := len(want), len(got)
	if n*m > maxAligned {
		for _, g := range got {
			mended = append(mended, mendedLine{g, -1})
		}
		return mended, want
	}
	const hit, instead, miss = 4, 1, -1
	is := make([]func(string) bool, n)
	for i, w := range want {
		if !isDots(w) {
			is[i] = r.lineMatcher(w)
		}
	}
	same := make([]bool, n*m)
	best := make([][]int32, n+1)
	best[n] = make([]int32, m+1)
	for j := m - 1; j >= 0; j-- {
		best[n][j] = best[n][j+1] + miss
	}
	for i := n - 1; i >= 0; i-- {
		best[i] = make([]int32, m+1)
		for j := m; j >= 0; j-- {
			if is[i] == nil {
				best[i][j] = best[i+1][j]
				if j < m {
					best[i][j] = max(best[i][j], best[i][j+1])
				}
				continue
			}
			best[i][j] = best[i+1][j] + miss
			if j == m {
				continue
			}
			best[i][j] = max(best[i][j], best[i][j+1]+miss, best[i+1][j+1]+instead)
			if same[i*m+j] = is[i](got[j]); same[i*m+j] {
				best[i][j] = max(best[i][j], best[i+1][j+1]+hit)
			}
		}
	}
	for i, j := 0, 0; i < n || j < m; {
		switch {
		case i < n && is[i] == nil && best[i][j] == best[i+1][j]:
			mended = append(mended, mendedLine{want[i], i})
			i++
		case i < n && is[i] == nil: // it stands for one more line
			page = append(page, got[j])
			j++
		case i < n && j < m && same[i*m+j] && best[i][j] == best[i+1][j+1]+hit:
			mended, page = append(mended, mendedLine{want[i], i}), append(page, got[j])
			i, j = i+1, j+1
		case i < n && j < m && best[i][j] == best[i+1][j+1]+instead:
			mended, page = append(mended, mendedLine{got[j], -1}), append(page, want[i])
			i, j = i+1, j+1
		case j < m && best[i][j] == best[i][j+1]+miss:
			mended = append(mended, mendedLine{got[j], -1})
			j++
		default:
			page = append(page, want[i])
			i++
		}
	}
	return mended, page
}
