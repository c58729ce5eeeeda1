package operator

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/port/sut"
)

// write executes cases in which the attacker writes, or its judge rates.
func (x *executor) write(ctx context.Context, s *state, cases []campaign.Case, each func(campaign.Case, campaign.Outcome) error) error {
	for _, at := range cases {
		b := &s.attacker.plan[at.Index-s.done]
		var o campaign.Outcome
		var err error
		if s.attacker.phase == rating {
			o, err = x.askModel(ctx, &x.rater, x.c.attacker.rater, "judge", x.c.question(&s.attacker.nodes[b.node]), func(w *wrote, reply string) bool {
				w.Score = ratingIn(reply)
				return true
			})
		} else {
			o, err = x.askModel(ctx, &x.writer, x.c.attacker.writer, "attacker", x.c.task(s.attacker, b), func(w *wrote, reply string) bool {
				w.Prompt = x.c.promptIn(reply, b)
				return w.Prompt != ""
			})
		}
		if err != nil {
			return err
		}
		if err := each(at, o); err != nil {
			return err
		}
	}
	return nil
}

// saidLine is a line of a recording: the answer of an attacker or its judge.
type saidLine struct {
	Schema string `json:"schema"`
	Who    string `json:"who"`
	Call   call   `json:"call"`
}

const saidSchema = "thresh.attacker.v1"

// readSaid decodes such a line; input is the key that [replayed] uses.
func readSaid(text []byte) (input string, said call, ok bool) {
	var l saidLine
	if json.Unmarshal(text, &l) != nil || l.Schema != saidSchema {
		return "", call{}, false
	}
	return l.Call.Input + "\x00", l.Call, true
}

// askModel asks a model and opens it on first use; a recording needs none.
func (x *executor) askModel(ctx context.Context, at *sut.System, plan *sut.Plan, who, input string, read func(*wrote, string) bool) (campaign.Outcome, error) {
	c := x.c
	if *at == nil {
		if c.replay != nil {
			*at = &replayed{from: c.replay}
		} else {
			if c.systems == nil {
				return campaign.Outcome{}, errors.New("attacker: systems cannot be reached here")
			}
			opened, err := c.systems(ctx, plan, sut.Worker{Index: x.at.Index, Of: x.at.Of, Cold: x.at.Cold})
			if err != nil {
				return campaign.Outcome{}, err
			}
			*at = opened
		}
	}
	tries := systemTries
	if b := c.spec.Budget; b != nil && b.Calls > 0 || c.replay != nil {
		tries = 1
	}
	var w wrote
	var took spent
	var out campaign.Outcome
	why := ""
	for n, pause := 0, firstPause; n < tries; n, pause = n+1, pause*pauseGrows {
		if n > 0 && !sleep(ctx, pause) {
			return campaign.Outcome{}, ctx.Err()
		}
		if err := (*at).Reset(ctx); err != nil {
			return campaign.Outcome{}, err
		}
		o, err := (*at).Call(ctx, sut.Call{Input: []byte(input), Text: true})
		if err != nil {
			return campaign.Outcome{}, err
		}
		out.Elapsed += o.Elapsed
		if w.Calls = 1; c.spec.Budget != nil { // without a budget usage is not counted, as in systemLane.judge
			took.add(spentOn(input, &o))
			w.Calls, w.In, w.Out = took.calls, took.in, took.out
		}
		if o.End != sut.Answered {
			why = string(o.End) + ": " + o.Why
			continue
		}
		if out.Verdict = campaign.VerdictPass; !read(&w, replyOf(&o)) {
			out.Verdict = campaign.VerdictSkip
		}
		if c.recordAll {
			if line, err := json.Marshal(saidLine{saidSchema, who, c.callOf(input, &o)}); err == nil {
				out.Evidence = []campaign.Attachment{{Name: campaign.AttemptAttachment, Data: line}}
			}
		}
		out.Data, err = json.Marshal(&w)
		return out, err
	}
	out.Verdict, out.Kind, out.Title = campaign.VerdictError, who, "the "+who+" gave no answer: "+why
	var err error
	out.Data, err = json.Marshal(&w)
	return out, err
}

// promptIn is the prompt in an attacker's answer: from its JSON, or the whole answer; "" if there
// is none.
func (c *Campaign) promptIn(reply string, b *branch) string {
	limits := c.spec.Constraints
	if own := c.units[b.unit].seed.Constraints; own != nil {
		limits = *own
	}
	text := reply
	for rest := reply; ; {
		at := strings.IndexByte(rest, '{')
		if at < 0 {
			break
		}
		var said struct{ Prompt *string }
		if json.NewDecoder(strings.NewReader(rest[at:])).Decode(&said) == nil && said.Prompt != nil {
			text = *said.Prompt
			return c.guarded(text, limits)
		}
		rest = rest[at+1:]
	}
	if refused, _, _ := (&judge.Demand{Type: "refusal"}).Judge(text); refused { // a text can always be judged
		return ""
	}
	return c.guarded(text, limits)
}

// guarded applies the constraints to a prompt.
func (c *Campaign) guarded(text string, limits textop.Constraints) string {
	g := textop.NewGuard(limits)
	return textop.Normalize(strings.TrimSpace(g.Apply(textop.Normalize(text, limits)).Text), limits)
}

var ratingNumber = regexp.MustCompile(`\b(10|[1-9])\b`)

// ratingIn scales a rating from 1 to 10 to the range 0 to 1; nil: there is none.
func ratingIn(reply string) *float64 {
	said, known := judge.Spoken(reply)
	n, err := strconv.Atoi(ratingNumber.FindString(said))
	if err != nil || !known {
		return nil
	}
	score := float64(n-1) / 9
	return &score
}
