package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// longPages are documents of some 5,000 lines of every kind, each with the number 700 to
// change near its end.
func longPages(b testing.TB) map[string]string {
	many := func(head string, n int, form, tail string) string {
		var all strings.Builder
		all.WriteString(head)
		for i := range n {
			all.WriteString(strings.ReplaceAll(form, "#", strconv.Itoa(i)))
		}
		all.WriteString(tail)
		return all.String()
	}
	model := func(actions int) string {
		return many("Order = entity(state = enum(\"new\", \"paid\"), total = int(0, 1000))\namount = input(int(1, 100))\n", actions,
			"def act_#():\n    o = any(Order, state = \"new\")\n    require(o.total + amount < #)\n    o.state = \"paid\"\n    o.total += amount\n    call(\"act_#\", o, amount, returns = int)\n",
			"def last():\n    o = any(Order)\n    o.total = 700\n    call(\"last\", o)\n")
	}
	seed := filepath.Join(b.TempDir(), "seed")
	must(b, os.WriteFile(seed, nil, 0o600))
	small := filepath.Join(b.TempDir(), "small.model.star")
	must(b, os.WriteFile(small, []byte(model(40)), 0o600))
	return map[string]string{
		"page.md": many("# A page\n", 500, "\nA case:\n\n```yaml spec-test\nid: CASE_#\ntype: cli.run\nharness: {entrypoint: echo held}\nassert:\n  - {target: stdout, must: [{contain: [held]}]}\n```\n",
			"\n```yaml spec-test\nid: LAST\ntype: cli.run\ntimeout_ms: 700\nharness: {entrypoint: echo held}\nassert:\n  - {target: stdout, must: [{contain: [held]}]}\n```\n"),
		"fuzzspec.json": many(`{"schema_version": "llmfuzz.fuzzspec.v1", "campaign_id": "long", "target": {"agent_id": "a", "timeout_s": 10.0, "work_root_base": "/tmp/w", "command": [
  "/bin/sh", "<input_path>"`, 5000, ",\n  \"word #\"", `]},
  "seed": {"path": "`+seed+`", "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "media_type": "text/plain"},
  "execution": {}, "outputs": {"eval_dir": "runs/<run_id>/eval", "out_dir": "runs/<run_id>/out"},
  "mutations": {
    "cases": 700
  }
}
`),
		"operators.json": many(`{"schema_version": "thresh.operators.v1", "name": "long", "seeds": ["seeds.jsonl"], "system": "assistant.system.yaml", "judges": [
    {"id": "no-word", "type": "contains", "value": "word"}`, 1000, ",\n    {\n      \"id\": \"rule-#\",\n      \"type\": \"contains\",\n      \"value\": \"word #\"\n    }", `],
  "children": 700
}
`),
		"flakestorm.yaml": strings.Replace(agentFile, "htp", "http", 1) + many("", 1250, "  - type: contains\n    id: rule-#\n    value: \"word #\"\n    severity: high\n", "  - type: latency\n    max_ms: 700\n"),
		"model.json":      call("fresnelfir", "compile", small).out,
		"shop.model.star": model(833),
		"shop.system.yaml": many("schema: thresh.system.v1\nname: shop\nkind: http\nurl: http://127.0.0.1:1\noperations:\n", 1250,
			"  do-#:\n    method: POST\n    path: \"/orders/{order}/#\"\n    json: {amount: \"{amount}\"}\n", "  last:\n    method: GET\n    path: /last\nlimits:\n  retries: 7\n  rate: 700/s\n"),
	}
}

// processorTime is what the server has used so far.
func (e *editor) processorTime() (ms float64) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", e.cmd.Process.Pid))
	for _, task := range tasks {
		var ns float64
		if data, err := os.ReadFile(task); err == nil {
			_, err = fmt.Sscan(string(data), &ns)
			must(e.t, err)
		}
		ms += ns / 1e6
	}
	return ms
}

// BenchmarkEditor is how long an editor waits in a document of 5,000 lines: a number near
// its end is changed, and with the diagnostics something is asked for there. On Linux it
// gives the processor time of the server for that, which a busy machine hardly changes.
func BenchmarkEditor(b *testing.B) {
	methods := []string{"diagnostics", "textDocument/completion", "textDocument/hover", "textDocument/codeLens", "textDocument/codeAction", "textDocument/definition"}
	for name, text := range longPages(b) {
		for _, method := range methods {
			b.Run(name+"/"+filepath.Base(method), func(b *testing.B) {
				e := openEditor(b)
				defer e.leave()
				e.besides()
				at := strings.LastIndex(text, "700")
				n := strings.Count(text[:at], "\n")
				col := at - strings.LastIndex(text[:at], "\n") - 1
				e.open(name, text)
				if found := e.wait("textDocument/publishDiagnostics", name); strings.Contains(found, `"severity":1`) {
					b.Fatalf("%.1000s", found)
				}
				var times []float64
				var longest time.Duration
				for b.Loop() {
					from, start := e.processorTime(), time.Now()
					e.edit(name, n, col, col+3, strconv.Itoa(701+len(times)%99))
					if method != "diagnostics" {
						e.ask(method, e.at(name, n, col), nil)
					}
					e.wait("textDocument/publishDiagnostics", name)
					longest = max(longest, time.Since(start))
					times = append(times, e.processorTime()-from)
				}
				reportWaits(b, times, longest)
			})
		}
	}
}

// BenchmarkOpened is how long a new editor waits for the diagnostics of a document of 5,000 lines
// that it opens.
func BenchmarkOpened(b *testing.B) {
	for name, text := range longPages(b) {
		b.Run(name, func(b *testing.B) {
			var times []float64
			var longest time.Duration
			for b.Loop() {
				e := openEditor(b)
				e.besides()
				from, start := e.processorTime(), time.Now()
				e.open(name, text)
				e.wait("textDocument/publishDiagnostics", name)
				longest = max(longest, time.Since(start))
				times = append(times, e.processorTime()-from)
				e.leave()
			}
			reportWaits(b, times, longest)
		})
	}
}

// besides writes what long pages name.
func (e *editor) besides() {
	must(e.t, os.WriteFile(filepath.Join(e.dir, "seeds.jsonl"), []byte("{\"id\": \"a\", \"text\": \"Is it held?\"}\n"), 0o600))
	must(e.t, os.WriteFile(filepath.Join(e.dir, "assistant.system.yaml"), []byte("schema: thresh.system.v1\nkind: chat\nurl: http://127.0.0.1:1/v1\nmodel: m\n"), 0o600))
}

func reportWaits(b *testing.B, times []float64, longest time.Duration) {
	slices.Sort(times)
	b.ReportMetric(times[len(times)/2], "median-cpu-ms")
	b.ReportMetric(times[len(times)-1], "max-cpu-ms")
	b.ReportMetric(longest.Seconds()*1e3, "max-ms")
}

// BenchmarkModelEdits is how long an editor waits for the diagnostics of a model of 5,000 lines
// after an edit that all of it may depend on, and after the edit that takes it back.
func BenchmarkModelEdits(b *testing.B) {
	const name = "shop.model.star"
	text := longPages(b)[name]
	text = "def low(o = Order): return o.total < 500\n" + strings.ReplaceAll(text, "require(", "require(low(o) and ")
	start := strings.Index(text, "def act_400")
	pasted := strings.ReplaceAll(text[start:strings.Index(text, "def act_434")], "act_4", "more_4")
	line := strings.Count(text[:start], "\n")
	for _, x := range []struct {
		name                string
		line, from, to      int
		before, after, says string
	}{
		{"line at the top", 0, 0, 0, "", "\n", ""},
		{"200 lines pasted", line, 0, 0, "", pasted, ""},
		{"function changed", 0, 36, 39, "500", "501", ""},
		{"input renamed", 2, 0, 6, "amount", "amoun", `"severity":1`},
	} {
		b.Run(x.name, func(b *testing.B) {
			e := openEditor(b)
			defer e.leave()
			e.open(name, text)
			if found := e.wait("textDocument/publishDiagnostics", name); strings.Contains(found, `"severity":1`) {
				b.Fatalf("%.1000s", found)
			}
			var times []float64
			var longest time.Duration
			for b.Loop() {
				for _, back := range []bool{false, true} {
					at, to, col, put := x.line, x.line, x.to, x.after
					if back {
						to, col, put = x.line+strings.Count(x.after, "\n"), x.from+len(x.after), x.before
						if to > at {
							col = 0
						}
					}
					from, begun := e.processorTime(), time.Now()
					e.change(name, at, x.from, to, col, put)
					found := e.wait("textDocument/publishDiagnostics", name)
					longest = max(longest, time.Since(begun))
					times = append(times, e.processorTime()-from)
					if strings.Contains(found, `"severity":1`) != (!back && x.says != "") {
						b.Fatalf("%.1000s", found)
					}
				}
			}
			reportWaits(b, times, longest)
		})
	}
}
