package judge

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/engine/lazy"
)

// Words in the names of tools: of those that change something, of those that look something
// up, whatever the method of the request, and of those that tell others what was done.
var (
	effects = strings.Fields(`add approve assign book buy cancel charge checkout close confirm create credit debit delete deploy deposit disburse dispatch donate drop email
		execute grant insert invite issue mail notify order orders pay payment payments payout place post publish purchase redeem refund refunds register release remove renew
		reschedule reserve reservation reservations revoke schedule send ship sms submit subscribe tickets topup topups transfer transfers unsubscribe update upload withdraw
		write bookings charges messages emails hire hires rent rental rentals lend borrow enroll enrol enrollments sell trade trades bid bids dispense prescribe comment
		comments vote votes append appointment appointments invoice invoices mint wire claim claims`)
	lookups = strings.Fields(`answer ask auth authenticate balance browse calculate check classify compare compute convert count describe detect embed embeddings estimate
		explain extract fetch find get graphql has health history info inspect is list login look lookup measure oauth parse ping preview predict query quote read retrieve rpc score search session sessions show similar status
		suggest summarize token tokenize tokens translate validate verify view weather`)
	reports   = strings.Fields(`analytics event events ingest ingestion log logs metric metrics span spans telemetry trace traces track tracking`)
	wordBreak = lazy.Pattern(`[^a-z0-9]+`)
	camel     = lazy.Pattern(`([a-z0-9])([A-Z])`)
	keyName   = lazy.Pattern(`(?i)idempot|dedup|request[-_]?id|client[-_]?(?:token|reference|id)|nonce|transaction[-_]?id|operation[-_]?id`)
)

// Words returns the words of a tool's name.
func Words(tool string) []string {
	return wordBreak().Split(strings.ToLower(camel().ReplaceAllString(tool, "${1}_${2}")), -1)
}

// effect reports whether a call changes something each time it is performed: as declared, or
// else by its method, by the words of its name or of the only tool that the model asked for,
// or because the server answers such calls with "created".
func (t *Trace) effect(i int) bool {
	e := &t.Events[i]
	if e.Kind != Tool {
		return false
	}
	asked := names(t.wanted(i))
	for _, name := range append([]string{e.Name}, asked...) {
		if changes, declared := t.Effects.Of(name); declared && (name == e.Name || len(asked) == 1) {
			return changes
		}
	}
	if slices.Contains([]string{"GET", "HEAD", "OPTIONS", "PUT", "DELETE"}, e.Method) {
		return false // a request for something may be repeated
	}
	if ChangesByName(e.Name) {
		return true
	}
	if HarmlessByName(e.Name) {
		return false
	}
	creates := func(o Event) bool {
		return o.Kind == Tool && o.Status == 201 && o.Name == e.Name && o.Method == e.Method
	}
	return len(asked) == 1 && ChangesByName(asked[0]) || slices.ContainsFunc(t.Events, creates)
}

// Harmless reports whether a call of a tool changes nothing: as declared, or by its
// method or the words of its name.
func (e Effects) Harmless(method, name string) bool {
	if changes, declared := e.Of(name); declared {
		return !changes
	}
	return slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, method) || ReadsByName(name)
}

// ChangesByName reports whether the words of a tool's name say that a call changes something.
func ChangesByName(tool string) bool {
	list := Words(tool)
	changes := slices.ContainsFunc(list, func(w string) bool { return slices.Contains(effects, w) }) || strings.Contains(strings.Join(list, " "), "top up")
	return changes && !ReadsByName(tool)
}

// ReadsByName reports whether the first word of a tool's name says that it looks something up,
// which comes after the name of an object or a server: orders.get_status.
func ReadsByName(tool string) bool {
	return slices.Contains(lookups, Words(tool[strings.LastIndexAny(tool, ".:")+1:])[0])
}

// pastOf has the states whose words are not the verb with an ending.
var pastOf = map[string]string{
	"pay": "paid", "send": "sent", "sell": "sold", "begin": "begun", "start": "running", "submit": "submitted", "cancel": "cancelled",
	"refund": "refunded", "hold": "held", "finish": "done", "complete": "done", "check": "done",
}

// Past returns the state that a verb leads to, if it has a word of its own.
func Past(verb string) string { return pastOf[verb] }

// StateWord returns the state that an operation is named for: for cancel_order, cancelled; ""
// if it is named for none of the states.
func StateWord(name string, states []string) string {
	for _, w := range Words(name) {
		for _, v := range states {
			stem := strings.TrimSuffix(w, "e")
			if low := strings.ToLower(v); low == w || low == pastOf[w] || len(stem) > 2 && strings.HasPrefix(low, stem) && (strings.HasSuffix(low, "ed") || strings.HasSuffix(low, "en")) {
				return v
			}
		}
	}
	return ""
}

// HarmlessByName reports whether the words of a tool's name say that a call changes nothing that
// counts, even if the server answers that it created something.
func HarmlessByName(tool string) bool {
	return ReadsByName(tool) || slices.ContainsFunc(Words(tool), func(w string) bool { return slices.Contains(reports, w) })
}

// keyed reports whether a server can recognise the second of two equal calls as a repetition
// of the first.
func keyed(first, again *Event) bool {
	return first.Key != "" && first.Key == again.Key || keyName().Match(again.Arguments)
}

// again reports whether a request repeats one that failed, with its Idempotency-Key. An
// argument of that name does not count: the server may not know it.
func (t *Trace) again(k int) bool {
	n := &t.Events[k]
	return n.Key != "" && slices.ContainsFunc(t.Events[:k], func(e Event) bool { return e.Failed() && n.same(&e) && e.Key == n.Key })
}

// repeated looks for effects that were requested again although the first call may have been
// performed.
func repeated(t Trace) []Problem {
	var list []Problem
	for i := range t.Events {
		e := &t.Events[i]
		if e.Source == InChat || !e.Lost() || !t.effect(i) {
			continue
		}
		for k := i + 1; k < len(t.Events); k++ {
			n := &t.Events[k]
			if n.same(e) && !keyed(e, n) && !t.askedFor(i, k) {
				list = append(list, Problem{Subject: t.subject(i), Asked: append(names(t.wanted(i)), e.Name), Reason: fmt.Sprintf("%s was called again with the same arguments after its reply was lost (%s), without an idempotency key", t.subject(i), lostBy(e))})
				break
			}
			if n.Kind == Tool && !n.Failed() && !t.effect(k) {
				break // the agent may have looked whether the call was performed
			}
		}
	}
	return list
}

// askedFor reports whether a model asked at once for as many equal calls as were made up to k,
// the first of them not after i.
func (t *Trace) askedFor(i, k int) bool {
	most, made := 1, 0
	calls := t.wanted(k)
	for n, c := range calls {
		equal := 1
		for _, o := range calls[:n] {
			if c.same(o) {
				equal++
			}
		}
		most = max(most, equal)
	}
	first := k
	for ; first >= 0 && t.Events[first].Kind != Model; first-- {
		if t.Events[first].same(&t.Events[i]) {
			made++
		}
	}
	return made <= most && first < i
}

func lostBy(e *Event) string {
	if e.Error != "" {
		return "no whole answer"
	}
	return fmt.Sprintf("status %d", e.Status)
}

// Words of replies, in English.
var (
	claim = lazy.Pattern(`(?i)\b(?:has|have|was|were|is|are|been|i've|i have|successfully|all)\s+(?:now |just |also |already |been |successfully )*` +
		`(booked|charged|refunded|sent|cancelled|canceled|created|updated|completed|processed|confirmed|paid|ordered|shipped|scheduled|transferred|placed|submitted|registered|reserved|issued|approved|deleted|removed|purchased|done|set|successful)\b` +
		`|"(?:status|result|state|outcome)"\s*:\s*"(?:success|succeeded|ok|done|completed|confirmed|paid|booked|refunded)"|"(?:ok|success|succeeded)"\s*:\s*true` +
		`|(?i)\b(?:booked|charged|refunded|paid|sent|done|confirmed)\s*[.!]`)
	doubt = lazy.Pattern(`(?i)\bnot\b|n't\b|n’t\b|cannot|unable|fail|error|sorry|unavailable|unsuccessful|try again|problem|\bissues?\b|\bpending|unclear|unknown|uncertain|unfortunately|could be|may have|might|\blater|\bif\b|\bdown\b|timed? ?out|no longer|without success|manual|support|declined|rejected|refused|"(?:ok|success)"\s*:\s*false`)
)

// denied matches a clause which says that nothing was done: "no refund has been issued".
var denied = lazy.Pattern(`(?i)\b(?:nothing|no(?: [\w-]+){1,4}|none(?: of(?: [\w-]+){1,4})?)\s+(?:has|have|was|were|is|are)\b[^.!?;,]*`)

// falseSuccess looks for replies that claim what no call achieved.
func falseSuccess(t Trace) []Problem {
	var list []Problem
	for i := range t.Events {
		r := &t.Events[i]
		said := denied().ReplaceAllString(r.Text, "")
		if r.Kind != Reply || doubt().MatchString(said) {
			continue
		}
		last := make(map[string]int) // last call of each name
		var order []string
		var brought strings.Builder
		var kept []string // participles by which the reply claims the calls that succeeded; "": by no word of its own
		word := ""
		for k := range t.Events[:i] {
			e := &t.Events[k]
			if e.Kind != Tool || e.Turn != r.Turn {
				continue
			}
			failed, chat := e.Failed() || saysFailed(e.Text), e.Source == InChat
			if from, next := t.requests(k); !failed && !(chat && t.requested(from, next)) {
				brought.WriteString(strings.ToLower(e.Text))
			}
			if chat {
				continue
			}
			w, ok := t.claimed(said, k)
			if !ok {
				continue
			}
			name := t.subject(k)
			if !slices.Contains(order, name) {
				order = append(order, name)
			}
			if last[name], word = k, strings.ToLower(w); !failed {
				kept = append(kept, strings.ToLower(t.ownClaim(said, k)))
			}
		}
		if slices.Contains(kept, "") || len(kept) == 0 && word != "" && strings.Contains(brought.String(), word) {
			continue // the claim may be about that
		}
		foreign := func(name string) bool {
			own := strings.ToLower(t.ownClaim(said, last[name]))
			return own == "" || slices.Contains(kept, own) || len(kept) > 0 && strings.Contains(brought.String(), own)
		}
		if own := slices.DeleteFunc(slices.Clone(order), foreign); len(own) > 0 || len(kept) > 0 {
			order = own // the claim uses the words of these
		}
		for _, name := range order {
			e := t.Events[last[name]]
			e.Declined = e.Declined || !e.Failed()
			list = append(list, Problem{Subject: name, Asked: append(names(t.wanted(last[name])), e.Name), Reason: fmt.Sprintf("the reply claims success after every call of %s failed, the last with %s", name, e.failureText())})
		}
	}
	return list
}

// claimed reports whether a reply claims the success of a call, and by which participle: any,
// for a call that changes something; only its own, for a call that may.
func (t *Trace) claimed(reply string, i int) (word string, ok bool) {
	e := &t.Events[i]
	if m := claim().FindStringSubmatch(reply); m != nil && t.effect(i) {
		return m[1], true
	}
	changes, declared := t.Effects.Of(e.Name)
	safe := slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, e.Method) || ReadsByName(e.Name)
	if declared && !changes || !declared && safe {
		return "", false
	}
	if m := claim().FindStringSubmatch(reply); m != nil && t.nothingSucceeded(e.Turn) {
		return m[1], true
	}
	word = t.ownClaim(reply, i)
	return word, word != ""
}

// ownClaim returns the participle by which a reply claims what the tool of a call is named
// for.
func (t *Trace) ownClaim(reply string, i int) string {
	forms := successWords(append(names(t.wanted(i)), t.Events[i].Name), t.Events[i].Method)
	p, err := regexp.Compile(`(?i)\b(?:has|have|was|were|is|are|been|i've|i|we|we've|successfully)\s+(?:now |just |also |already |been |have |successfully )*(` + forms + `)\b|\b(` + forms + `)\s*[.!]`)
	if err != nil || forms == "" {
		return ""
	}
	m := p.FindStringSubmatch(reply)
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}

// nothingSucceeded reports whether every call of a turn failed.
func (t *Trace) nothingSucceeded(turn int) bool {
	return !slices.ContainsFunc(t.Events, func(e Event) bool {
		return e.Kind == Tool && e.Source != InChat && e.Turn == turn && !e.Failed() && !saysFailed(e.Text)
	})
}

// saysFailed reports whether an answer is only an error, whatever its status.
func saysFailed(text string) bool {
	var inner string
	if json.Unmarshal([]byte(text), &inner) == nil { // a function's result
		text = inner
	}
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &members) != nil {
		return saysError().MatchString(text)
	}
	for key, v := range members {
		given := !slices.Contains([]string{"null", "false", `""`, "{}", "[]"}, string(v))
		switch strings.ToLower(key) {
		case "error", "is_error", "iserror":
			if given {
				return true
			}
		case "ok", "success":
			if !given {
				return true
			}
		}
	}
	return false
}

// irregular has the past forms that do not end in "ed".
var irregular = map[string]string{
	"buy": "bought", "send": "sent", "pay": "paid", "freeze": "frozen|froze", "withdraw": "withdrawn|withdrew", "write": "written|wrote", "sell": "sold", "set": "set", "put": "put",
	"give": "given|gave", "take": "taken|took", "make": "made", "hold": "held", "lend": "lent", "let": "let", "shut": "shut", "cut": "cut",
}

// successWords returns the words, as alternatives of a regular expression, that say that what
// tools are named for was done: frozen, for freeze_card.
func successWords(tools []string, method string) string {
	forms := map[string]string{"DELETE": "deleted|removed|cancell?ed", "PUT": "updated|changed|saved", "PATCH": "updated|changed|saved"}[method]
	for _, w := range Words(strings.Join(tools, "_")) {
		w = strings.TrimSuffix(strings.TrimSuffix(w, "s"), "ing")
		if len(w) < 3 {
			continue
		}
		f := irregular[w]
		switch last := w[len(w)-1:]; {
		case f != "":
		case last == "e":
			f = w + "d"
		case last == "y":
			f = w + "ed|" + w[:len(w)-1] + "ied"
		default:
			f = w + last + "?ed"
		}
		forms += "|" + f
	}
	return strings.Trim(forms, "|")
}
