package operator

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/port/sut"
)

// attempt is a judged prompt, as a line of a hit log. Beside its own fields it has those of garak's
// hit logs, and those of the output items of OpenAI's evaluations, which promptfoo imports line by
// line. The report adds the numbers of the run and of the line.
type attempt struct {
	Schema   string   `json:"schema"`
	Testcase string   `json:"testcase_id"`
	Seed     string   `json:"seed_id"`
	Bucket   string   `json:"bucket_id,omitempty"`
	Refs     []string `json:"bucket_refs,omitempty"`
	Chain    []Step   `json:"chain"`
	Goal     string   `json:"goal"`
	Prompt   struct {
		Turns []attemptTurn `json:"turns"`
	} `json:"prompt"` // garak's Conversation, which rejects other fields
	Output   any         `json:"output"` // {"text": ...}; a string in recordings of earlier versions
	Triggers []string    `json:"triggers"`
	Probe    string      `json:"probe"`
	Detector string      `json:"detector,omitempty"`
	Score    float64     `json:"score"`
	Judges   []judgement `json:"judges"`
	Calls    []call      `json:"calls,omitempty"`
	Asked    []call      `json:"judge_calls,omitempty"`

	ID          string `json:"attempt_id"`
	Index       int    `json:"attempt_idx"`
	Generator   string `json:"generator"`
	Generations int    `json:"generations_per_prompt"`

	Item struct {
		Input string `json:"input"`
		Label string `json:"label"`
	} `json:"item"`
	Sample struct {
		Outputs []attemptOutput `json:"outputs"`
	} `json:"sample"`
	Grades map[string]float64 `json:"grades"`
	Passes map[string]bool    `json:"passes"`
}

type attemptOutput struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type attemptTurn struct {
	Role    string            `json:"role"`
	Content map[string]string `json:"content"`
}

// judgement is the verdict of one judge on the replies.
type judgement struct {
	Judge  string `json:"id"`
	Holds  bool   `json:"pass"`
	Reason string `json:"reason"`
}

func (o judgement) String() string {
	switch {
	case o.Judge == "": // the call had no reply to judge
		return o.Reason
	case o.Holds:
		return o.Judge + " holds: " + o.Reason
	}
	return o.Judge + " fails: " + o.Reason
}

// call is a message to the system, with its result.
type call struct {
	Input  string          `json:"input"`
	End    sut.End         `json:"end"`
	Why    string          `json:"why,omitempty"`
	Value  json.RawMessage `json:"value,omitempty"`
	Output string          `json:"output,omitempty"` // if the value does not contain everything
	Events []sut.Event     `json:"events,omitempty"`
	Took   *float64        `json:"latency_ms,omitempty"` // only if a judge measures it
}

func (c *Campaign) callOf(input string, o *sut.Observation) call {
	x := call{Input: input, End: o.End, Why: o.Why, Value: o.Value, Events: o.Events}
	if o.Value == nil || c.spec.Budget != nil || c.traced() { // the usage, or calls of tools, are read from it
		x.Output = string(o.Output)
	}
	if o.Elapsed > 0 && c.timed() {
		ms := float64(o.Elapsed) / float64(time.Millisecond)
		x.Took = &ms
	}
	return x
}

func (c *call) observation() sut.Observation {
	o := sut.Observation{End: c.End, Why: c.Why, Value: c.Value, Output: []byte(c.Output), Events: c.Events}
	if c.Took != nil {
		o.Elapsed = time.Duration(*c.Took * float64(time.Millisecond))
	}
	return o
}

// attempt is the hit log line of a judged child.
func (c *Campaign) attempt(child *mutator.Child, v *judged) []byte {
	won := v.judgement == mutator.Fail
	a := attempt{
		Schema: "thresh.attempt.v1", Testcase: child.ID, Seed: child.Seed.ID, Bucket: string(child.Seed.Bucket), Refs: numbers(child.Seed.Bucket), Chain: []Step{},
		Goal: cmp.Or(child.Seed.Goal, child.Seed.Text), Output: map[string]string{"text": v.reply}, Triggers: c.secrets, Detector: v.broken, Judges: append([]judgement{}, v.opinions...), Calls: v.calls, Asked: v.asked,
		Grades: map[string]float64{}, Passes: map[string]bool{}, Generator: v.by, Generations: 1,
	}
	sum := sha256.Sum256([]byte(c.id.Digest + "\x00" + child.ID + "\x00" + child.Text))
	a.ID = fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	var names []string
	for i, x := range child.Applied {
		if x.Status == textop.OK {
			a.Chain = append(a.Chain, Step{child.Steps[i].OpID, child.Steps[i].Params.Int("strength")})
			names = append(names, child.Steps[i].OpID)
		}
	}
	a.Probe = strings.Join(names, "+")
	a.Item.Input, a.Item.Label = child.Text, child.ID
	a.Sample.Outputs = []attemptOutput{{"assistant", v.reply}}
	for i, text := range textop.Turns(child.Seed.Surface, child.Text) {
		if len(v.calls) > 0 && i == len(v.calls) {
			break // the conversation ended before
		}
		a.Prompt.Turns = append(a.Prompt.Turns, attemptTurn{"user", map[string]string{"text": text}})
		if i+1 < len(v.calls) {
			o := v.calls[i].observation()
			a.Prompt.Turns = append(a.Prompt.Turns, attemptTurn{"assistant", map[string]string{"text": replyOf(&o)}})
		}
	}
	if won {
		a.Score = 1
	}
	if v.score != nil {
		a.Score = *v.score
	}
	for _, o := range v.opinions {
		a.grade(cmp.Or(o.Judge, v.broken), o.Holds)
	}
	if len(a.Passes) == 0 { // an oracle has no judges
		a.grade("oracle", !won)
	}
	line, err := json.Marshal(a)
	if err != nil { // cannot fail: texts, finite numbers and JSON that was read
		return nil
	}
	return line
}

func (a *attempt) grade(judge string, holds bool) {
	if a.Passes[judge], a.Grades[judge] = holds, 0; holds {
		a.Grades[judge] = 1
	}
}

// records selects the attempts whose evidence is kept.
func (c *Campaign) records() campaign.Recording {
	switch {
	case c.plan == nil && c.oracle == "":
		return campaign.RecordFindings
	case c.recordAll:
		return campaign.RecordAll
	}
	return campaign.RecordFailures
}

// recording holds the replies of an earlier run, by the messages of a conversation.
type recording map[string]call

// replies reads a file that thresh report --format attempts wrote.
func (c *compiler) replies(path string) recording {
	data, err := c.set.Read(path)
	if err != nil {
		c.report(diag.Error, "option", "", "--replay-replies: %s: %s", path, cause(err))
		return nil
	}
	r, line := recording{}, 0
	for text := range strings.Lines(strings.TrimPrefix(string(data), mark)) {
		var a attempt
		line++
		if input, said, ok := readSaid([]byte(text)); ok {
			r[input] = said
			continue
		}
		if json.Unmarshal([]byte(text), &a) != nil || a.Schema != "thresh.attempt.v1" {
			c.list = append(c.list, diag.Diagnostic{
				Code: "operator.option", Pos: diag.Pos{File: path, Line: line, Col: 1}, Message: "is not an attempt",
				Hint: "thresh run DOC --record-replies, then thresh report --format attempts -o " + path,
			})
			return nil
		}
		said := ""
		for _, x := range a.Calls {
			said += x.Input + "\x00"
			r[said] = x
		}
		for _, x := range a.Asked {
			r[x.Input+"\x00"] = x
		}
	}
	return r
}

// replayed answers from the recording of an earlier run.
type replayed struct {
	from recording
	said string
}

func (*replayed) Operations() []sut.Operation   { return nil }
func (x *replayed) Reset(context.Context) error { x.said = ""; return nil }
func (*replayed) Close() error                  { return nil }
func (*replayed) Notes() []string {
	return []string{"replies were those of an earlier run; the system was not asked"}
}

func (x *replayed) Call(_ context.Context, in sut.Call) (sut.Observation, error) {
	x.said += string(in.Input) + "\x00"
	if c, ok := x.from[x.said]; ok {
		return c.observation(), nil
	}
	return sut.Observation{End: sut.Unreachable, Why: fmt.Sprintf("the recording has no reply to %q", diag.FirstLine(string(in.Input)))}, nil
}
