package app

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/secret"
	"github.com/thresh-dev/thresh/engine/seq"
)

// redacted is a campaign that keeps its secrets: everything it returns has marks in their place.
type redacted struct {
	inner campaign.Any
	id    campaign.Identity
	r     *secret.Redactor
}

// redactedPromoter is a redacted campaign that can promote findings.
type redactedPromoter struct {
	redacted
	promoter campaign.Promoter
}

func redactCampaign(x campaign.Any, id campaign.Identity, r *secret.Redactor) campaign.Any {
	v := redacted{x, id, r}
	if p, ok := campaign.As[campaign.Promoter](x); ok {
		return redactedPromoter{v, p}
	}
	return v
}

// Unwrap implements [campaign.Wrapper].
func (v redacted) Unwrap() any { return v.inner }

func (v redacted) Identity() campaign.Identity { return v.id }

func (v redacted) Start(f campaign.Facts) any { return v.inner.Start(f) }

func (v redacted) Round(s any) (campaign.Round, bool) { return v.inner.Round(s) }

func (v redacted) Fold(s any, r iter.Seq2[campaign.Case, campaign.Outcome]) any {
	return v.inner.Fold(s, r)
}

func (v redacted) Probe(ctx context.Context) (campaign.Facts, error) {
	f, err := v.inner.Probe(ctx)
	f.Data = v.data(f.Data)
	f.Warnings = v.texts(f.Warnings)
	return f, v.error(err)
}

func (v redacted) Open(cache *campaign.Cache) campaign.Session[any] {
	return redactedSession{v.inner.Open(cache), v}
}

type redactedSession struct {
	campaign.Session[any]
	v redacted
}

func (s redactedSession) Executor(ctx context.Context, lane campaign.Lane) (campaign.Executor[any], error) {
	v := s.v
	x, err := s.Session.Executor(ctx, lane)
	if err != nil {
		return nil, v.error(err)
	}
	out := redactedExecutor{x, v}
	if b, ok := campaign.As[campaign.Batcher](x); ok {
		return redactedBatcher{out, b}, nil
	}
	return out, nil
}

func (s redactedSession) Close() error { return s.v.error(s.Session.Close()) }

// data redacts what a contract encoded for itself: JSON as text, other bytes with their lengths
// kept, because the lengths may matter.
func (v redacted) data(b []byte) []byte {
	if json.Valid(b) {
		return v.r.Bytes(b)
	}
	return v.r.Fixed(b)
}

func (v redacted) texts(list []string) []string {
	if list == nil {
		return nil
	}
	return seq.Map(list, v.r.String)
}

// outcome returns an outcome that may be journalled.
func (v redacted) outcome(o campaign.Outcome) campaign.Outcome {
	o.Kind, o.Title, o.Signature = v.r.String(o.Kind), v.r.String(o.Title), v.r.String(o.Signature)
	o.Cause, o.Data = v.texts(o.Cause), v.data(o.Data)
	for _, list := range []*[]campaign.Attachment{&o.Evidence, &o.Whole} {
		var out []campaign.Attachment
		for _, a := range *list {
			if bytes.IndexByte(a.Data, 0) >= 0 {
				a.Data = v.r.Fixed(a.Data)
			} else {
				a.Data = v.r.Bytes(a.Data)
			}
			out = append(out, a)
		}
		*list = out
	}
	return o
}

// exhibits returns exhibits without secrets. Texts that other parts of an exhibit point into keep
// their lengths.
func (v redacted) exhibits(list []campaign.Exhibit) []campaign.Exhibit {
	text, err := json.Marshal(list)
	if err != nil {
		return list // never happens: exhibits can be encoded
	}
	clean := v.r.Bytes(text)
	if bytes.Equal(clean, text) {
		return list
	}
	if bytes.Contains(text, []byte(`"marks":`)) {
		clean = v.r.Fixed(text)
	}
	var out []campaign.Exhibit
	if json.Unmarshal(clean, &out) != nil {
		return []campaign.Exhibit{{Kind: "text", Title: "Not shown", Text: &campaign.Text{Body: "It holds a secret that cannot be taken out."}}}
	}
	for i := range out {
		if t := list[i].Text; t != nil {
			out[i].Text.ReportOf = string(v.r.Bytes([]byte(t.ReportOf)))
		}
	}
	return out
}

// Describe implements [campaign.Describer].
func (v redacted) Describe(s any, c campaign.Case, o campaign.Outcome, minimized []byte) []campaign.Exhibit {
	if d, ok := campaign.As[campaign.Describer[any]](v.inner); ok {
		return v.exhibits(d.Describe(s, v.given(c), o, v.r.Restore(minimized)))
	}
	return nil
}

// Summarize implements [campaign.Summarizer].
func (v redacted) Summarize(s any) campaign.Summary {
	d, ok := campaign.As[campaign.Summarizer[any]](v.inner)
	if !ok {
		return campaign.Summary{}
	}
	sum := d.Summarize(s)
	if examples := sum.Examples; examples != nil {
		sum.Examples = func(ctx context.Context) []campaign.Exhibit { return v.exhibits(examples(ctx)) }
	}
	sum.Exhibits, sum.Warnings, sum.Advice, sum.Void = v.exhibits(sum.Exhibits), v.texts(sum.Warnings), v.texts(sum.Advice), v.r.String(sum.Void)
	return sum
}

// Guesses implements [campaign.Guesser].
func (v redacted) Guesses(ctx context.Context) []campaign.Guess {
	d, ok := campaign.As[campaign.Guesser](v.inner)
	if !ok {
		return nil
	}
	list := d.Guesses(ctx)
	for i := range list {
		said := diag.List{list[i].Said}
		redact(v.r, said)
		g := &list[i]
		g.Of, g.Claim, g.Against, g.Said = v.r.String(g.Of), v.r.String(g.Claim), v.r.String(g.Against), said[0]
	}
	return list
}

// Refine implements [campaign.Refiner].
func (v redacted) Refine(title string, severity campaign.Severity, o campaign.Outcome) (string, campaign.Severity) {
	if d, ok := campaign.As[campaign.Refiner](v.inner); ok {
		title, severity = d.Refine(title, severity, o)
		title = v.r.String(title)
	}
	return title, severity
}

// Input implements [campaign.Inputter]. An explicit case in JSON is stored with marks and executed
// with the secrets.
func (v redacted) Input(ctx context.Context, s any, c campaign.Case) []byte {
	d, ok := campaign.As[campaign.Inputter[any]](v.inner)
	if !ok {
		return nil
	}
	b := d.Input(ctx, s, v.given(c))
	if json.Valid(b) {
		return v.r.Bytes(b)
	}
	return b
}

// given returns a case with the secrets that the campaign expects.
func (v redacted) given(c campaign.Case) campaign.Case {
	if json.Valid(c.Payload) {
		c.Payload = v.r.Restore(c.Payload)
	}
	return c
}

// Promote implements [campaign.Promoter].
func (v redactedPromoter) Promote(ctx context.Context, f campaign.Finding, payloads [][]byte, dir string) ([]campaign.File, error) {
	given := make([][]byte, len(payloads))
	for i := range payloads {
		given[i] = v.given(campaign.Case{Payload: payloads[i]}).Payload
	}
	files, err := v.promoter.Promote(ctx, f, given, dir)
	for i := range files {
		files[i].Data = v.r.Template(files[i].Data)
	}
	return files, v.error(err)
}

// redactedExecutor executes with secrets and returns outcomes without them.
type redactedExecutor struct {
	inner campaign.Executor[any]
	v     redacted
}

// Unwrap implements [campaign.Wrapper].
func (x redactedExecutor) Unwrap() any { return x.inner }

func (x redactedExecutor) Execute(ctx context.Context, s any, c campaign.Case) (campaign.Outcome, error) {
	if l := campaign.LifeOf(ctx); l != nil {
		l.Clean = x.v.outcome
	}
	o, err := x.inner.Execute(ctx, s, x.v.given(c))
	return x.v.outcome(o), x.v.error(err)
}

func (x redactedExecutor) Close() error { return x.v.error(x.inner.Close()) }

// Notes returns the executor's notes on how it ran its cases.
func (x redactedExecutor) Notes() []string {
	if n, ok := campaign.As[interface{ Notes() []string }](x.inner); ok {
		return x.v.texts(n.Notes())
	}
	return nil
}

// redactedBatcher is a redacted executor that takes many cases at once.
type redactedBatcher struct {
	redactedExecutor
	b campaign.Batcher
}

func (x redactedBatcher) Batch() (aim time.Duration, most int64) { return x.b.Batch() }

// ExecuteBatch implements [campaign.Batcher].
func (x redactedBatcher) ExecuteBatch(ctx context.Context, s any, cases []campaign.Case, each func(campaign.Case, campaign.Outcome) error) (time.Duration, error) {
	known := make(map[int64]campaign.Case, len(cases)) // with marks, as the run gave them
	for _, c := range cases {
		known[c.Index] = c
	}
	busy, err := x.b.ExecuteBatch(ctx, s, seq.Map(cases, x.v.given), func(c campaign.Case, o campaign.Outcome) error {
		return each(known[c.Index], x.v.outcome(o))
	})
	return busy, x.v.error(err)
}

// redactedError is an error whose text has no secrets.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }

// Unwrap returns the original error.
func (e *redactedError) Unwrap() error { return e.err }

func (v redacted) error(err error) error { return redactError(v.r, err) }

func redactError(r *secret.Redactor, err error) error {
	if err == nil {
		return nil
	}
	if text := r.String(err.Error()); text != err.Error() {
		return &redactedError{text, err}
	}
	return err
}
