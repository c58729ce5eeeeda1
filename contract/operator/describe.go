package operator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// Describe implements [campaign.Describer].
func (c *Campaign) Describe(_ *state, _ campaign.Case, out campaign.Outcome, minimized []byte) []campaign.Exhibit {
	var list []campaign.Exhibit
	if text := out.Attached("breaches"); len(text) > 0 {
		var rows [][]string
		for line := range strings.Lines(string(text)) {
			rows = append(rows, strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4))
		}
		list = append(list, campaign.TableExhibit("What the contract forbids", []string{"operator", "kind", "defined at", "what it did"}, rows))
	}
	var child struct {
		Testcase string `json:"testcase_id"`
		Derived  uint64 `json:"derived_seed"`
		Text     string `json:"child_text"`
		Trace    []step `json:"mutation_trace"`
	}
	if line := out.Attached("child"); json.Unmarshal(line, &child) == nil && len(line) > 0 {
		list = append(list, campaign.TextExhibit("Child", fmt.Sprintf("testcase_id   %s\nderived seed  %d", child.Testcase, child.Derived)))
		list = append(list, traceTable(child.Trace))
		if seed := out.Attached("seed"); !bytes.Equal(seed, []byte(child.Text)) {
			list = append(list, diffExhibit("From seed to child", string(seed), child.Text))
		} else {
			list = append(list, campaign.TextExhibit("Seed", clip(string(seed))))
		}
	}
	for _, name := range []string{"stdout", "stderr"} {
		if text := out.Attached(name); len(text) > 0 {
			list = append(list, campaign.TextExhibit("The oracle's "+name, clip(string(text))))
		}
	}
	if minimized != nil {
		var r recipe
		if json.Unmarshal(minimized, &r) == nil {
			list = append(list, campaign.TextExhibit("Smallest seed", clip(r.Seed.Text)))
		}
	}
	return list
}

// step is a step of a trace as it was written.
type step struct {
	OpID   string          `json:"op_id"`
	Status string          `json:"status"`
	Params json.RawMessage `json:"params"`
	Before int             `json:"len_before"`
	After  int             `json:"len_after"`
	Error  string          `json:"error"`
}

func traceTable(trace []step) campaign.Exhibit {
	var rows [][]string
	for i, s := range trace {
		detail := string(s.Params)
		if s.Error != "" {
			detail = s.Error
		}
		if r := []rune(detail); len(r) > 160 {
			detail = string(r[:160]) + "..."
		}
		rows = append(rows, []string{strconv.Itoa(i + 1), s.OpID, s.Status, strconv.Itoa(s.Before), strconv.Itoa(s.After), detail})
	}
	e := campaign.TableExhibit("Steps", []string{"step", "operator", "status", "before", "after", "parameters"}, rows)
	e.Table.Numeric = []bool{true, false, false, true, true, false}
	return e
}

// shownChars bounds texts in exhibits.
const shownChars = 4000

func clip(s string) string {
	if r := []rune(s); len(r) > shownChars {
		return string(r[:shownChars]) + "..."
	}
	return s
}
