package fuzzspec

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/crash"
	"github.com/thresh-dev/thresh/port/process"
)

// tailSize limits the standard error in a signature: the bytes read from the end of the file, and
// the characters kept of them.
const tailSize = 4096

// hash16 is the short digest of signatures.
func hash16(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// CrashSignature is the signature_v1 of a crash, made from the end of its standard error. nonEmpty
// reports whether the program wrote anything there.
func CrashSignature(tail, runID string, nonEmpty bool) string {
	text := NormalizeStderr(tail, runID)
	if utf8.RuneCountInString(text) > tailSize {
		text = string([]rune(text)[:tailSize])
	}
	switch {
	case text != "":
	case nonEmpty:
		text = "<stderr-nonempty>"
	default:
		text = "<no-stderr>"
	}
	return "CRASH:" + hash16(text)
}

// decode decodes UTF-8 and replaces errors as Python does: one U+FFFD for the longest prefix of a
// valid sequence, not one per byte.
func decode(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var out strings.Builder
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			size = brokenPrefix(b)
		}
		out.WriteRune(r)
		b = b[size:]
	}
	return out.String()
}

// brokenPrefix is the length, at least 1, of the longest prefix of b that begins a valid sequence;
// b itself does not begin with a complete one.
func brokenPrefix(b []byte) int {
	low, high := byte(0x80), byte(0xbf)
	switch c := b[0]; {
	case c < 0xe0 || c > 0xf4:
		return 1 // a start of two bytes would be valid with its second
	case c == 0xe0:
		low = 0xa0
	case c == 0xed:
		high = 0x9f
	case c == 0xf0:
		low = 0x90
	case c == 0xf4:
		high = 0x8f
	}
	n := 1
	for n < len(b) && low <= b[n] && b[n] <= high {
		n++
		low, high = 0x80, 0xbf
	}
	return n
}

// NormalizeStderr removes what differs between equal crashes: absolute paths, the run id and the
// amount of white space.
func NormalizeStderr(text, runID string) string {
	text = drivePaths(text)
	text = slashPaths(text)
	if runID != "" {
		text = strings.ReplaceAll(text, runID, "<RUN_ID>")
	}
	return strings.Join(strings.FieldsFunc(text, isSpace), " ")
}

// isWord reports whether r is a character of words: a letter of any script, a
// number of any kind or an underscore. Combining marks are not.
func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

// isSpace adds to Unicode's white space the four ASCII separators.
func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }

func endsPath(r rune) bool { return isSpace(r) || r == '"' || r == '\'' }

// pathEnd is the length of the run of path characters that s starts with.
func pathEnd(s string) int {
	if i := strings.IndexFunc(s, endsPath); i >= 0 {
		return i
	}
	return len(s)
}

// drivePaths replaces C:\... where the letter starts a word.
func drivePaths(s string) string {
	if !strings.Contains(s, `:\`) {
		return s
	}
	return replacePaths(s, 3, func(s string) bool {
		c := s[0] | 0x20
		return 'a' <= c && c <= 'z' && strings.HasPrefix(s[1:], `:\`)
	})
}

// slashPaths replaces /... unless a word precedes the slash.
func slashPaths(s string) string {
	return replacePaths(s, 1, func(s string) bool { return s[0] == '/' })
}

// replacePaths replaces paths that begin with a lead of so many bytes and do not follow a word.
func replacePaths(s string, lead int, begins func(string) bool) string {
	var out strings.Builder
	before := ' '
	for i := 0; i < len(s); {
		if !isWord(before) && begins(s[i:]) {
			if n := pathEnd(s[i+lead:]); n > 0 {
				out.WriteString("<PATH>")
				i += lead + n
				before, _ = utf8.DecodeLastRuneInString(s[:i])
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		out.WriteString(s[i : i+size])
		before = r
		i += size
	}
	return out.String()
}

// stackName is the attachment with the stack of a crash.
const stackName = "stack"

// stackReader returns a looker for the crash of a case: it runs the case once more, cold, and stops
// it at the crash. If that is impossible, the runner's notes say why, and the signal identifies the
// case.
func stackReader(ctx context.Context, r process.Runner, c process.Case) looker {
	return func() (*process.Crash, bool) {
		t, ok := r.(process.Tracer)
		if !ok {
			return nil, false
		}
		seen, err := t.Trace(ctx, c)
		if err != nil {
			return nil, false
		}
		return seen, true
	}
}

// stackEvidence is the stack of a crash, for display.
func stackEvidence(seen *process.Crash) campaign.Attachment {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s (a guess from the kind of crash alone)\n", seen.Kind, seen.Hint)
	if seen.By == "" {
		b.WriteString("no code of the program's own is on the stack\n")
	} else {
		fmt.Fprintf(&b, "named by %s\n", seen.By)
	}
	for i, f := range seen.Frames {
		fmt.Fprintf(&b, "#%d %s\n", i, f)
	}
	return campaign.Attachment{Name: stackName, Data: []byte(b.String())}
}

// toldApart names what distinguishes a crash from others.
func toldApart(o campaign.Outcome) string {
	switch {
	case o.Kind != kindCrash || len(o.Cause) == 0:
		return ""
	case len(o.Attached(stackName)) > 0:
		return "the kind of crash and the calls on the stack"
	case slices.Contains(o.Cause, damagedBefore):
		return "a crash that the input alone does not cause: earlier cases changed what the process keeps, or overwrote its memory, which a build with -fsanitize=address shows"
	case o.Cause[0] == crash.ClassSignal:
		return "the signal and the end of standard error: no stack was read"
	}
	return "the report that the program printed"
}
