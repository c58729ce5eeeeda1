package fuzzspec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/bytemut"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// advice suggests the deep mutators for structured seeds: the reference mutators flip, cut and
// append bytes, and a program mostly rejects such structured input before it reads it.
func (c *Campaign) advice(s *state) []string {
	if c.set.auto {
		return []string{c.set.chose}
	}
	what := structure(c.seed)
	if c.set.deep || c.set.text || s.failed > 0 || what == "" {
		return nil
	}
	return []string{fmt.Sprintf("the reference mutators found nothing, and the seed %s: --mutators deep changes such inputs "+
		"by their structure (numbers, tokens, JSON, XML, blocks, dictionaries), and --mutators auto chooses by the seed", what)}
}

// surroundings matches variables that programs expect but cases do not have.
var surroundings = lazy.Pattern(`\b(HOME|PATH|LANG|LC_[A-Z]+|TMPDIR|USER|LOGNAME|SHELL|TERM|TZ|DISPLAY|LD_LIBRARY_PATH|XDG_[A-Z_]+|[A-Z]+_HOME)\b|(?i:home directory)`)

// missingVariable is the environment variable that a program complains about; "": none.
func missingVariable(stderr []byte) string {
	found := surroundings().FindSubmatch(stderr)
	if found == nil {
		return ""
	}
	if len(found[1]) == 0 {
		return "HOME"
	}
	return string(found[1])
}

// shadowRefused is what sanitizers print when a limit on address space refuses them the memory that
// they reserve at the start.
var shadowRefused = lazy.Pattern(`Perhaps you're using ulimit -v|Sanitizer failed to allocate 0x[0-9a-f]+ .*errno: 12|can not mmap the shadow memory|address_range\.Init`)

// choose resolves --mutators auto by the seed: text operators for prose, otherwise the deep
// mutators, which detect structure themselves. Only the deep mutators use dictionaries and further
// seeds.
func (s *settings) choose(seed []byte, fed bool) {
	what := structure(seed)
	derived := ""
	if fields := bytemut.Describe(bytemut.Derived(seed)); fields != "" && !s.guided {
		derived = "; values that follow from other bytes of the seed are recomputed for each case: " + fields
	}
	switch {
	case s.guided, fed:
		s.chose = "auto chose the deep mutators: only they use what was given in addition to the seed" + derived
		if s.guided {
			s.chose = "auto chose the deep mutators: a guided campaign has no others"
		}
	case what == "" && prose(seed):
		s.deep, s.text, s.chose = false, true, "auto chose the text mutators: the seed is prose"
	case what == "":
		s.chose = "auto chose the deep mutators: the seed shows no structure, so bytes, integers and blocks are changed"
	default:
		s.chose = "auto chose the deep mutators: the seed " + what + derived
	}
}

// prose reports whether a text reads like sentences: words, spaces and little else.
func prose(seed []byte) bool {
	if !utf8.Valid(seed) || len(bytes.Fields(seed)) < 4 {
		return false
	}
	letters, all := 0, 0
	for _, r := range string(seed[:min(len(seed), 1<<16)]) {
		if all++; unicode.IsLetter(r) || r == ' ' || r == '\n' || strings.ContainsRune(".,;:!?'", r) {
			letters++
		}
	}
	return letters*10 >= all*9
}

// magic lists the first bytes of well-known file formats; magicWord covers the many that begin with
// capitals.
var magic = []string{"\x89PNG", "\x7fELF", "\xff\xd8\xff", "\x1f\x8b", "\x00asm", "PK\x03\x04", "OggS", "fLaC", "MThd"}

var magicWord = lazy.Pattern(`^[%#!]?[A-Z][A-Z0-9]{2}`)

func hasMagic(seed []byte) bool {
	begins := func(m string) bool { return strings.HasPrefix(string(seed), m) }
	return magicWord().Match(seed) || slices.ContainsFunc(magic, begins)
}

// structure describes the evidence of structure in an input; "": none.
func structure(seed []byte) string {
	const most = 1 << 20 // larger seeds are not parsed for a hint
	if len(seed) > most {
		if hasMagic(seed[:64]) {
			return "begins with a magic number"
		}
		return ""
	}
	text := strings.TrimLeft(string(seed), "\ufeff \t\r\n")
	switch {
	case strings.HasPrefix(text, "{") || strings.HasPrefix(text, "["):
		if json.Valid([]byte(text)) {
			return "is JSON"
		}
	case strings.HasPrefix(text, "<") && (strings.HasPrefix(text, "<?xml") || strings.HasSuffix(strings.TrimSpace(text), ">")):
		return "is XML or HTML"
	case hasMagic(seed):
		return "begins with a magic number"
	}
	if len(bytemut.Derived(seed)) > 0 {
		return "holds lengths or checksums"
	}
	return ""
}
