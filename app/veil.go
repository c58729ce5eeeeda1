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
)

// veiled is a campaign whose secrets stay within: what it gives to others has
// marks in their place.
type veiled struct {
	inner campaign.Any
	id    campaign.Identity
	r     *secret.Redactor
}

// veiledPromoter is one that can promote findings.
type veiledPromoter struct {
	veiled
	promoter campaign.Promoter
}

func veil(x campaign.Any, id campaign.Identity, r *secret.Redactor) campaign.Any {
	v := veiled{x, id, r}
	if p, ok := campaign.As[campaign.Promoter](x); ok {
		return veiledPromoter{v, p}
	}
	return v
}

// Unwrap implements [campaign.Wrapper].
func (v veiled) Unwrap() any { return v.inner }

func (v veiled) Identity() campaign.Identity { return v.id }

func (v veiled) Start(f campaign.Facts) any { return v.inner.Start(f) }

func (v veiled) Round(s any) (campaign.Round, bool) { return v.inner.Round(s) }

func (v veiled) Fold(s any, r iter.Seq2[campaign.Case, campaign.Outcome]) any {
	return v.inner.Fold(s, r)
}

func (v veiled) Probe(ctx context.Context) (campaign.Facts, error) {
	f, err := v.inner.Probe(ctx)
	f.Data = v.data(f.Data)
	f.Warnings = v.texts(f.Warnings)
	return f, v.error(err)
}

func (v veiled) Open(cache *campaign.Cache) campaign.Session[any] {
	return veiledSession{v.inner.Open(cache), v}
}

type veiledSession struct {
	campaign.Session[any]
	v veiled
}

func (s veiledSession) Executor(ctx context.Context, lane campaign.Lane) (campaign.Executor[any], error) {
	v := s.v
	x, err := s.Session.Executor(ctx, lane)
	if err != nil {
		return nil, v.error(err)
	}
	out := veiledExecutor{x, v}
	if b, ok := campaign.As[campaign.Batcher](x); ok {
		return veiledBatcher{out, b}, nil
	}
	return out, nil
}

// data is what a contract encoded for itself: text that is read as JSON, or
// bytes of which the lengths may count.
func (v veiled) data(b []byte) []byte {
	if json.Valid(b) {
		return v.r.Bytes(b)
	}
	return v.r.Fixed(b)
}

func (v veiled) texts(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = v.r.String(s)
	}
	if list == nil {
		return nil
	}
	return out
}

// outcome is what may be journalled of one.
func (v veiled) outcome(o campaign.Outcome) campaign.Outcome {
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

// exhibits are as they are but for secrets; where they point at parts of texts,
// these keep their lengths.
func (v veiled) exhibits(list []campaign.Exhibit) []campaign.Exhibit {
	text, err := json.Marshal(list)
	if err != nil {
		return list // what cannot be written down goes nowhere
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
func (v veiled) Describe(s any, c campaign.Case, o campaign.Outcome, minimized []byte) []campaign.Exhibit {
	if d, ok := campaign.As[campaign.Describer[any]](v.inner); ok {
		return v.exhibits(d.Describe(s, v.given(c), o, v.r.Restore(minimized)))
	}
	return nil
}

// Summarize implements [campaign.Summarizer].
func (v veiled) Summarize(s any) campaign.Summary {
	d, ok := campaign.As[campaign.Summarizer[any]](v.inner)
	if !ok {
		return campaign.Summary{}
	}
	sum := d.Summarize(s)
	sum.Exhibits, sum.Warnings, sum.Advice = v.exhibits(sum.Exhibits), v.texts(sum.Warnings), v.texts(sum.Advice)
	return sum
}

// Guesses implements [campaign.Guesser].
func (v veiled) Guesses(ctx context.Context) []campaign.Guess {
	d, ok := campaign.As[campaign.Guesser](v.inner)
	if !ok {
		return nil
	}
	list := d.Guesses(ctx)
	for i := range list {
		said := diag.List{list[i].Said}
		redact(v.r, said)
		list[i].Against, list[i].Said = v.r.String(list[i].Against), said[0]
	}
	return list
}

// Refine implements [campaign.Refiner].
func (v veiled) Refine(title string, severity campaign.Severity, o campaign.Outcome) (string, campaign.Severity) {
	if d, ok := campaign.As[campaign.Refiner](v.inner); ok {
		title, severity = d.Refine(title, severity, o)
		title = v.r.String(title)
	}
	return title, severity
}

// Input implements [campaign.Inputter]: an explicit case in JSON is stored with
// marks, and executed with what they stand for.
func (v veiled) Input(ctx context.Context, s any, c campaign.Case) []byte {
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

// given is a case as the campaign knows it.
func (v veiled) given(c campaign.Case) campaign.Case {
	if json.Valid(c.Payload) {
		c.Payload = v.r.Restore(c.Payload)
	}
	return c
}

// Promote implements [campaign.Promoter].
func (v veiledPromoter) Promote(ctx context.Context, f campaign.Finding, payloads [][]byte, dir string) ([]campaign.File, error) {
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

// veiledExecutor executes with secrets and answers without.
type veiledExecutor struct {
	inner campaign.Executor[any]
	v     veiled
}

// Unwrap implements [campaign.Wrapper].
func (x veiledExecutor) Unwrap() any { return x.inner }

func (x veiledExecutor) Execute(ctx context.Context, s any, c campaign.Case) (campaign.Outcome, error) {
	o, err := x.inner.Execute(ctx, s, x.v.given(c))
	return x.v.outcome(o), x.v.error(err)
}

func (x veiledExecutor) Close() error { return x.v.error(x.inner.Close()) }

// Notes is what the executor has to say of how it ran its cases.
func (x veiledExecutor) Notes() []string {
	if n, ok := campaign.As[interface{ Notes() []string }](x.inner); ok {
		return x.v.texts(n.Notes())
	}
	return nil
}

// veiledBatcher is one that takes many cases at once.
type veiledBatcher struct {
	veiledExecutor
	b campaign.Batcher
}

func (x veiledBatcher) Batch() (aim time.Duration, most int64) { return x.b.Batch() }

// ExecuteBatch implements [campaign.Batcher].
func (x veiledBatcher) ExecuteBatch(ctx context.Context, s any, cases []campaign.Case, each func(campaign.Case, campaign.Outcome) error) (time.Duration, error) {
	given := make([]campaign.Case, len(cases))
	for i, c := range cases {
		given[i] = x.v.given(c)
	}
	busy, err := x.b.ExecuteBatch(ctx, s, given, func(c campaign.Case, o campaign.Outcome) error { return each(c, x.v.outcome(o)) })
	return busy, x.v.error(err)
}

// veiledError is an error that says what it did but for secrets.
type veiledError struct {
	text string
	err  error
}

func (e *veiledError) Error() string { return e.text }

// Unwrap returns what it was.
func (e *veiledError) Unwrap() error { return e.err }

func (v veiled) error(err error) error { return redactError(v.r, err) }

func redactError(r *secret.Redactor, err error) error {
	if err == nil {
		return nil
	}
	if text := r.String(err.Error()); text != err.Error() {
		return &veiledError{text, err}
	}
	return err
}
