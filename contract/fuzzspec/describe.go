package fuzzspec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// shownBytes is the number of bytes of an input that a report shows.
const shownBytes = 4096

// Describe implements [campaign.Describer].
func (c *Campaign) Describe(s *state, at campaign.Case, o campaign.Outcome, minimized []byte) []campaign.Exhibit {
	input := c.input(s, at)
	out := []campaign.Exhibit{c.summary(at, o, input, minimized)}
	lane := c.maker.lane()
	parent := c.seed
	if !c.set.guided {
		parent = s.corpus[c.maker.parent(c.pool(s), c.start+at.Index)]
	}
	rows := []campaign.BytesRow{bytesRow("seed", parent, parent), bytesRow("case", input, parent)}
	if minimized != nil {
		rows = append(rows, bytesRow("minimized", minimized, input))
	}
	out = append(out, campaign.BytesExhibit("Input", rows...))
	if !c.set.guided { // the corpus that a guided case was made from is not available here
		lane.input(c.pool(s), c.start+at.Index)
		if t, ok := mutationTable(lane.log()); ok {
			out = append(out, t)
		}
	}
	if r, ok := twinOf(o); ok {
		out = append(out, campaign.Exhibit{Kind: "text", Title: "What " + path.Base(c.set.twin) + " reports", Text: &campaign.Text{Body: r.Title + "\n" + r.Report}})
	}
	if i := slices.IndexFunc(o.Evidence, func(e campaign.Attachment) bool { return e.Name == outputName }); i >= 0 {
		out = append(out, brokenOutput(o.Evidence[i].Data))
	}
	if text := o.Attached(stackName); len(text) > 0 {
		out = append(out, campaign.Exhibit{Kind: "text", Title: "Stack at the crash", Text: &campaign.Text{Body: string(text)}})
	}
	for _, name := range []string{"stderr", "stdout"} {
		if text := o.Attached(name); len(text) > 0 {
			body := steady(string(bytes.ToValidUTF8(text, []byte("\uFFFD"))))
			out = append(out, campaign.Exhibit{
				Kind: "text", Title: map[string]string{"stderr": "Standard error", "stdout": "Standard output"}[name],
				Text: &campaign.Text{Body: body, Truncated: len(text) >= maxEvidence, Marks: frames(body, o.Cause)},
			})
		}
	}
	return out
}

// outputName is the attachment with an output file that is not JSON.
const outputName = "output"

// brokenOutput shows a file that should be JSON, and where the JSON breaks off.
func brokenOutput(data []byte) campaign.Exhibit {
	body := string(bytes.ToValidUTF8(data, []byte("\uFFFD")))
	whole, end := len(data) < maxEvidence, 0
	if len(data) == 0 {
		body = "(the file is empty, or could not be read)"
	} else if _, err := jsontree.Parse(data, jsontree.Python()); err != nil && whole {
		body = strings.TrimSuffix(body, "\n") + "\n\n"
		end = len(body)
		body += "not JSON: " + err.Error()
	}
	marks := []campaign.Mark{{From: end, To: len(body), Kind: "focus"}} // why it is not JSON; the whole text if that is unknown
	return campaign.Exhibit{Kind: "text", Title: "The output that is not JSON", Text: &campaign.Text{Body: body, Truncated: !whole, Marks: marks}}
}

func (c *Campaign) summary(at campaign.Case, o campaign.Outcome, input, minimized []byte) campaign.Exhibit {
	index := c.start + at.Index
	rows := [][]string{
		c.called(),
		{"case", fmt.Sprint(index)},
		{"generator seed", c.spec.Mutations.EffectiveSeed(index).String()},
		{"ended", endedText(o)},
		{"input", fmt.Sprintf("%d bytes, sha256 %s", len(input), digest(input))},
	}
	if minimized != nil {
		rows = append(rows, []string{"minimized", fmt.Sprintf("%d bytes, sha256 %s", len(minimized), digest(minimized))})
	}
	if len(o.Cause) > 0 {
		rows = append(rows, []string{"cause", causeText(o.Cause)})
	}
	if how := toldApart(o); how != "" {
		rows = append(rows, []string{"known by", how})
	}
	if o.Signature != "" {
		rows = append(rows, []string{"signature", o.Signature})
	}
	return campaign.TableExhibit("What happened", []string{"", ""}, rows)
}

// called describes what was called, for display.
func (c *Campaign) called() []string {
	if c.system != nil {
		return []string{"system", fmt.Sprintf("%s (%s)", c.system.Name, c.system.Kind)}
	}
	return []string{"command", strings.Join(c.spec.Target.Command, " ")}
}

// frames marks where a text first names the cause of the case: the message, and the top frames of
// the stack.
func frames(text string, cause []string) []campaign.Mark {
	const short = 4 // a word like "exit" does not locate anything
	var list []campaign.Mark
	for _, layer := range cause {
		if at := strings.Index(text, layer); len(layer) > short && at >= 0 {
			list = append(list, campaign.Mark{From: at, To: at + len(layer), Kind: "focus"})
		}
	}
	return list
}

// causeText joins the layers of a cause for display.
func causeText(layers []string) string { return strings.Join(layers, " / ") }

func endedText(o campaign.Outcome) string {
	var e ending
	if json.Unmarshal(o.Data, &e) != nil {
		return o.Title
	}
	text := e.Status
	if e.Observed != "" {
		return text + ": " + e.Observed
	}
	switch {
	case e.Signal != 0:
		text = "killed by signal " + strconv.Itoa(e.Signal)
	case e.ExitCode != nil:
		text = "exit code " + strconv.Itoa(*e.ExitCode)
	}
	if e.OutputLimit {
		text += ", more written than the limits allow"
	}
	if e.Leftovers {
		text += ", processes left running"
	}
	return text
}

// bytesRow is one input with its differences from base marked.
func bytesRow(label string, data, base []byte) campaign.BytesRow {
	shown := data[:min(len(data), shownBytes)]
	row := campaign.BytesRow{Label: label, Data: slices.Clone(shown), Size: int64(len(data))}
	if bytes.Equal(data, base) {
		return row
	}
	row.Marks = marksInPlace(shown, base)
	if len(data) != len(base) {
		// What was cut out or put in moves the rest.
		if moved := markBetween(data, base, len(shown)); marked(moved) < marked(row.Marks) {
			row.Marks = moved
		}
	}
	return row
}

// marksInPlace marks the bytes that differ from those at the same offset of base.
func marksInPlace(data, base []byte) []campaign.Mark {
	var marks []campaign.Mark
	same := func(i int) bool { return i < len(base) && data[i] == base[i] }
	for i := 0; i < len(data); i++ {
		if same(i) {
			continue
		}
		from := i
		for i < len(data) && !same(i) {
			i++
		}
		marks = append(marks, campaign.Mark{From: from, To: i, Kind: "changed"})
	}
	return marks
}

// markBetween marks the bytes between the common prefix and the common suffix of data and base,
// within the first shown bytes.
func markBetween(data, base []byte, shown int) []campaign.Mark {
	head := 0
	for head < len(data) && head < len(base) && data[head] == base[head] {
		head++
	}
	tail := 0
	for tail < len(data)-head && tail < len(base)-head && data[len(data)-1-tail] == base[len(base)-1-tail] {
		tail++
	}
	from, to := min(head, shown), min(len(data)-tail, shown)
	if from >= to {
		return nil
	}
	return []campaign.Mark{{From: from, To: to, Kind: "changed"}}
}

// marked is the number of bytes that marks cover.
func marked(marks []campaign.Mark) int {
	n := 0
	for _, m := range marks {
		n += m.To - m.From
	}
	return n
}

// mutationTable shows a mutation log.
func mutationTable(log []byte) (campaign.Exhibit, bool) {
	var rows [][]string
	for line := range bytes.Lines(log) {
		var op map[string]any
		if json.Unmarshal(line, &op) != nil {
			continue
		}
		cell := func(key string) string {
			switch v := op[key].(type) {
			case nil:
				return ""
			case float64:
				return strconv.FormatInt(int64(v), 10)
			default:
				return diag.Cut(fmt.Sprint(v), 60)
			}
		}
		rows = append(rows, []string{cell("op"), cell("offset"), cell("length"), cell("value_b64")})
	}
	t := campaign.TableExhibit("Mutations", []string{"operation", "offset", "length", "value (base64)"}, rows)
	t.Table.Numeric = []bool{false, true, true, false}
	return t, len(rows) > 0
}

// The output of a program contains process ids, addresses and the lane's folder, which differ
// between equal runs. Reports replace them with fixed words; the run folder of the case keeps the
// original bytes.
var (
	pidPattern     = lazy.Pattern(`==\d+==`)
	addressPattern = lazy.Pattern(`(^|[^+@])0x[0-9a-fA-F]{6,}`) // an offset in a module is not an address
	folderPattern  = lazy.Pattern(`/[^\s"']*/thresh-[0-9A-Za-z._-]+/w\d+/run`)
	routinePattern = lazy.Pattern(`goroutine \d+`)
	offsetPattern  = lazy.Pattern(`pid[= ]\d+`)
)

func steady(text string) string {
	text = pidPattern().ReplaceAllString(text, "==PID==")
	text = folderPattern().ReplaceAllString(text, "<run_dir>")
	text = addressPattern().ReplaceAllString(text, "${1}<ADDR>")
	text = routinePattern().ReplaceAllString(text, "goroutine N")
	return offsetPattern().ReplaceAllString(text, "pid N")
}
