package operator

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/port/process"
	"github.com/thresh-dev/thresh/port/sut"
)

// kindVerdict is the kind of a case in which the system under test failed.
const kindVerdict = "verdict"

// judged is the verdict on a child and its source.
type judged struct {
	judgement mutator.Judgement
	score     *float64
	reply     string          // of the system under test; "" if unknown
	result    *process.Result // of the oracle; nil: the verdict comes from a file
	verdict   *Verdict        // its line in that file
	by        string          // the system whose reply was judged; "" if none
	broken    string          // the first judge that failed, or how the call ended
	ended     bool            // broken says how the call ended
	printed   []byte          // output of the system in a call that ended
	opinions  []judgement     // of all judges, or how a call ended
	calls     []call
	asked     []call // to models that judge
	spent     spent  // on the system, including tries without a verdict
}

// applyVerdict makes the verdict on a child the outcome of its case. If an operator also broke the
// contract, the more severe of the two is the finding.
func (c *Campaign) applyVerdict(child *mutator.Child, v judged, out *campaign.Outcome) {
	f, _ := decodeFacts(out.Data)
	f.judged, f.judgement, f.score = true, v.judgement, v.score
	blamed := v.judgement == mutator.Fail && (out.Verdict != campaign.VerdictFail || out.Severity < campaign.SeverityMedium)
	if c.spec.Policy == mutator.Search || c.attacker != nil {
		f.more, f.signal = true, c.signalOf(child, v.reply)
	}
	if c.plan != nil {
		f.more, f.spent, f.asked = true, v.spent, v.spent.calls-int64(len(v.calls))
		f.tools, f.lacks = c.called(v.calls)
		f.silent = v.judgement == mutator.Pass && v.silent()
		f.beside = v.beside(blamed)
		if v.judgement == mutator.Fail || c.attacker != nil {
			f.reply = diag.Cut(strings.ToValidUTF8(v.reply, ""), replyBytes)
		}
	}
	out.Data = f.encode()
	if blamed {
		by := c.failed(child, out)
		out.Title = "the oracle says FAIL of children made by " + by
		if v.by != "" {
			v.blame(child, out)
		} else if c.spec.Policy == mutator.Search {
			bucket := string(child.Seed.Bucket)
			out.Title, out.Signature = "the oracle says FAIL", kindVerdict+"\noracle\n"+bucket
			out.Cause = []string{kindVerdict, orAny(bucket)}
		}
		if v.verdict != nil {
			out.Title = "the verdicts say FAIL of children made by " + by
		}
	}
	if out.Verdict == campaign.VerdictFail || len(out.Evidence) > 0 {
		v.attach(out)
	}
	if v.verdict == nil && (c.recordAll || v.judgement == mutator.Fail) {
		out.Evidence = append(out.Evidence, campaign.Attachment{Name: campaign.AttemptAttachment, Data: c.attempt(child, &v)})
	}
}

// silent reports whether the system said nothing and called no tool.
func (v *judged) silent() bool {
	acts := func(c call) bool { return c.End != sut.Answered || len(c.Events) > 0 }
	return slices.Contains([]string{"", "null"}, strings.TrimSpace(v.reply)) && !slices.ContainsFunc(v.calls, acts)
}

// reasons lists the opinions, one per line.
func (v *judged) reasons() string {
	return strings.Join(seq.Map(v.opinions, func(o judgement) string { return o.String() }), "\n")
}

// dialogue lists messages and replies if there were several.
func (v *judged) dialogue() string {
	if len(v.calls) < 2 {
		return ""
	}
	var parts []string
	for i := range v.calls {
		o := v.calls[i].observation()
		parts = append(parts, fmt.Sprintf("message %d: %s\nreply %d: %s", i+1, v.calls[i].Input, i+1, replyOf(&o)))
	}
	return strings.Join(parts, "\n\n")
}

// blame describes a failure of the system and groups it: by the judge, the bucket of the seed, and
// what a guard would have had to see through.
func (v *judged) blame(child *mutator.Child, out *campaign.Outcome) {
	bucket, by := string(child.Seed.Bucket), disguise(child)
	out.Title = "the reply breaks " + v.broken + " on a prompt"
	if v.ended {
		out.Kind, out.Title = v.broken, "the system "+v.broken+" on a prompt"
	}
	if bucket != "" {
		out.Title += " for " + BucketLabel(child.Seed.Bucket)
	}
	if by != "" && !v.ended {
		out.Title += ", " + by
	}
	if v.broken == string(sut.Crashed) {
		out.Severity = campaign.SeverityHigh
	}
	if out.Signature = out.Kind + "\n" + v.broken + "\n" + bucket; by != "" && !v.ended {
		out.Signature += "\n" + by
	}
	out.Cause = slices.Concat([]string{out.Kind, v.broken}, numbers(child.Seed.Bucket), []string{orAny(bucket)})
}

// Refine implements [campaign.Refiner]: it adds why the reply fails a judge, or how the call ended.
func (c *Campaign) Refine(title string, severity campaign.Severity, o campaign.Outcome) (string, campaign.Severity) {
	var refined string
	var others []string
	for line := range strings.Lines(string(o.Attached("judge"))) {
		if head, why, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && strings.HasPrefix(title, head+" on a prompt") {
			return title + ": " + diag.Runes(judge.Readable(why), 110), severity
		}
		id, why, ok := strings.Cut(strings.TrimSpace(line), " fails: ")
		if head := "the reply breaks " + id; ok && strings.HasPrefix(title, head+" on a prompt") {
			refined = head + strings.TrimPrefix(title, head+" on a prompt") + ": " + diag.Runes(judge.Readable(why), 110)
		} else if ok {
			others = append(others, id)
		}
	}
	if refined != "" && len(others) > 0 {
		refined += "; it also breaks " + strings.Join(others, ", ")
	}
	return cmp.Or(refined, title), severity
}

// attach adds the conversation to the case's evidence.
func (v *judged) attach(out *campaign.Outcome) {
	for _, x := range [][2]string{{"reply", v.reply}, {"conversation", v.dialogue()}, {"judge", v.reasons()}} {
		if x[1] != "" {
			out.Evidence = append(out.Evidence, campaign.Attachment{Name: x[0], Data: []byte(x[1])})
		}
	}
	if len(v.printed) > 0 {
		out.Evidence = append(out.Evidence, campaign.Attachment{Name: "printed", Data: v.printed})
	}
	if v.verdict != nil {
		out.Evidence = append(out.Evidence, campaign.Attachment{Name: "verdict", Data: v.verdict.Line})
	}
	if r := v.result; r != nil {
		out.Evidence = append(out.Evidence,
			campaign.Attachment{Name: "stdout", Data: bytes.Clone(r.Stdout)}, campaign.Attachment{Name: "stderr", Data: bytes.Clone(r.Stderr)})
	}
}

// failed makes a case one in which the system under test failed, grouped by the operators that made
// the child.
func (c *Campaign) failed(child *mutator.Child, out *campaign.Outcome) (by string) {
	var ops []string
	for i, a := range child.Applied {
		if a.Status == textop.OK {
			ops = append(ops, child.Steps[i].OpID)
		}
	}
	by = strings.Join(ops, " + ")
	out.Verdict, out.Severity, out.Kind = campaign.VerdictFail, campaign.SeverityMedium, kindVerdict
	out.Signature, out.Cause, out.Input = kindVerdict+"\n"+by, append([]string{kindVerdict}, ops...), ""
	breaches := out.Attached("breaches")
	out.Evidence = evidence(child)
	if breaches != nil {
		out.Evidence = append(out.Evidence, campaign.Attachment{Name: "breaches", Data: breaches})
	}
	return by
}

// hung makes a case whose oracle took too long a finding, as the document asks: the system under
// test is assumed to hang.
func (c *Campaign) hung(child *mutator.Child, res *process.Result, out *campaign.Outcome) {
	c.applyVerdict(child, judged{judgement: mutator.Fail, result: res}, out)
	if out.Kind == kindVerdict {
		_, ops, _ := strings.Cut(out.Signature, "\n")
		out.Kind, out.Signature, out.Cause[0] = "hang", "hang\n"+ops, "hang"
		out.Title = "the oracle does not end on children made by " + ops
	}
}

// unjudged makes a case one without a verdict. The child exists: it counts for its seed, so that it
// is not replaced, and nothing is learned from it.
func (c *Campaign) unjudged(child *mutator.Child, who, why string, tries int, took spent, out *campaign.Outcome) {
	f, _ := decodeFacts(out.Data)
	if f.unjudged = true; c.plan != nil {
		f.more, f.spent = true, took
	}
	if out.Verdict == campaign.VerdictFail { // an operator broke the contract, whatever the oracle would say
		f.unjudged, out.Data = false, f.encode()
		return
	}
	times := ""
	if tries > 1 {
		times = fmt.Sprintf(" in %d tries", tries)
	}
	*out = campaign.Outcome{
		Verdict: campaign.VerdictError, Kind: who, Title: "the " + who + " gave no verdict" + times + ": " + why,
		Data: f.encode(), Elapsed: out.Elapsed, Evidence: evidence(child),
	}
}

// recorded applies the verdict in the file to a child. A verdict on another text belongs to another
// child: of a smaller seed, or from before an operator was changed. A child without a valid verdict
// is skipped: nothing shows that it passes.
func (c *Campaign) recorded(child *mutator.Child, out *campaign.Outcome) {
	if child.Status != textop.OK {
		return
	}
	v, there := c.verdicts[child.ID]
	skip := func() {
		if out.Verdict == campaign.VerdictPass {
			out.Verdict = campaign.VerdictSkip
		}
	}
	if !there || v.Judgement == mutator.Unknown && v.Score == nil {
		skip()
		return
	}
	own, known := c.own[child.ID[:max(strings.LastIndexByte(child.ID, ':'), 0)]]
	if !known || own.Text != child.Seed.Text || v.Text != "" && v.Text != child.Text {
		f, _ := decodeFacts(out.Data)
		f.unjudged = true
		out.Data = f.encode()
		skip()
		return
	}
	if v.Judgement != mutator.Fail { // Fold looks it up
		if v.Judgement == mutator.Unknown { // a score teaches a policy, but does not show that the system held
			skip()
		}
		return
	}
	c.applyVerdict(child, judged{judgement: mutator.Fail, score: v.Score, reply: v.Reply, verdict: &v}, out)
}

// verdictTable shows the line of a verdict.
func verdictTable(line []byte) (campaign.Exhibit, bool) {
	var l struct {
		Testcase string          `json:"testcase_id"`
		Verdict  json.RawMessage `json:"verdict"`
		Score    json.RawMessage `json:"oracle_score"`
	}
	if unmarshalPython(line, &l) != nil {
		return campaign.Exhibit{}, false
	}
	rows := [][]string{{"testcase_id", l.Testcase}, {"verdict", string(l.Verdict)}}
	if len(l.Score) > 0 {
		rows = append(rows, []string{"oracle_score", string(l.Score)})
	}
	return campaign.TableExhibit("The verdict on it", []string{"field", "value"}, rows), true
}
