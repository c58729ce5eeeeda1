package spectest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/internal/golden"
)

// What documents say when they are damaged in every place: what is said of them, how they
// are written canonically, what each case asserts, and, of cases on a file, whether it holds.
func TestEverySmallChange(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, "subject.txt", []byte("the name: Thresh 2\nversion: 1.5 beta\n{\"a\": [1, 2]}\n"))
	say := func(run bool) func(text string) string {
		return func(text string) string {
			var b strings.Builder
			canonical, list := Format("a.spec.md", []byte(text))
			fmt.Fprintf(&b, "%s\n%v\n", canonical, list)
			camps, list := newContract(nil).Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(text)}, campaign.Settings{Options: map[string][]string{}})
			fmt.Fprintln(&b, list)
			for _, x := range camps {
				c, _ := campaign.As[*Campaign](x)
				fmt.Fprintln(&b, c.Name(), c.IDs(), c.Looks())
				for i := range c.Planned() {
					explained, err := c.Explain(t.Context(), i, run)
					fmt.Fprintln(&b, explained, err)
				}
			}
			return strings.ReplaceAll(b.String(), dir, "{dir}")
		}
	}
	golden.Sweep(t, "files", golden.Changed("", []string{
		"```yaml spec-test\n" + `- id: A
  type: text.file
  path: subject.txt
  requires: {env: [NO_SUCH]}
  assert:
  - target: text
    must:
    - contain: ["name", 'version: 2']
    - any: [{regex: ["v.r+"]}, {evaluate: [[gt, [len, [subject]], 3]]}]
  - {target: text, cannot: [{contain: [Thresh]}]}
` + "```\n",
	}...), say(true))
	golden.Sweep(t, "pages", golden.Changed("", []string{
		"```yaml spec-test\n" + `id: RUN
type: cli.run
argv: [-c, "echo ${x}"]
exit_code: 3
stdin: "a\n"
timeout_ms: 900
harness: {entrypoint: sh, env: {K: v}, setup: {argv: ["true"]}}
capture: {n: {from: stdout, regex: "(.)"}}
assert: [{target: stdout, must: [{contain: [a]}]}, {target: stderr, cannot: [{contain: [b]}]}]
` + "```\n\n```yaml spec-test\n" + `id: HTTP
type: api.http
request: {url: "http://127.0.0.1:1/x", method: POST, headers: {A: b}, json: {k: [1]}}
assert: [{target: status, must: [{evaluate: [[eq, [subject], 200]]}]}]
` + "```\n",
		"---\nthresh:\n  timeout: 5s\n  shell: sh\n---\n\n# Page\n\n```console run id=x env=A=b timeout=2s\n$ echo hi <dir>\nhi [..]\n? 1\n```\n\n```sh run after=x\nfalse\n```\n\n```output\nno\n```\n\n```json file=a.json\n{}\n```\n\n<!-- capture n: (\\d+) -->\n",
	}...), say(false))
	for _, k := range []struct {
		name, text string
		from       func(*imported, string)
	}{
		{"hurl", "POST http://h.example/a?q=1\nX-A: b\nContent-Type: application/json\n[Options]\nretry: 2\n[Query]\np: {{v}}\n```json\n{\"k\": [1, \"{{v}}\"]}\n```\n\nHTTP 201\nX-B: c\n[Captures]\nid: jsonpath \"$.id\"\n[Asserts]\nheader \"X\" contains \"y\"\njsonpath \"$.n\" >= 3\nbody matches /a.c/\nduration < 900\n", fromHurl},
		{"curl", "curl -sS -X PUT 'http://h.example/a?b=c' -H 'A: b' --data-raw '{\"k\": \"v\"}' -u me:pass --max-time 3 | jq .k # done\nK=1 curl -F a=@f.txt -F 'b=c;type=text/plain' -b s=1 -A agent --compressed -Lf \"$URL\"/x\n", fromCurl},
		{"cram", "Setup:\n\n  $ echo \"a b\" | \\\n  > cat\n  a b\n  $ ls x*\n  x(1|2)\\.txt (re)\n  *.txt (glob)\n  tab\\there (esc)\n  no end (no-eol)\n  [3]\n", fromCram},
	} {
		golden.Sweep(t, k.name, golden.Changed("\" ", k.text), func(text string) string {
			m := &imported{file: "a.txt"}
			k.from(m, text)
			return fmt.Sprintln(m.String(), m.list)
		})
	}
}
