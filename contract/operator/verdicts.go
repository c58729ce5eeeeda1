package operator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
)

// Verdict is an oracle's verdict on a child.
type Verdict struct {
	Testcase  string
	Bucket    textop.Bucket
	Operators []string // operators that made the child, if the line has them
	Judgement mutator.Judgement
	Score     *float64
	At        float64 // epoch seconds; 0: unknown
	Text      string  // of the judged child; "": unknown
	Reply     string  // of the system under test; "": unknown
	Line      []byte  // as in the file
}

// verdictLine is a line of a verdict file. A child's own line with a verdict added is valid too.
type verdictLine struct {
	Testcase string   `json:"testcase_id"`
	Bucket   string   `json:"bucket_id"`
	Op       string   `json:"op_id"`
	Verdict  any      `json:"verdict"`
	Score    any      `json:"oracle_score"`
	At       *float64 `json:"ts"`
	Text     string   `json:"child_text"`
	Reply    any      `json:"reply"`
	Trace    []struct {
		Op     string `json:"op_id"`
		Status string `json:"status"`
	} `json:"mutation_trace"`
}

// scoreOf is an oracle's score, as a number or in any other form that Python's float accepts; nil
// if there is none.
func scoreOf(v any) *float64 {
	var f float64
	switch v := v.(type) {
	case float64:
		f = v
	case json.Number:
		return scoreOf(v.String())
	case bool:
		if v {
			f = 1
		}
	case string:
		var err error
		if f, err = strconv.ParseFloat(strings.TrimSpace(v), 64); err != nil {
			return nil
		}
	default:
		return nil
	}
	if math.IsNaN(f) {
		return nil
	}
	return &f
}

// DecodeVerdicts reads JSON lines with testcase_id or op_id, bucket_id, verdict and oracle_score.
func DecodeVerdicts(path string, data []byte) ([]Verdict, diag.List) {
	var out []Verdict
	var list diag.List
	line, unread, example := 0, 0, ""
	for text := range bytes.Lines(bytes.TrimPrefix(data, []byte(mark))) {
		line++
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		fault := func(format string, args ...any) {
			list = append(list, diag.Diagnostic{Code: "operator.verdict", Pos: diag.Pos{File: path, Line: line, Col: 1}, Message: fmt.Sprintf(format, args...)})
		}
		var l verdictLine
		if err := unmarshalPython(text, &l); err != nil {
			fault("is not a verdict: %s", strings.TrimPrefix(err.Error(), "json: "))
			continue
		}
		v := Verdict{
			Testcase: l.Testcase, Judgement: mutator.ParseJudgement(l.Verdict), Score: scoreOf(l.Score),
			Text: l.Text, Reply: replyText(l.Reply), Line: bytes.TrimSpace(text),
		}
		if l.At != nil {
			v.At = *l.At
		}
		if l.Bucket != "" {
			b, found := textop.ParseBucket(l.Bucket)
			for _, d := range found {
				d.Pos, d.Path = diag.Pos{File: path, Line: line, Col: 1}, "bucket_id"
				list = append(list, d)
			}
			v.Bucket = b
		}
		if l.Op != "" {
			v.Operators = append(v.Operators, l.Op)
		}
		for _, s := range l.Trace {
			if s.Status == string(textop.OK) {
				v.Operators = append(v.Operators, s.Op)
			}
		}
		if v.Testcase == "" && len(v.Operators) == 0 {
			fault("names neither testcase_id nor op_id")
			continue
		}
		if v.Judgement == mutator.Unknown && (l.Verdict != nil || v.Score == nil) {
			if unread++; unread == 1 {
				example = fmt.Sprintf("%s in line %d", quoted(l.Verdict), line)
			}
		}
		out = append(out, v)
	}
	if unread > 0 {
		list = append(list, diag.Diagnostic{
			Code: "operator.verdict", Level: diag.Warning, Pos: diag.Pos{File: path, Line: 1, Col: 1},
			Message: fmt.Sprintf("verdicts that are neither PASS nor FAIL count as unknown (%d): %s", unread, example),
		})
	}
	return out, list
}

// reward is the value of a verdict for a learning policy: 1 if the system under test failed, or the
// oracle's score.
func (v *Verdict) reward() float64 {
	switch {
	case v.Judgement == mutator.Fail:
		return 1
	case v.Judgement == mutator.Unknown && v.Score != nil:
		return min(max(*v.Score, 0), 1)
	}
	return 0
}

// ReadStats reads a statistics file as the initial state of a learning policy.
func ReadStats(path string, read func(string) ([]byte, error)) (mutator.Bandit, error) {
	data, err := read(path)
	if err != nil {
		return mutator.Bandit{}, err
	}
	stats, err := mutator.DecodeStats(data)
	if err != nil {
		return mutator.Bandit{}, err
	}
	return mutator.Recall(canonical(stats)), nil
}

// canonical merges statistics of the same bucket concept.
func canonical(s *mutator.Stats) *mutator.Stats {
	out := new(mutator.Stats)
	for _, tag := range s.Buckets() {
		bucket := tag
		if b, _ := textop.ParseBucket(tag); b != "" {
			bucket = string(b)
		}
		for _, op := range s.Operators(tag) {
			out.Merge(bucket, op, s.Get(tag, op))
		}
	}
	return out
}
