package match

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// Options say how a pattern is read, and bound its searches.
type Options struct {
	ASCII      bool          // re.ASCII
	IgnoreCase bool          // re.IGNORECASE
	Multiline  bool          // re.MULTILINE
	DotAll     bool          // re.DOTALL
	Verbose    bool          // re.VERBOSE
	Timeout    time.Duration // of one search that backtracks; 0: DefaultTimeout
}

// DefaultTimeout bounds a search whose options name no limit.
const DefaultTimeout = 2 * time.Second

// ErrTimeout is wrapped by the error of a search that took too long.
var ErrTimeout = errors.New("the search took too long")

// SyntaxError says why Python would refuse a pattern.
type SyntaxError struct {
	Offset  int    // in code points from the start of the pattern
	Problem string // "nothing to repeat"
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid regular expression: %s at position %d", e.Problem, e.Offset)
}

// Pattern is a compiled pattern. It is safe for concurrent use.
type Pattern struct {
	source     string
	literal    string         // text to look for, if isLiteral
	isLiteral  bool           // the pattern is plain text
	linear     *regexp.Regexp // nil: the pattern needs to backtrack
	asciiWords bool           // linear is right only for non-empty texts of ASCII
	timeout    time.Duration

	// backtrack compiles the pattern for regexp2, once and only if needed: few
	// patterns need it, and it costs more than everything else together.
	backtrack func() (*regexp2.Regexp, error)
}

// String returns the pattern as it was given.
func (p *Pattern) String() string { return p.source }

// Compile reads a pattern. An error is always a [*SyntaxError].
func Compile(pattern string, o Options) (*Pattern, error) {
	tree, err := parse(pattern, flags{ascii: o.ASCII, fold: o.IgnoreCase, multiline: o.Multiline, dotAll: o.DotAll, verbose: o.Verbose})
	if err != nil {
		return nil, err
	}
	p := &Pattern{source: pattern, timeout: o.Timeout}
	if p.timeout <= 0 {
		p.timeout = DefaultTimeout
	}
	if p.literal, p.isLiteral = plain(tree); p.isLiteral {
		return p, nil
	}
	if linear, asciiWords, ok := emitLinear(tree); ok {
		// Go refuses only counts that make a program too large; such patterns
		// backtrack.
		if p.linear, err = regexp.Compile(linear); err != nil {
			p.linear = nil
		}
		p.asciiWords = asciiWords
	}
	p.backtrack = sync.OnceValues(func() (*regexp2.Regexp, error) {
		re, err := regexp2.Compile(emitBacktracking(tree), regexp2.None)
		if err != nil {
			return nil, fmt.Errorf("compiling regular expression %.100q: %w", pattern, err)
		}
		re.MatchTimeout = p.timeout
		return re, nil
	})
	return p, nil
}

// plain returns the text of a tree that is only text.
func plain(n *node) (string, bool) {
	var b strings.Builder
	ok := plainText(n, &b)
	return b.String(), ok
}

func plainText(n *node, b *strings.Builder) bool {
	switch n.op {
	case opSet:
		r, ok := n.set.only()
		b.WriteRune(r)
		return ok && utf8.ValidRune(r)
	case opCat, opGroup:
		return !slices.ContainsFunc(n.subs, func(s *node) bool { return !plainText(s, b) })
	}
	return false
}

// Search reports whether the pattern matches anywhere in the subject. The only
// error that a user can cause is a search that exceeds its time limit; it wraps
// [ErrTimeout]. Subjects may hold lone surrogates in the form of
// engine/jsontree.
func (p *Pattern) Search(subject string) (bool, error) {
	if p.isLiteral {
		return strings.Contains(subject, p.literal), nil
	}
	if p.linear != nil {
		if p.asciiWords && subject != "" && isASCII(subject) || !p.asciiWords && utf8.ValidString(subject) {
			return p.linear.MatchString(subject), nil
		}
	}
	re, err := p.backtrack()
	if err != nil {
		return false, err
	}
	found, err := re.MatchRunes(decode(subject))
	if err != nil {
		// The engine's own message repeats the whole subject.
		return false, fmt.Errorf("regular expression %.100q gave no answer within %v: %w", p.source, p.timeout, ErrTimeout)
	}
	return found, nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// anyTexts are texts that have as little in common as possible.
var anyTexts = sync.OnceValue(func() []string {
	var all strings.Builder
	for b := range byte(128) {
		all.WriteByte(b)
	}
	all.WriteString("éß한글\u2028")
	return []string{"", "x", "\n\n", "7 _", all.String() + all.String(), strings.Repeat("seven of nine\n", 300)}
})

// Vacuous reports whether the pattern surely matches any text: the empty one,
// those that have nothing in common, and its own source. It is never sure of a
// pattern with negative look-around or counts.
func (p *Pattern) Vacuous() bool {
	for _, not := range []string{"(?!", "(?<!", "{"} {
		if strings.Contains(p.source, not) {
			return false
		}
	}
	for _, text := range append(anyTexts(), p.source+p.source) {
		if hit, err := p.Search(text); err != nil || !hit {
			return false
		}
	}
	return true
}
