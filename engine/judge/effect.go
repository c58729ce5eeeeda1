package judge

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Words in the names of tools: those of calls that change something, and those
// of calls that look something up, whatever the method of the request is.
var (
	effects = strings.Fields(`add approve assign book buy cancel charge checkout close confirm create debit delete deploy deposit drop email execute
		grant insert invite issue mail notify order orders pay payment payments payout place post publish purchase refund refunds register release remove reserve
		reservation reservations revoke schedule send ship sms submit subscribe tickets transfer transfers unsubscribe update upload withdraw write bookings charges messages emails`)
	lookups = strings.Fields(`answer ask balance calculate check classify convert count detect embed embeddings estimate extract fetch find get graphql
		health history info list login lookup parse ping preview predict query quote read retrieve rpc score search session sessions show similar status
		suggest summarize token tokenize tokens translate validate verify view weather`)
	wordBreak = regexp.MustCompile(`[^a-z0-9]+`)
	camel     = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	keyName   = regexp.MustCompile(`(?i)idempot|dedup|request[-_]?id|client[-_]?(?:token|reference|id)|nonce|transaction[-_]?id|operation[-_]?id`)
)

// effect reports whether a call changes something when it is performed, so that
// performing it twice is twice the effect: as declared, or else by its method and
// the words of its name.
func (t *Trace) effect(e *Event) bool {
	if changes, declared := t.Effects.Of(e.Name); declared && e.Kind == Tool {
		return changes
	}
	if e.Kind != Tool || e.Method == "GET" || e.Method == "HEAD" || e.Method == "OPTIONS" || e.Method == "PUT" || e.Method == "DELETE" {
		return false // what is asked for may be asked for again
	}
	return ChangesByName(e.Name)
}

// ChangesByName reports whether the words of a tool's name say that a call
// changes something.
func ChangesByName(tool string) bool {
	words := wordBreak.Split(strings.ToLower(camel.ReplaceAllString(tool, "${1}_${2}")), -1)
	changes := slices.ContainsFunc(words, func(w string) bool { return slices.Contains(effects, w) })
	return changes && !slices.Contains(lookups, words[0])
}

// keyed reports whether a server can tell that the second of two equal calls is
// the first one again.
func keyed(first, again *Event) bool {
	return first.Key != "" && first.Key == again.Key || keyName.Match(again.Arguments)
}

// repeated looks for effects that were asked for again though the first call may
// have been performed.
func repeated(t Trace) []Problem {
	var list []Problem
	for i := range t.Events {
		e := &t.Events[i]
		if !t.effect(e) || !e.Lost() || e.Source == InChat {
			continue
		}
		for k := i + 1; k < len(t.Events); k++ {
			n := &t.Events[k]
			if n.Kind == Tool && n.Source == e.Source && n.Turn == e.Turn && n.Name == e.Name && n.Method == e.Method && string(n.Arguments) == string(e.Arguments) && !keyed(e, n) {
				list = append(list, Problem{e.Name, fmt.Sprintf("%s was called again with the same arguments after its reply was lost (%s), without an idempotency key", e.Name, lostBy(e))})
				break
			}
			if n.Kind == Tool && t.lookup(n) {
				break // it may have looked whether the call was performed
			}
		}
	}
	return list
}

// lookup reports whether a call looks something up and got an answer.
func (t *Trace) lookup(e *Event) bool { return !t.effect(e) && !e.Failed() }

func lostBy(e *Event) string {
	if e.Error != "" {
		return "no whole answer"
	}
	return fmt.Sprintf("status %d", e.Status)
}

// Words of replies, in English.
var (
	claim = regexp.MustCompile(`(?i)\b(?:has|have|was|were|is|are|been|i've|i have|successfully|all)\s+(?:now |just |also |already |been |successfully )*` +
		`(?:booked|charged|refunded|sent|cancelled|canceled|created|updated|completed|processed|confirmed|paid|ordered|shipped|scheduled|transferred|placed|submitted|registered|reserved|issued|approved|deleted|removed|purchased|done|set|successful)\b` +
		`|"(?:status|result|state|outcome)"\s*:\s*"(?:success|succeeded|ok|done|completed|confirmed|paid|booked|refunded)"|"(?:ok|success|succeeded)"\s*:\s*true` +
		`|(?i)\b(?:booked|charged|refunded|paid|sent|done|confirmed)\s*[.!]`)
	doubt = regexp.MustCompile(`(?i)\bnot\b|n't\b|n’t\b|cannot|unable|fail|error|sorry|unavailable|unsuccessful|try again|problem|issue|pending|unclear|unknown|uncertain|unfortunately|could be|may have|might|later|if\b|down\b|timed? ?out|no longer|without success|manual|support|declined|rejected|refused|"(?:ok|success)"\s*:\s*false`)
)

// falseSuccess looks for replies that claim what the last call of its kind did
// not bring.
func falseSuccess(t Trace) []Problem {
	var list []Problem
	for i := range t.Events {
		r := &t.Events[i]
		if r.Kind != Reply || !claim.MatchString(r.Text) || doubt.MatchString(r.Text) {
			continue
		}
		last := make(map[string]*Event)
		var order []string
		succeeded := false
		for k := range t.Events[:i] {
			e := &t.Events[k]
			if e.Turn != r.Turn || !t.effect(e) || e.Source == InChat {
				continue
			}
			if last[e.Name] == nil {
				order = append(order, e.Name)
			}
			last[e.Name] = e
			succeeded = succeeded || !e.Failed()
		}
		if succeeded {
			continue // the claim may be about that
		}
		for _, name := range order {
			e := last[name]
			why := "no whole answer"
			if e.Status >= 400 {
				why = fmt.Sprintf("status %d", e.Status)
			}
			list = append(list, Problem{name, fmt.Sprintf("the reply claims success after every call of %s failed, the last with %s", name, why)})
		}
	}
	return list
}
