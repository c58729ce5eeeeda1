package run

import (
	"fmt"
	"slices"
	"strings"
)

// hint is advice with the campaigns that give it.
type hint struct {
	text  string
	names []string
}

func (r *runner) advise(name, text string) {
	i := slices.IndexFunc(r.hints, func(h hint) bool { return h.text == text })
	if i < 0 {
		i, r.hints = len(r.hints), append(r.hints, hint{text: text})
	}
	r.hints[i].names = appendNew(r.hints[i].names, name)
}

// advice returns the hints. Each names its campaigns, since it may be false of the others.
func (r *runner) advice() []string {
	var list []string
	for _, h := range r.hints {
		names := strings.Join(h.names[:min(len(h.names), namesShown)], ", ")
		if more := len(h.names) - namesShown; more > 0 {
			names = fmt.Sprintf("%s and %d more", names, more)
		}
		list = append(list, names+": "+h.text)
	}
	return list
}
