package judge

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/match"
)

func n(i int) *int { return &i }

func tool(name string) *Pattern { return &Pattern{Kind: Tool, Name: name} }

func object(t *testing.T, text string) jsontree.Node {
	t.Helper()
	d, err := jsontree.Parse([]byte(text), jsontree.Python())
	if err != nil {
		t.Fatal(err)
	}
	return d.Root
}

func call(name string, status int, args string) Event {
	return Event{Kind: Tool, Name: name, Source: OnWire, Method: "POST", Status: status, Arguments: json.RawMessage(args)}
}

func later(e Event, at time.Duration) Event {
	e.At = at
	return e
}

func TestRules(t *testing.T) {
	keyed := func(e Event, key, failed string) Event {
		e.Key, e.Error = key, failed
		return e
	}
	charge := call("charge", 200, `{"order":1,"amount":5}`)
	other := call("charge", 200, `{"order":2,"amount":7}`)
	declined := call("charge", 402, `{"order":1}`)
	verify := call("verify-user", 200, `{}`)
	chat := Event{Kind: Tool, Name: "charge", Source: InChat, Arguments: json.RawMessage(`{"order":1}`)}
	asked := func(name string) Event { return Event{Kind: Tool, Name: name, Source: InChat} }
	model := Event{Kind: Model, Name: "openai", Source: OnWire, Status: 200}
	reply := Event{Kind: Reply, Text: "all done"}
	under := func(name string, above ...string) Event {
		return Event{Kind: Tool, Name: name, Names: append([]string{name}, above...), Source: OnWire, Status: 200}
	}
	no, yes := false, true
	done, err := match.Compile("done", match.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		rule   Rule
		events []Event
		want   Verdict
	}{
		"at most, kept":            {Rule{Event: *tool("charge"), AtMost: n(1)}, []Event{charge}, Pass},
		"at most, none":            {Rule{Event: *tool("charge"), AtMost: n(1)}, nil, Pass},
		"at most, broken":          {Rule{Event: *tool("charge"), AtMost: n(1)}, []Event{charge, charge}, Fail},
		"never":                    {Rule{Event: *tool("charge"), AtMost: n(0)}, []Event{charge}, Fail},
		"a call seen twice is one": {Rule{Event: *tool("charge"), AtMost: n(1)}, []Event{chat, charge}, Pass},
		"a request that carries it out is the call": {Rule{Event: *tool("*charge*"), AtMost: n(1)}, []Event{model, chat, call("charges", 201, "")}, Pass},
		"a call that the agent refused did not succeed": {Rule{Event: Pattern{Kind: Tool, Name: "charge", Failed: &no}, AtMost: n(0)},
			[]Event{model, with(chat, func(e *Event) { e.Text = `{"error": "verify first"}` }), model}, Pass},
		"one whose result only mentions errors did": {Rule{Event: Pattern{Kind: Tool, Name: "charge", Failed: &no}, AtMost: n(0)},
			[]Event{model, with(chat, func(e *Event) { e.Text = `charged, 0 errors` }), model}, Fail},
		"made twice under another name": {Rule{Event: *tool("charge"), AtMost: n(1)}, []Event{model, chat, call("debits", 0, "{}"), call("debits", 201, "{}"), model}, Fail},
		"again after a refusal of it, under another name": {Rule{Event: *tool("charge"), NeverAfter: &Pattern{Kind: Tool, Name: "charge", Status: []int{402}}},
			[]Event{model, chat, call("debits", 402, "{}"), call("debits", 201, "{}"), model}, Fail},
		"a refusal at last is not after itself": {Rule{Event: *tool("charge"), NeverAfter: &Pattern{Kind: Tool, Name: "charge", Status: []int{402}}},
			[]Event{model, chat, call("debits", 500, "{}"), call("login", 200, "{}"), call("debits", 402, "{}"), model}, Pass},
		"of two under another name one succeeded": {Rule{Event: Pattern{Kind: Tool, Name: "charge", Failed: &no}, Exactly: n(1)},
			[]Event{model, chat, call("debits", 500, "{}"), call("debits", 201, "{}"), model}, Pass},
		"both did": {Rule{Event: Pattern{Kind: Tool, Name: "charge", Status: []int{201}}, AtMost: n(1)},
			[]Event{model, chat, call("debits", 201, "{}"), call("token", 200, "{}"), call("debits", 201, "{}"), model}, Fail},
		"again, with the key of the one that failed": {Rule{Event: *tool("charge"), AtMost: n(1)}, []Event{keyed(call("charge", 0, "{}"), "k", "cut"), keyed(call("charge", 201, "{}"), "k", "")}, Pass},
		"again, for the same client":                 {Rule{Event: *tool("charge"), AtMost: n(1)}, []Event{keyed(call("charge", 0, `{"client_id":1}`), "", "cut"), call("charge", 201, `{"client_id":1}`)}, Fail},
		"again, with another key":                    {Rule{Event: *tool("charge"), AtMost: n(1)}, []Event{keyed(call("charge", 0, "{}"), "k", "cut"), keyed(call("charge", 201, "{}"), "l", "")}, Fail},
		"again, with the key of one that succeeded":  {Rule{Event: *tool("charge"), AtMost: n(1)}, []Event{keyed(call("charge", 201, "{}"), "k", ""), keyed(call("charge", 201, "{}"), "k", "")}, Fail},
		"again under another name, with the key": {Rule{Event: *tool("charge"), Exactly: n(1)},
			[]Event{model, chat, keyed(call("debits", 0, "{}"), "k", "cut"), keyed(call("debits", 201, "{}"), "k", ""), model}, Pass},
		"after a refusal, with its key": {Rule{Event: *tool("charge"), NeverAfter: &Pattern{Kind: Tool, Name: "charge", Status: []int{402}}},
			[]Event{keyed(call("charge", 402, "{}"), "k", ""), keyed(call("charge", 201, "{}"), "k", "")}, Fail},
		"again, but later": {Rule{Event: *tool("charge"), AtMost: n(1), Within: time.Second},
			[]Event{model, chat, call("debits", 0, "{}"), later(call("debits", 201, "{}"), 2*time.Second), model}, Pass},
		"again, with the model's arguments": {Rule{Event: *tool("charge"), AtMost: n(1), Per: "order"},
			[]Event{model, chat, call("debits", 0, "{}"), call("debits", 201, "{}"), model}, Fail},
		"a request below another of its name":        {Rule{Event: *tool("Orders"), Exactly: n(1)}, []Event{under("orders"), under("pay", "orders"), under("pay", "orders")}, Pass},
		"requests below it, if none has its name":    {Rule{Event: *tool("orders"), AtMost: n(1)}, []Event{under("pay", "orders"), under("lines", "orders")}, Fail},
		"a glob, for all of them":                    {Rule{Event: *tool("order*"), AtMost: n(1)}, []Event{under("orders"), under("pay", "orders")}, Fail},
		"one below it that the model asked for":      {Rule{Event: *tool("charge"), AtMost: n(1)}, []Event{under("charge"), model, chat, under("seven", "charge")}, Fail},
		"looked at twice":                            {Rule{Event: *tool("charge"), AtMost: n(1)}, []Event{model, chat, call("query", 200, "{}"), call("query", 200, "{}"), model}, Pass},
		"two calls that were made once":              {Rule{Event: *tool("charge"), AtMost: n(2)}, []Event{model, chat, chat, call("debits", 0, "{}"), call("debits", 201, "{}"), model}, Pass},
		"two that do are two":                        {Rule{Event: *tool("*charge*"), AtMost: n(1)}, []Event{model, chat, call("charges", 201, ""), call("charges", 201, "")}, Fail},
		"a request of the next answer is none of it": {Rule{Event: *tool("*charge*"), AtMost: n(1)}, []Event{model, chat, model, call("charges", 201, "")}, Fail},
		"a request is not after its own call": {Rule{Event: *tool("*charge*"), NeverAfter: &Pattern{Kind: Tool, Name: "*charge*", Status: []int{402}}},
			[]Event{model, chat, call("charges", 402, "")}, Pass},
		"a request after another's refusal": {Rule{Event: *tool("*charge*"), NeverAfter: &Pattern{Kind: Tool, Name: "*charge*", Status: []int{402}}},
			[]Event{model, chat, call("charges", 402, ""), model, chat, call("charges", 200, "")}, Fail},
		"calls in a conversation":         {Rule{Event: *tool("charge"), AtMost: n(1)}, []Event{chat, chat}, Fail},
		"at least, kept":                  {Rule{Event: *tool("charge"), AtLeast: n(2)}, []Event{charge, other}, Pass},
		"at least, broken":                {Rule{Event: *tool("charge"), AtLeast: n(2)}, []Event{charge}, Fail},
		"exactly, kept":                   {Rule{Event: *tool("charge"), Exactly: n(1)}, []Event{charge}, Pass},
		"exactly, broken":                 {Rule{Event: *tool("charge"), Exactly: n(1)}, nil, Fail},
		"per, kept":                       {Rule{Event: *tool("charge"), AtMost: n(1), Per: "order"}, []Event{charge, other}, Pass},
		"per, broken":                     {Rule{Event: *tool("charge"), AtMost: n(1), Per: "order"}, []Event{charge, other, charge}, Fail},
		"it occurs":                       {Rule{Event: *tool("char*")}, []Event{charge}, Pass},
		"it does not occur":               {Rule{Event: *tool("char*")}, []Event{verify}, Fail},
		"after, kept":                     {Rule{Event: *tool("charge"), After: tool("verify_user")}, []Event{verify, charge}, Pass},
		"after, broken":                   {Rule{Event: *tool("charge"), After: tool("verify_user")}, []Event{charge, verify}, Fail},
		"after, without the event":        {Rule{Event: *tool("charge"), After: tool("verify_user")}, []Event{reply}, Pass},
		"before, kept":                    {Rule{Event: *tool("verify_user"), Before: tool("charge")}, []Event{verify, charge}, Pass},
		"before, broken":                  {Rule{Event: *tool("verify_user"), Before: tool("charge")}, []Event{charge}, Fail},
		"never after, kept":               {Rule{Event: *tool("charge"), NeverAfter: &Pattern{Kind: Tool, Name: "charge", Status: []int{402}}}, []Event{charge, declined}, Pass},
		"never after, broken":             {Rule{Event: *tool("charge"), NeverAfter: &Pattern{Kind: Tool, Name: "charge", Status: []int{402}}}, []Event{declined, charge}, Fail},
		"a class of statuses":             {Rule{Event: *tool("charge"), NeverAfter: &Pattern{Kind: Tool, Name: "charge", Status: []int{4}}}, []Event{declined, charge}, Fail},
		"never after, just within":        {Rule{Event: *tool("charge"), NeverAfter: &Pattern{Kind: Tool, Name: "charge", Status: []int{402}}, Within: time.Second}, []Event{declined, later(charge, time.Second)}, Fail},
		"never after, within":             {Rule{Event: *tool("charge"), NeverAfter: &Pattern{Kind: Tool, Name: "charge", Status: []int{402}}, Within: time.Second}, []Event{declined, later(charge, 2*time.Second)}, Pass},
		"a window, kept":                  {Rule{Event: *tool("*"), AtMost: n(2), Within: time.Second}, []Event{charge, charge, later(charge, 2*time.Second)}, Pass},
		"a window, broken":                {Rule{Event: *tool("*"), AtMost: n(2), Within: time.Second}, []Event{charge, charge, later(charge, time.Second/2)}, Fail},
		"after, in time":                  {Rule{Event: *tool("charge"), After: tool("verify_user"), Within: time.Second}, []Event{later(verify, 5*time.Second), later(charge, 6*time.Second)}, Pass},
		"after, too late":                 {Rule{Event: *tool("charge"), After: tool("verify_user"), Within: time.Second}, []Event{verify, later(charge, 2*time.Second)}, Fail},
		"arguments of every call, kept":   {Rule{Event: *tool("charge"), Arguments: object(t, `{"amount": 5}`)}, []Event{charge}, Pass},
		"arguments of every call, broken": {Rule{Event: *tool("charge"), Arguments: object(t, `{"amount": 5}`)}, []Event{charge, other}, Fail},
		"arguments that select":           {Rule{Event: Pattern{Kind: Tool, Name: "charge", Arguments: object(t, `{"order": 2}`)}, AtMost: n(0)}, []Event{charge, other}, Fail},
		"calls that failed":               {Rule{Event: Pattern{Kind: Tool, Failed: &yes}, AtMost: n(0)}, []Event{charge, declined}, Fail},
		"calls that succeeded":            {Rule{Event: Pattern{Kind: Tool, Failed: &no}, AtMost: n(1)}, []Event{charge, declined}, Pass},
		"what is not replied":             {Rule{Event: Pattern{Kind: Reply, Text: done}}, []Event{{Kind: Reply, Text: "on its way"}}, Fail},
		"what is replied":                 {Rule{Event: Pattern{Kind: Reply, Text: done}, After: tool("charge")}, []Event{reply, charge}, Fail},
		"a call that goes by two names":   {Rule{Event: *tool("*"), AtMost: n(1)}, []Event{chat, with(call("api.charge", 200, ""), func(e *Event) { e.Names = []string{"Charge"} })}, Pass},
		"arguments that nobody can read":  {Rule{Event: Pattern{Kind: Tool, Name: "charge", Arguments: object(t, `{"order": 2}`)}, AtMost: n(0)}, []Event{call("charge", 200, "{")}, Unknown},
		"a status that is not of a class": {Rule{Event: Pattern{Kind: Tool, Status: []int{10}}, AtMost: n(0)}, []Event{call("charge", 1000, "")}, Pass},
		"a status that nobody saw":        {Rule{Event: Pattern{Kind: Tool, Name: "charge", Status: []int{402}}, AtMost: n(0)}, []Event{chat}, Unknown},
		"a status of a call seen twice": {Rule{Event: *tool("charge"), After: &Pattern{Kind: Tool, Name: "verify_user", Status: []int{200}}},
			[]Event{asked("verify_user"), verify, model, asked("charge"), charge}, Pass},
		"a failure of a call seen twice": {Rule{Event: *tool("charge"), After: &Pattern{Kind: Tool, Name: "verify_user", Failed: &no}},
			[]Event{asked("verify_user"), call("verify_user", 500, ""), model, asked("charge"), charge}, Fail},
		"a status by another name": {Rule{Event: *tool("charge"), After: &Pattern{Kind: Tool, Name: "check_identity", Status: []int{200}}},
			[]Event{asked("check_identity"), call("kyc", 200, ""), model, asked("charge"), charge}, Pass},
		"a failure by another name": {Rule{Event: *tool("charge"), After: &Pattern{Kind: Tool, Name: "check_identity", Failed: &no}},
			[]Event{asked("check_identity"), call("query", 200, ""), call("query", 500, ""), model, asked("charge"), charge}, Fail},
		"a failure of the next call": {Rule{Event: *tool("charge"), NeverAfter: &Pattern{Kind: Tool, Name: "check_identity", Failed: &yes}},
			[]Event{asked("check_identity"), call("kyc", 200, ""), model, call("kyc", 500, ""), asked("charge"), charge}, Pass},
		"calls made together that agree": {Rule{Event: *tool("charge"), After: &Pattern{Kind: Tool, Name: "check_identity", Failed: &no}},
			[]Event{asked("check_identity"), asked("note"), call("kyc", 200, ""), call("memo", 200, ""), model, charge}, Pass},
		"calls made together that do not": {Rule{Event: *tool("charge"), NeverAfter: &Pattern{Kind: Tool, Name: "check_identity", Failed: &yes}},
			[]Event{asked("check_identity"), asked("note"), call("kyc", 200, ""), call("memo", 500, ""), model, charge}, Unknown},
	} {
		got, why, err := tc.rule.Judge(Trace{Events: tc.events})
		if err != nil || got != tc.want || why == "" {
			t.Errorf("%s: %d %q %v, want %d", name, got, why, err, tc.want)
		}
	}
	blind := Trace{Blind: true, Events: []Event{reply}}
	if got, _, _ := (&Rule{Event: *tool("charge"), AtMost: n(0)}).Judge(blind); got != Unknown {
		t.Errorf("nothing is seen, and the verdict is %d", got)
	}
	if got, _, _ := (&Rule{Event: Pattern{Kind: Reply}}).Judge(blind); got != Pass {
		t.Errorf("the reply is seen, and the verdict is %d", got)
	}
}
