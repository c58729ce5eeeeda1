package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/secret"
)

const (
	token = "tok-9f8e7d6c5b"
	mark  = "[secret KEY]"
)

// leaky is a campaign that has its secret in all that it says.
type leaky struct {
	got  []string // what it was given
	fail error
}

func (l *leaky) Identity() campaign.Identity { return campaign.Identity{Name: token} }
func (l *leaky) Probe(context.Context) (campaign.Facts, error) {
	return campaign.Facts{Data: []byte(`{"a": "` + token + `"}`), Warnings: []string{"w " + token}, Exclusive: true}, l.fail
}
func (l *leaky) Start(f campaign.Facts) any                 { return "state " + string(f.Data) }
func (l *leaky) Round(s any) (campaign.Round, bool)         { return campaign.Round{Len: 3}, s == "go" }
func (l *leaky) Open(*campaign.Cache) campaign.Session[any] { return leakySession{l} }
func (l *leaky) Fold(s any, r iter.Seq2[campaign.Case, campaign.Outcome]) any {
	for c := range r {
		s = fmt.Sprint(s, c.Index)
	}
	return s
}
func (l *leaky) Describe(s any, c campaign.Case, _ campaign.Outcome, minimized []byte) []campaign.Exhibit {
	l.got = append(l.got, string(c.Payload), string(minimized))
	return []campaign.Exhibit{
		{Kind: "text", Title: "sent " + token, Text: &campaign.Text{Body: "a " + token + " z", ReportOf: "get /" + token}},
		{Kind: "timeline", Timeline: &campaign.Timeline{Spans: []campaign.Span{{Note: token}}}},
	}
}
func (l *leaky) Summarize(any) campaign.Summary {
	return campaign.Summary{
		Exhibits: []campaign.Exhibit{{Kind: "text", Text: &campaign.Text{Body: "a " + token + " z", Marks: []campaign.Mark{{From: 17, To: 18}}}}},
		Examples: func(context.Context) []campaign.Exhibit {
			return []campaign.Exhibit{{Kind: "text", Title: "example " + token}}
		},
		Warnings: []string{"warning " + token}, Advice: []string{"advice " + token}, Void: "void " + token,
	}
}
func (l *leaky) Guesses(context.Context) []campaign.Guess {
	said := diag.Diagnostic{Message: "m " + token, Hint: "h " + token, Source: "s " + token, Related: []diag.Related{{Message: "r " + token}}}
	return []campaign.Guess{{Of: "of " + token, Claim: "claim " + token, Against: "against " + token, Said: said}}
}
func (l *leaky) Refine(title string, _ campaign.Severity, o campaign.Outcome) (string, campaign.Severity) {
	return title + " " + token, campaign.SeverityHigh
}
func (l *leaky) Input(_ context.Context, _ any, c campaign.Case) []byte {
	l.got = append(l.got, string(c.Payload))
	return c.Payload
}
func (l *leaky) Promote(_ context.Context, f campaign.Finding, payloads [][]byte, dir string) ([]campaign.File, error) {
	for _, p := range payloads {
		l.got = append(l.got, string(p))
	}
	return []campaign.File{{Name: "test.json", Data: []byte(`{"key": "` + token + `"}`), Exec: true}}, l.fail
}

type leakySession struct{ l *leaky }

func (s leakySession) Executor(context.Context, campaign.Lane) (campaign.Executor[any], error) {
	return leakyExecutor(s), s.l.fail
}
func (s leakySession) Close() error { return s.l.fail }

type leakyExecutor struct{ l *leaky }

func (x leakyExecutor) Execute(ctx context.Context, s any, c campaign.Case) (campaign.Outcome, error) {
	x.l.got = append(x.l.got, string(c.Payload))
	return campaign.Outcome{
		Verdict: campaign.VerdictFail, Kind: "kind " + token, Title: "title " + token, Signature: "signature " + token, Cause: []string{"cause " + token},
		Data:     []byte(token + "\x01"),
		Evidence: []campaign.Attachment{{Name: "stdout", Data: []byte("said " + token)}, {Name: "bytes", Data: []byte("\x00" + token)}},
		Whole:    []campaign.Attachment{{Name: "whole", Data: []byte("whole " + token)}},
	}, x.l.fail
}
func (x leakyExecutor) Close() error                  { return x.l.fail }
func (x leakyExecutor) Notes() []string               { return []string{"note " + token} }
func (x leakyExecutor) Batch() (time.Duration, int64) { return time.Second, 7 }
func (x leakyExecutor) ExecuteBatch(ctx context.Context, s any, cases []campaign.Case, each func(campaign.Case, campaign.Outcome) error) (time.Duration, error) {
	for _, c := range cases {
		o, _ := x.Execute(ctx, s, c)
		if err := each(c, o); err != nil {
			return time.Minute, err
		}
	}
	return time.Minute, x.l.fail
}

// Nothing that a campaign gives to journals, reports and files holds a secret, and its
// cases are executed with it.
func TestSecretsStayWithin(t *testing.T) {
	l := &leaky{}
	r := secret.New([]secret.Secret{{Name: "KEY", Value: token}})
	v := redactCampaign(l, campaign.Identity{Name: "as it is stored"}, r)
	ctx := t.Context()
	var got strings.Builder
	show := func(what string, x any) {
		text, ok := x.(string)
		if !ok {
			b, err := json.Marshal(x)
			if err != nil {
				t.Fatal(what, err)
			}
			text = string(b)
		}
		fmt.Fprintf(&got, "%s: %s\n", what, text)
	}
	outcome := func(what string, o campaign.Outcome) {
		show(what, fmt.Sprintf("%s %s | %s | %s | %q | %q | %q | %q", o.Verdict, o.Kind, o.Title, o.Signature, o.Cause, o.Data, o.Evidence, o.Whole))
	}
	given := campaign.Case{Index: 4, Payload: []byte(`["` + mark + `"]`)}
	show("identity", v.Identity().Name)
	f, err := v.Probe(ctx)
	show("probe", fmt.Sprintf("%s %q %t %v", f.Data, f.Warnings, f.Exclusive, err))
	show("start", v.Start(campaign.Facts{Data: []byte("d")}).(string))
	round, more := v.Round("go")
	show("round", fmt.Sprint(round.Len, more))
	show("fold", v.Fold("s", func(yield func(campaign.Case, campaign.Outcome) bool) {
		yield(campaign.Case{Index: 9}, campaign.Outcome{})
	}).(string))
	exhibits := v.(campaign.Describer[any]).Describe(nil, given, campaign.Outcome{}, given.Payload)
	show("describe", exhibits)
	show("report of", exhibits[0].Text.ReportOf)
	sum := v.(campaign.Summarizer[any]).Summarize(nil)
	show("summary", fmt.Sprintf("%q %q %q", sum.Warnings, sum.Advice, sum.Void))
	show("lengths", sum.Exhibits)
	show("examples", sum.Examples(ctx))
	show("guesses", fmt.Sprintf("%+v", v.(campaign.Guesser).Guesses(ctx)))
	title, severity := v.(campaign.Refiner).Refine("title", campaign.SeverityLow, campaign.Outcome{})
	show("refine", fmt.Sprint(title, " ", severity))
	show("input", string(v.(campaign.Inputter[any]).Input(ctx, nil, given)))
	show("bytes", string(v.(campaign.Inputter[any]).Input(ctx, nil, campaign.Case{Payload: []byte(mark + "\x01")})))
	files, err := v.(campaign.Promoter).Promote(ctx, campaign.Finding{}, [][]byte{given.Payload, []byte("x")}, "/dir")
	show("promote", fmt.Sprintf("%s %s %t %v", files[0].Name, files[0].Data, files[0].Exec, err))
	session := v.Open(nil)
	x, err := session.Executor(ctx, campaign.Lane{})
	if err != nil {
		t.Fatal(err)
	}
	var life campaign.Life
	o, err := x.Execute(campaign.WithLife(ctx, &life), nil, given)
	outcome("execute", o)
	show("execute", fmt.Sprint(err))
	show("clean", life.Clean(campaign.Outcome{Title: token}).Title)
	show("notes", x.(interface{ Notes() []string }).Notes())
	b, _ := campaign.As[campaign.Batcher](x)
	aim, most := b.Batch()
	busy, err := b.ExecuteBatch(ctx, nil, []campaign.Case{given}, func(c campaign.Case, o campaign.Outcome) error {
		outcome("batch of "+string(c.Payload), o)
		return nil
	})
	show("batch", fmt.Sprint(aim, most, busy, err))
	show("given", strings.Join(l.got, " "))
	const all = `fail kind M | title M | signature M | ["cause M"] | "M**\x01" | [{"stdout" "said M"} {"bytes" "\x00M**"}] | [{"whole" "whole M"}]`
	want := strings.NewReplacer("ALL", strings.ReplaceAll(all, "M", mark), "M", mark, "T", token).Replace(`identity: as it is stored
probe: {"a": "M"} ["w M"] true <nil>
start: state d
round: 3 true
fold: s9
describe: [{"kind":"text","title":"sent M","text":{"body":"a M z"}},{"kind":"timeline","title":"","timeline":{"unit":"","spans":[{"lane":"","label":"","start":0,"end":0,"note":"M"}]}}]
report of: get /M
summary: ["warning M"] ["advice M"] "void M"
lengths: [{"kind":"text","title":"","text":{"body":"a M** z","marks":[{"from":17,"to":18,"kind":""}]}}]
examples: [{"kind":"text","title":"example M"}]
guesses: [{Of:of M Claim:claim M Against:against M Said:error: m M (h M)}]
refine: title M high
input: ["M"]
bytes: M` + "\x01" + `
promote: test.json {"key": "${KEY}"} true <nil>
execute: ALL
execute: <nil>
clean: M
notes: ["note M"]
batch of ["M"]: ALL
batch: 1s 7 1m0s <nil>
given: ["T"] ["T"] ["T"] M` + "\x01" + ` ["T"] x ["T"] ["T"]
`)
	if got.String() != want {
		t.Errorf("got\n%s", got.String())
	}

	l.fail = errors.New("fails with " + token)
	_, probed := v.Probe(ctx)
	_, opened := session.Executor(ctx, campaign.Lane{})
	_, executed := x.Execute(ctx, nil, given)
	_, batched := b.ExecuteBatch(ctx, nil, nil, nil)
	_, promoted := v.(campaign.Promoter).Promote(ctx, campaign.Finding{}, nil, "")
	for i, err := range []error{probed, opened, executed, batched, promoted, x.Close(), session.Close()} {
		if err == nil || err.Error() != "fails with "+mark || !errors.Is(err, l.fail) {
			t.Errorf("error %d: %v", i, err)
		}
	}
	l.fail = errors.New("fails")
	if err := session.Close(); err != l.fail {
		t.Error(err)
	}
}

// An exhibit without a secret is as it was, and one whose secret is no text is not shown.
func TestExhibitsOfNumbers(t *testing.T) {
	v := redactCampaign(quiet{}, campaign.Identity{}, secret.New([]secret.Secret{{Name: "KEY", Value: "12345678"}})).(redacted)
	for start, want := range map[float64]string{7: "calls 7", 12345678: "Not shown", math.Inf(1): "calls +Inf"} {
		got := v.exhibits([]campaign.Exhibit{{Kind: "timeline", Title: "calls", Timeline: &campaign.Timeline{Spans: []campaign.Span{{Start: start}}}}})
		text := ""
		for _, e := range got {
			text += e.Title
			if e.Timeline != nil {
				text += fmt.Sprint(" ", e.Timeline.Spans[0].Start)
			}
		}
		if text != want {
			t.Errorf("%v: %s, want %s", start, text, want)
		}
	}
}

// quiet is a campaign that can do nothing more than it must.
type quiet struct{ campaign.Any }

func (quiet) Open(*campaign.Cache) campaign.Session[any] { return quietSession{} }

type quietSession struct{ leakySession }

func (quietSession) Executor(context.Context, campaign.Lane) (campaign.Executor[any], error) {
	return struct{ campaign.Executor[any] }{}, nil
}

// What a campaign cannot do it cannot do without its secrets either.
func TestCampaignsThatSayNothing(t *testing.T) {
	v := redactCampaign(quiet{}, campaign.Identity{}, secret.New([]secret.Secret{{Name: "KEY", Value: token}}))
	if _, ok := campaign.As[campaign.Promoter](v); ok {
		t.Error("it promotes")
	}
	x, err := v.Open(nil).Executor(t.Context(), campaign.Lane{})
	if _, ok := campaign.As[campaign.Batcher](x); ok || err != nil {
		t.Error("it takes batches", err)
	}
	title, severity := v.(campaign.Refiner).Refine("title", campaign.SeverityLow, campaign.Outcome{})
	sum := v.(campaign.Summarizer[any]).Summarize(nil)
	if title != "title" || severity != campaign.SeverityLow || sum.Examples != nil || sum.Exhibits != nil || x.(interface{ Notes() []string }).Notes() != nil ||
		v.(campaign.Describer[any]).Describe(nil, campaign.Case{}, campaign.Outcome{}, nil) != nil || v.(campaign.Guesser).Guesses(t.Context()) != nil || v.(campaign.Inputter[any]).Input(t.Context(), nil, campaign.Case{}) != nil {
		t.Error(title, severity, sum)
	}
}
