package match

import (
	"strings"
	"sync"
)

// anyTexts are texts that have as little in common as texts can.
var anyTexts = sync.OnceValue(func() []string {
	var all strings.Builder
	for b := range byte(128) {
		all.WriteByte(b)
	}
	all.WriteString("éß한글\u2028")
	return []string{"", "x", "\n\n", "7 _", all.String() + all.String(), strings.Repeat("seven of nine\n", 300)}
})

// Vacuous reports whether the pattern is sure to be found in any text: in the
// empty one, in those that have nothing in common, and in its own. Of a pattern
// that looks for what is not there, or counts, it is not sure.
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
