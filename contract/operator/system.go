package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/systemfile"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/port/sut"
)

// system reads the system that receives the children: from --system, or else from the document. Its
// file and the programs it starts decide the cases.
func (c *compiler) system(camp *Campaign) {
	spec := &camp.spec
	path, read := c.set.Get(optSystem, ""), c.set.Read
	switch {
	case path != "": // as it is
	case spec.Inline != nil:
		path, read = c.doc.Path, func(name string) ([]byte, error) {
			if name == c.doc.Path {
				return spec.Inline, nil
			}
			return c.set.Read(name)
		}
	case spec.System != "":
		path = besideDocument(c.doc.Path, spec.System)
	case len(spec.Judges) > 0:
		c.report(diag.Error, "no-effect", "judges", "has no effect without system, whose replies are judged")
		return
	default:
		return
	}
	switch {
	case spec.Oracle != nil || spec.Verdicts != "":
		c.report(diag.Error, "no-effect", "system", "cannot be used together with oracle or verdicts: a child has one judge")
		return
	case len(spec.Judges) == 0:
		c.report(diag.Error, "missing-key", "judges", "must be given with a system: without judges no reply would be wrong")
		return
	}
	plan := c.plan(path, read)
	if plan == nil {
		return
	}
	if file := c.set.Get(optReplay, ""); file != "" {
		camp.replay = c.replies(file)
	}
	if camp.talks() && plan.ResetBy() == sut.ResetProcess {
		c.report(diag.Warning, "idle", "system", "every message of a conversation goes to a new process, which does not know the earlier messages; a driver can keep them")
	}
	camp.plan, camp.systemFile, camp.inDocument = plan, path, path == c.doc.Path
}

// plan reads a system file, which decides the cases.
func (c *compiler) plan(path string, read func(string) ([]byte, error)) *sut.Plan {
	plan, found := systemfile.Load(path, read, c.set.Digest)
	if path == c.doc.Path {
		for i := range found { // the places are relative to the mapping
			found[i].Pos, found[i].Source = diag.Pos{File: path, Line: 1, Col: 1}, ""
			found[i].Path = strings.TrimSuffix("system."+found[i].Path, ".")
		}
	}
	if c.list = append(c.list, found...); plan == nil {
		return nil
	}
	if slices.ContainsFunc(plan.Command, func(w string) bool { return strings.Contains(w, campaign.Self) }) {
		plan.Command = c.set.Programs(plan.Command)
		if sum, err := c.set.Digest(c.set.Self); err == nil {
			c.part([]byte(sum))
			plan.Unknown = ""
		}
	}
	c.part([]byte(plan.Digest))
	return plan
}

// Traits implements [campaign.WithTraits]: resetting an instance that others use at the same time
// would cause false findings.
func (c *Campaign) Traits() campaign.Traits {
	return campaign.Traits{
		Planned: c.planned(), Roughly: c.roughly(), Exclusive: c.plan != nil && c.plan.Exclusive(),
		Prompts: true, Records: c.records(), SkipReason: skipReason, Gauge: gauge,
	}
}

// systemLane sends children to the system on one lane, and judges its replies.
type systemLane struct {
	c      *Campaign
	system sut.System
	worker sut.Worker
	models map[string]sut.System // that judges ask, by the judge's id
	broken int                   // consecutive cases without a verdict
	again  bool                  // cases are repeated, at the expense of the budget's reserve
}

func (c *Campaign) openSystem(ctx context.Context, lane campaign.Lane) (*systemLane, error) {
	l := &systemLane{c: c, again: lane.Cold, models: map[string]sut.System{}, worker: sut.Worker{Index: lane.Index, Of: lane.Of, Cold: lane.Cold}}
	if c.replay != nil {
		l.system = &replayed{from: c.replay}
		return l, nil
	}
	if c.systems == nil {
		return nil, errors.New("system: systems cannot be reached here")
	}
	var err error
	if l.system, err = c.systems(ctx, c.plan, l.worker); err != nil {
		return nil, err
	}
	return l, nil
}

// Close closes the lane.
func (l *systemLane) Close() error {
	errs := []error{l.system.Close()}
	for _, m := range l.models {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}

// systemTries is the maximum number of tries for a verdict on a child.
const systemTries = 3

// judge sends a child to the system and judges the reply. A system that crashes, hangs or floods on
// a child is a finding. A system that is not reached, and a reply that cannot be judged, are errors
// of the case after the last try. A returned error is the environment's.
func (l *systemLane) judge(ctx context.Context, child *mutator.Child, only string, out *campaign.Outcome) error {
	tries := systemTries
	if l.broken >= brokenRow {
		tries = 1
	}
	if b := l.c.spec.Budget; b != nil && b.Calls > 0 || l.c.replay != nil {
		tries = 1 // calls are limited, and a recording does not change
	}
	var why string
	var took spent
	for n, pause := 0, firstPause; n < tries; n, pause = n+1, pause*pauseGrows {
		if n > 0 && !sleep(ctx, pause) {
			return ctx.Err()
		}
		if l.again && l.c.after.exceeds(l.c.spec.Budget, 1) {
			why = "the budget is spent"
			break
		}
		if err := l.system.Reset(ctx); err != nil {
			return err
		}
		if l.c.spec.Budget == nil {
			took = spent{} // equal replies must give equal outcomes, however often the system was not reached before
		}
		v, fault, err := l.ask(ctx, child, only, &took, out)
		if err != nil {
			return err
		}
		if why = fault; why != "" {
			continue
		}
		if l.broken, v.spent = 0, took; only != "" && v.judgement == mutator.Pass && !l.again {
			v.heldAlone(only)
		}
		l.c.applyVerdict(child, v, out)
		return nil
	}
	l.broken++
	l.c.unjudged(child, "system", why, tries, took, out)
	return nil
}

// ask sends the messages of a child, one after another, and judges every reply. The first failure
// ends the conversation. fault says why there is no verdict.
func (l *systemLane) ask(ctx context.Context, child *mutator.Child, only string, took *spent, out *campaign.Outcome) (v judged, fault string, err error) {
	messages := textop.Turns(child.Seed.Surface, child.Text)
	var calls []call
	var before []sut.Message
	sent := ""
	for i, text := range messages {
		sent += text
		o, err := l.system.Call(ctx, sut.Call{Input: []byte(text), Text: true, History: before})
		if err != nil {
			return v, "", err
		}
		out.Elapsed += o.Elapsed
		now := spent{calls: 1}
		if l.c.spec.Budget != nil {
			now = spentOn(sent, &o)
		}
		if took.add(now); l.again {
			l.c.after.add(now)
		}
		if sent += replyOf(&o); l.c.plan.TakesHistory() {
			before = append(before, sut.Message{Role: "user", Text: text}, sut.Message{Role: "assistant", Text: replyOf(&o)})
		} else {
			sent = ""
		}
		if o.End == sut.Unreachable {
			return v, "it is not reached: " + o.Why, nil
		}
		calls = append(calls, l.c.callOf(text, &o))
		if v, err = l.judgeReply(ctx, &o, calls, i == len(messages)-1, only, took); err != nil {
			return v, err.Error(), ctx.Err()
		}
		if v.judgement == mutator.Fail {
			break
		}
	}
	v.calls = calls
	return v, "", nil
}

// judgeReply judges a reply; the first judge that fails identifies the finding. Intermediate
// replies must pass only the judges that forbid something; the others, and those that need tool
// calls or models, judge the last reply. If only is not "", only that judge judges.
func (l *systemLane) judgeReply(ctx context.Context, o *sut.Observation, calls []call, last bool, only string, took *spent) (judged, error) {
	c := l.c
	v := judged{judgement: mutator.Pass, reply: replyOf(o), by: c.plan.Name}
	if o.End.Failed() {
		v.judgement, v.broken, v.ended = mutator.Fail, string(o.End), true
		v.printed = bytes.Clone(o.Printed)
		why := "the system " + string(o.End) + ": " + o.Why
		v.opinions = []judgement{{Reason: why}}
		for i := range c.spec.Judges {
			if j := &c.spec.Judges[i]; j.Type == "completes" {
				v.opinions = append(v.opinions, judgement{j.ID, false, why})
			}
		}
		return v, nil
	}
	for i := range c.spec.Judges {
		j := &c.spec.Judges[i]
		if only != "" && j.ID != only || !last && !j.forbids() && j.Type != "excludes_pii" && !slices.Contains(measured, j.Type) {
			continue
		}
		if j.model != nil && v.broken != "" {
			continue // the case has already failed: a model's opinion would cost money and change nothing
		}
		var ok bool
		var reason string
		var err error
		if j.check != nil {
			ok, reason, err = l.consult(ctx, j, c.record(calls), &v, took)
		} else {
			ok, reason, err = j.Judge(v.reply)
		}
		switch {
		case o.End == sut.Refused && j.Type == "refusal" && !j.Negate:
			ok, reason = true, "the system refused the call: "+o.Why
		case err != nil:
			return judged{}, fmt.Errorf("%s: %w", j.ID, err)
		}
		if !ok && v.broken == "" {
			v.judgement, v.broken = mutator.Fail, j.ID
		}
		v.opinions = append(v.opinions, judgement{j.ID, ok, reason})
	}
	return v, nil
}

// replyOf is the text of a reply: a string as it is, other values as JSON.
func replyOf(o *sut.Observation) string {
	var text string
	switch {
	case o.Value == nil:
		return string(o.Output)
	case json.Unmarshal(o.Value, &text) == nil:
		return text
	}
	return string(o.Value)
}
