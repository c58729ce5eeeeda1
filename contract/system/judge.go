package system

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/crash"
	"github.com/thresh-dev/thresh/engine/schemagen"
	"github.com/thresh-dev/thresh/port/sut"
)

// Kinds of failures.
const (
	kindCrash    = "crash"
	kindTimeout  = "timeout"
	kindFlood    = "flood"
	kindStatus   = "undeclared-status"
	kindAnswer   = "answer"         // does not fit its schema
	kindType     = "content-type"   // the answer's type is not declared
	kindHeader   = "header"         // a header of the answer is missing, or not as declared
	kindInternal = "internal-error" // an internal error is reported as a refusal, or in an answer
	kindDeleted  = "use-after-delete"
	kindUpdate   = "lost-update"
	kindIdle     = "no-effect"   // the call was answered and nothing changed
	kindPage     = "paging"      // more items than requested, or pages that do not follow each other
	kindFilter   = "filter"      // items other than requested
	kindOwner    = "wrong-owner" // what belongs to one thing is answered for another
)

// accepted marks the outcome of an invalid input that was accepted.
const accepted = "accepted"

// refused marks the outcome of a valid input that was refused; the reason follows.
const refused = "refused: "

// ended marks the outcome of a call that ended a system running elsewhere. It is not made again
// just to confirm that.
const ended = "ended the system"

// judge decides the verdict on a call.
func judge(s *state, op *sut.Operation, in *input, o *sut.Observation) campaign.Outcome {
	out := verdict(op, in, o)
	if s != nil && s.usual[op.Name+": "+out.Title] { // usual calls fail in the same way, so the argument does not matter
		usual := *in
		usual.About = ""
		out = verdict(op, &usual, o)
	}
	return failed(o, op, out)
}

// failed completes a failing outcome with its operation, the answer and the request.
func failed(o *sut.Observation, op *sut.Operation, out campaign.Outcome) campaign.Outcome {
	out.Elapsed = o.Elapsed
	if out.Verdict == campaign.VerdictFail {
		if o.Ended != "" {
			out.Title, out.Data = o.Ended+": "+out.Title, []byte(ended)
		}
		out.Title = op.Name + ": " + out.Title
		answer := bytes.Clone(o.Output)
		if len(answer) == 0 && strings.HasPrefix(o.Why, "MCP error ") { // the protocol's own answer
			answer = []byte(o.Why)
		}
		out.Evidence = append(out.Evidence, campaign.Attachment{Name: "answer", Data: answer})
		if o.Sent != "" {
			out.Evidence = append(out.Evidence, campaign.Attachment{Name: "request", Data: []byte(o.Sent)})
		}
		if len(o.Printed) > 0 {
			out.Evidence = append(out.Evidence, campaign.Attachment{Name: "stderr", Data: bytes.Clone(o.Printed)})
		}
	}
	return out
}

// Refine implements [campaign.Refiner]: it restores the words that the system printed.
func (c *Campaign) Refine(title string, severity campaign.Severity, o campaign.Outcome) (string, campaign.Severity) {
	return crash.Restore(title, o.Attached("stderr"), o.Attached("answer")), severity
}

func fail(op *sut.Operation, kind string, severity campaign.Severity, title string, cause ...string) campaign.Outcome {
	return campaign.Outcome{Verdict: campaign.VerdictFail, Severity: severity, Kind: kind, Title: title, Cause: append([]string{kind, op.Name}, cause...)}
}

func verdict(op *sut.Operation, in *input, o *sut.Observation) campaign.Outcome {
	fail := func(kind string, severity campaign.Severity, title string, cause ...string) campaign.Outcome {
		return fail(op, kind, severity, title, cause...)
	}
	switch o.End {
	case sut.Hung:
		return fail(kindTimeout, campaign.SeverityMedium, "no answer in time", subject(in))
	case sut.Flooded:
		return fail(kindFlood, campaign.SeverityMedium, "more output than 8 MiB", subject(in))
	case sut.Crashed:
		why, said := o.Why, apart(o.Why, in)
		if o.Status < 500 && !strings.Contains(why, " ended during the call: ") && !strings.Contains(why, " ended after it had answered: ") { // mask what varies, so that equal runs have equal titles
			why, said = crash.Mask(why), crash.Mask(said)
		}
		if report := crash.Analyze(crash.Death{Stderr: o.Printed, Signal: o.Signal, ExitCode: o.Exit}); report.Class != crash.ClassNone && report.Class != crash.ClassExit {
			if reported := "a report on standard error"; strings.HasPrefix(why, reported) { // the rest of the report
				why = reported
			}
			return fail(kindCrash, campaign.SeverityHigh, why+": "+report.Title, append([]string{why}, report.Layers...)...)
		}
		return fail(kindCrash, campaign.SeverityHigh, why, said, apart(line(o.Output), in), subject(in))
	case sut.Refused:
		if phrase := runtimeError(op, o.Why+"\n"+string(o.Output), in.Args); in.Valid && o.Status < 400 && phrase != "" {
			return fail(kindInternal, campaign.SeverityMedium, fmt.Sprintf("reports an error of its runtime for valid input: %q", phrase), apart(phrase, in), subject(in))
		}
	}
	if o.End == sut.Answered && o.Status < 400 && in.Valid && !aboutErrors().MatchString(op.Name) {
		all := reported().FindAllString(string(o.Output), 9)
		if stack().Match(o.Output) && !stack().Match(in.Args) {
			all = append(all, string(o.Output))
		}
		for _, said := range all {
			if phrase := runtimeError(op, said, in.Args); phrase != "" && !strings.Contains(string(in.Args), phrase) {
				return fail(kindInternal, campaign.SeverityMedium, fmt.Sprintf("answers with an error of its runtime, as if the call had succeeded: %q", phrase), apart(phrase, in), subject(in))
			}
		}
	}
	if in.Gone && o.End == sut.Answered && o.Status == 200 && !softly().Match(o.Output) {
		return fail(kindDeleted, campaign.SeverityMedium, fmt.Sprintf("HTTP 200 after %s deleted it", in.Before[len(in.Before)-1].Operation))
	}
	kind, title, argument := misfit(op, in, o)
	amiss := fail(kind, campaign.SeverityMedium, title, argument)
	if argument != "" && argument == subject(in) { // reported before anything else wrong with the answer
		return amiss
	}
	key, declared := answerKey(op, o.Status)
	if !declared && !(tolerated(o.Status) || !in.Valid && isClientError(o.Status)) {
		return fail(kindStatus, campaign.SeverityLow, fmt.Sprintf("HTTP %d is not declared", o.Status), strconv.Itoa(o.Status))
	}
	if tolerated(o.Status) && key != strconv.Itoa(o.Status) {
		key = "" // "default" and "4XX" describe the operation's own answers
	}
	frame := op.Frames[key]
	media, known := mediaType(op, &frame, o)
	if !known {
		return fail(kindType, campaign.SeverityMedium, fmt.Sprintf("HTTP %d: the answer is of type %s, declared is %s", o.Status, media, strings.Join(frame.Types, ", ")), media)
	}
	if why := schemaMismatch(op.Answers[key], op, o); why != "" && (media == "" || isJSON(media) || len(frame.Types) == 0) {
		return fail(kindAnswer, campaign.SeverityMedium, "the answer does not fit its schema: "+why, crash.Mask(given().ReplaceAllString(why, "")))
	}
	for i := range frame.Headers {
		if why := headerMisfit(&frame.Headers[i], o); why != "" {
			return fail(kindHeader, campaign.SeverityLow, fmt.Sprintf("HTTP %d: %s", o.Status, why), crash.Mask(why))
		}
	}
	if kind != "" {
		return amiss
	}
	if !in.Valid && o.End == sut.Answered && o.Status < 300 {
		return campaign.Outcome{Data: []byte(accepted)}
	}
	if in.Valid && o.End == sut.Refused {
		why := "an error of the tool"
		if o.Status != 0 {
			why = fmt.Sprintf("HTTP %d", o.Status)
		}
		return campaign.Outcome{Data: []byte(refused + why)}
	}
	return campaign.Outcome{}
}

// subject returns the argument of the judged call that an input is about. Findings about different
// arguments are different.
func subject(in *input) string {
	name, _, found := strings.Cut(in.About, ": ")
	if n := len(in.Before); !found || in.Mixed || n > 0 && strings.HasSuffix(in.About, ofBefore(in.Before[n-1].Operation)) {
		return ""
	}
	return name
}

func line(output []byte) string {
	first, _, _ := bytes.Cut(bytes.TrimSpace(output), []byte("\n"))
	return crash.Mask(string(bytes.ToValidUTF8(first[:min(len(first), 300)], nil)))
}

// tolerated reports whether a status comes from something between the client and the operation.
func tolerated(status int) bool {
	return slices.Contains([]int{0, 401, 403, 413, 414, 429, 431}, status)
}

// isClientError reports whether a status means that a request is invalid.
func isClientError(status int) bool {
	return slices.Contains([]int{400, 404, 405, 410, 415, 422}, status)
}

// answerKey returns the key under which a status is declared.
func answerKey(op *sut.Operation, status int) (key string, declared bool) {
	if len(op.Answers) == 0 {
		return "", true
	}
	for _, key := range []string{strconv.Itoa(status), strconv.Itoa(status/100) + "XX", strconv.Itoa(status/100) + "xx", "default"} {
		if _, ok := op.Answers[key]; ok {
			return key, true
		}
	}
	return "", false
}

// mediaType returns the media type of an answer's content, and whether it is declared; "" if there
// is no content or no type.
func mediaType(op *sut.Operation, f *sut.Frame, o *sut.Observation) (media string, known bool) {
	if len(o.Output) == 0 || op.Method == "HEAD" || len(o.Header["Content-Type"]) == 0 {
		return "", true
	}
	media, _, _ = strings.Cut(o.Header["Content-Type"][0], ";")
	media = strings.ToLower(strings.TrimSpace(media))
	kind, _, _ := strings.Cut(media, "/")
	return media, len(f.Types) == 0 || slices.ContainsFunc(f.Types, func(t string) bool { return t == media || t == "*/*" || t == kind+"/*" })
}

func isJSON(media string) bool {
	return media == "application/json" || strings.HasSuffix(media, "+json")
}

// headerMisfit says why an answer's header is not as declared; "" if it is.
func headerMisfit(h *sut.Header, o *sut.Observation) string {
	values := o.Header[textproto.CanonicalMIMEHeaderKey(h.Name)]
	if len(values) == 0 {
		if h.Required && o.Header != nil {
			return "the header " + h.Name + " is missing"
		}
		return ""
	}
	value, err := json.Marshal(values[0])
	if simple := h.Type == "integer" || h.Type == "number" || h.Type == "boolean"; err != nil || h.Schema == nil || h.Type != "string" && !simple {
		return "" // such a value has a serialization of its own
	} else if simple && json.Valid([]byte(values[0])) {
		value = []byte(values[0])
	}
	s, err := schemagen.New(h.Schema)
	if err != nil {
		return ""
	}
	if why := s.Check(value); why != "" {
		return "the header " + h.Name + " does not fit its schema: " + strings.TrimPrefix(why, "the value: ")
	}
	return ""
}

func schemaMismatch(schema json.RawMessage, op *sut.Operation, o *sut.Observation) string {
	if len(schema) == 0 || string(schema) == "null" || op.Method == "HEAD" || o.Status == 204 || o.Status == 0 && o.End != sut.Answered {
		return ""
	}
	s, err := schemagen.New(schema)
	if err != nil {
		return "" // an unusable schema allows anything
	}
	value := []byte(o.Value)
	if o.Status != 0 {
		value = o.Output
	}
	if len(value) == 0 {
		return "it is empty"
	}
	return s.Check(value)
}

// Reduce implements [campaign.Reducer]. It removes earlier calls and arguments that are not needed,
// and shortens texts.
func (c *Campaign) Reduce(ctx context.Context, payload []byte, test func([]byte) (bool, error)) (smallest []byte, parts string) {
	var in input
	var args map[string]json.RawMessage
	if json.Unmarshal(payload, &in) != nil || json.Unmarshal(in.Args, &args) != nil {
		return payload, ""
	}
	if in.leaks() { // which earlier calls matter is all there is to find
		for i := len(in.Before) - 1; i >= 0 && len(in.Before) > 1 && !c.anew(); i-- {
			smaller := in
			smaller.Before = slices.Delete(slices.Clone(in.Before), i, i+1)
			candidate, err := json.Marshal(smaller)
			if err != nil || ctx.Err() != nil {
				break
			}
			if ok, err := test(candidate); err != nil {
				break
			} else if ok {
				in, payload = smaller, candidate
			}
		}
		return payload, ""
	}
	if in.Before != nil && !in.Gone {
		alone := in
		alone.Before, alone.Take = nil, nil
		if candidate, err := json.Marshal(alone); err == nil {
			if ok, err := test(candidate); err != nil {
				return payload, ""
			} else if ok {
				in, payload = alone, candidate
			}
		}
	}
	try := func(name string, v json.RawMessage) (held, more bool) {
		before, had := args[name]
		if delete(args, name); v != nil {
			args[name] = v
		}
		text, err := json.Marshal(args)
		if err != nil {
			return false, false
		}
		smaller := in
		smaller.Args = text
		candidate, err := json.Marshal(smaller)
		if err != nil || ctx.Err() != nil {
			return false, false
		}
		ok, err := test(candidate)
		if ok && err == nil {
			payload = candidate
			return true, true
		}
		if had {
			args[name] = before
		}
		return false, err == nil
	}
	list, _ := arguments(in.Args)
	for _, a := range list {
		held, more := try(a.Name, nil)
		if !more {
			return payload, ""
		}
		var text string
		for !held && json.Unmarshal(args[a.Name], &text) == nil && len(text) > 1 {
			half, err := json.Marshal(strings.ToValidUTF8(text[:len(text)/2], ""))
			if err != nil {
				break
			}
			ok, more := try(a.Name, half)
			if !more {
				return payload, ""
			}
			if !ok {
				break
			}
		}
	}
	return payload, ""
}

// gauge counts the characters of the arguments of all calls of a case.
func gauge(_ context.Context, payload []byte) (size int64, unit string) {
	var in input
	if json.Unmarshal(payload, &in) != nil {
		return 0, ""
	}
	size = int64(len(in.Args))
	for _, before := range in.Before {
		size += int64(len(before.Args))
	}
	return size, "character"
}

// Describe implements [campaign.Describer].
func (c *Campaign) Describe(_ *state, k campaign.Case, out campaign.Outcome, minimized []byte) []campaign.Exhibit {
	show := func(payload []byte) string {
		var in input
		if json.Unmarshal(payload, &in) != nil {
			return ""
		}
		about := "valid input"
		if !in.Valid {
			about = "invalid input"
		}
		text := ""
		for _, before := range in.Before {
			text += fmt.Sprintf("%s %s%s\n", before.Operation, diag.Cut(string(before.Args), 500), taken(before.Take, in.Before))
		}
		return text + fmt.Sprintf("%s %s%s\n%s: %s", in.Operation, diag.Cut(string(in.Args), 2000), taken(in.Take, in.Before), about, in.About)
	}
	call := show(k.Payload)
	if sent := out.Attached("request"); len(sent) > 0 {
		call = string(sent) + "\n" + call
	}
	list := []campaign.Exhibit{campaign.TextExhibit("Call", call)}
	if minimized != nil {
		list = append(list, campaign.TextExhibit("Smallest call", show(minimized)))
	}
	for _, a := range [][2]string{{"answer", "Answer"}, {"fresh", "Answer without the calls before"}, {"reversed", "Answer after these calls in reverse"}} {
		if answer := out.Attached(a[0]); len(answer) > 0 {
			list = append(list, campaign.TextExhibit(a[1], diag.Cut(strings.ToValidUTF8(string(answer), "\uFFFD"), 4000)))
		}
	}
	return list
}

// taken says which arguments come from earlier answers.
func taken(takes []take, before []earlier) string {
	text := ""
	for _, t := range takes {
		text += fmt.Sprintf(", %s: %s of %s", t.Argument, t.From, before[t.Step].Operation)
	}
	return text
}

// isDenied reports whether a call was refused because of the caller's identity.
func isDenied(why string) bool { return why == "HTTP 401" || why == "HTTP 403" }

// Summarize implements [campaign.Summarizer]. It lists invalid inputs that were accepted, and
// operations that were not tested because they accepted no call.
func (c *Campaign) Summarize(s *state) (sum campaign.Summary) {
	var rows [][]string
	for _, in := range s.accepted {
		rows = append(rows, []string{in.Operation, in.About, diag.Cut(string(in.Args), 60)})
	}
	if len(rows) > 0 {
		sum.Exhibits = []campaign.Exhibit{campaign.TableExhibit("Accepted, though invalid", []string{"operation", "rule that is broken", "arguments"}, rows)}
	}
	var names []string
	denied := len(s.taken) == 0 && slices.ContainsFunc(slices.Collect(maps.Values(s.refused)), isDenied)
	for _, name := range slices.Sorted(maps.Keys(s.refused)) {
		names = append(names, fmt.Sprintf("%s (%s)", name, s.refused[name]))
		denied = denied && (isDenied(s.refused[name]) || s.refused[name] == errNothing.Error())
	}
	switch {
	case denied:
		sum.Void = "every call was refused with HTTP 401 or 403; give the credentials as headers or query in the system file"
	case len(names) > 0 && len(s.taken) == 0:
		sum.Void = "no operation took a valid call, so that refusals alone were tested; give arguments that exist as examples in the schemas: " + strings.Join(names, ", ")
	case len(names) > 0:
		sum.Warnings = append(sum.Warnings, fmt.Sprintf("%s took no valid call, so that little of it was tested: %s", diag.Plural(len(names), "operation"), strings.Join(names, ", ")))
	}
	var skipped []string
	calls := 0
	for _, what := range slices.Sorted(maps.Keys(s.skipped)) {
		calls += s.skipped[what]
		skipped = append(skipped, what)
	}
	if calls > 0 {
		sum.Warnings = append(sum.Warnings, fmt.Sprintf("%s not made, since others like them failed or took too long: %s", diag.Plural(calls, "call"), strings.Join(skipped, ", ")))
	}
	return sum
}
