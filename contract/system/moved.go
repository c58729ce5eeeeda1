package system

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	judges "github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/port/sut"
)

// declined matches answers that say that nothing was changed, or not yet.
var declined = lazy.Pattern(`(?i)"(?:ok|success\w*|succeeded|done|changed|accepted|cancell?ed|closed|deleted|removed|updated)"\s*:\s*false|` +
	`"errors?"\s*:\s*["{\[]|\b(?:not|no|cannot|can't|couldn't|won't|unable|fail(?:ed|ure)?|denied|refused|declined|rejected|already|must|only|later|soon|scheduled|queued|pending|requested)\b`)

// standing matches members of an answer that hold the state of a thing. ends are verbs that end its
// current state, and deletes are verbs after which it is gone.
var (
	standing = lazy.Pattern(`(?i)^(?:\w+[-_]?)?(?:status|state|phase|stage)$`)
	ends     = strings.Fields("cancel close void abort terminate revoke deactivate suspend expire")
	deletes  = strings.Fields("delete remove destroy erase")
)

// verbOf returns what one operation does with the thing that another one shows: cancel, for
// cancel_order beside get_order and for POST /orders/{id}/cancel beside GET /orders/{id}. It is ""
// if the operations are not about the same kind of thing.
func verbOf(by, shows *sut.Operation) string {
	if by.Method != "" {
		verb, below := strings.CutPrefix(placed().ReplaceAllString(by.Path, "{}"), placed().ReplaceAllString(shows.Path, "{}")+"/")
		if !below || by.Method != "POST" || strings.Contains(verb, "/") {
			return ""
		}
		return strings.ToLower(verb)
	}
	own, other := judges.Words(by.Name), judges.Words(shows.Name)
	if len(own) < 2 || !slices.Equal(own[1:], other[1:]) {
		return ""
	}
	return own[0]
}

// claims reports whether an operation's name says that it changes what another one shows.
func claims(by, shows *sut.Operation) bool {
	if !looks(shows) || by.Reads {
		return false
	}
	verb := verbOf(by, shows)
	return verb != "" && (slices.Contains(ends, verb) || slices.Contains(deletes, verb) || judges.StateWord(verb, states(shows)) != "")
}

// looks reports whether an operation only shows something.
func looks(o *sut.Operation) bool {
	return o.Reads || o.Method == "GET" || o.Method == "" && !o.Destroys && judges.ReadsByName(o.Name)
}

// states returns the words for the state of a thing that an operation's answers may contain: the
// values of its texts, and the names of its booleans.
func states(o *sut.Operation) (words []string) {
	var visit func(name string, at json.RawMessage, depth int)
	var whole json.RawMessage
	visit = func(name string, at json.RawMessage, depth int) {
		var s struct {
			Type, Enum any
			Properties map[string]json.RawMessage
			Items      json.RawMessage
			AllOf      []json.RawMessage
			Ref        string `json:"$ref"`
		}
		if len(at) == 0 || json.Unmarshal(at, &s) != nil || depth > 6 {
			return
		}
		if s.Ref != "" {
			visit(name, pointed(whole, strings.TrimPrefix(s.Ref, "#")), depth+1)
		}
		for _, part := range s.AllOf {
			visit(name, part, depth+1)
		}
		if s.Type == "boolean" {
			words = append(words, name)
		}
		list, _ := s.Enum.([]any)
		for _, v := range list {
			if w, ok := v.(string); ok {
				words = append(words, w)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			visit(name, s.Properties[name], depth+1)
		}
		visit(name, s.Items, depth+1)
	}
	for _, status := range slices.Sorted(maps.Keys(o.Answers)) {
		if status == "0" || status[0] == '2' {
			whole = o.Answers[status]
			visit("", whole, 0)
		}
	}
	return words
}

// unmoved says how a thing is unchanged although an operation claims to have changed it: it was
// shown, changed, and shown again as o. "" means that this cannot be said: it changed, the
// operation refused or had nothing to do, or the answer does not show the change.
func unmoved(by, shows *sut.Operation, calls []done, o *sut.Observation) string {
	was, changed := &calls[0].o, &calls[1].o
	if was.End != sut.Answered || changed.End != sut.Answered || o.End != sut.Answered || o.Status >= 300 || changed.Status >= 300 ||
		changed.Status == http.StatusAccepted || declined().Match(changed.Output) || !same(was.Output, o.Output) {
		return ""
	}
	verb := verbOf(by, shows)
	if slices.Contains(deletes, verb) {
		if softly().Match(o.Output) {
			return ""
		}
		return "it is still there"
	}
	word := judges.StateWord(verb, states(shows))
	var at any
	if json.Unmarshal(o.Output, &at) != nil {
		return ""
	}
	for { // unwrap what contains only the thing
		if list, ok := at.([]any); ok && len(list) == 1 {
			at = list[0]
		} else if one, ok := at.(map[string]any); ok && len(one) == 1 {
			inner := slices.Collect(maps.Values(one))[0]
			if _, more := inner.(map[string]any); !more {
				break
			}
			at = inner
		} else {
			break
		}
	}
	thing, _ := at.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(thing)) {
		switch v := thing[name].(type) {
		case bool:
			if !v && judges.StateWord(verb, []string{strings.TrimPrefix(strings.ToLower(name), "is_")}) != "" {
				return name + " is false"
			}
		case string:
			if word != "" && slices.Contains(states(shows), v) && v != word ||
				word == "" && slices.Contains(ends, verb) && standing().MatchString(name) && judges.StateWord(verb, []string{v}) == "" {
				return name + " is " + v
			}
		}
	}
	return ""
}
