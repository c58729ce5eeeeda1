package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// TestTargetsThatKillThresh runs programs that kill what started them, or its
// whole group, on some inputs: after some resumes the run comes to its end, the
// same for any number of workers, with every other case executed.
func TestTargetsThatKillThresh(t *testing.T) {
	if os.Getenv("THRESH_TEST_LONG") == "" {
		t.Skip("takes ten seconds each time, TestEveryFormatOutlivesItsTarget less: set THRESH_TEST_LONG=1")
	}
	for name, kill := range map[string]string{
		"parent": "kill -9 $PPID", "group": `read pid name state parent group rest </proc/$PPID/stat; kill -9 -$group`,
	} {
		for _, executor := range []string{"auto", "spawn"} {
			t.Run(name+"/"+executor, func(t *testing.T) {
				// What is left of a killed Thresh comes to this process, which gathers the
				// orphans of other tests: it is not what these programs are after.
				l := newLab(t, fmt.Sprintf(`read x <"$1"
					[ $PPID = %d ] && exit 0
					case "$x" in [!A]*) %s; sleep 0.1 ;; esac
					exit 0`, os.Getpid(), kill))
				l.document(edits{"mutations.cases": 40, "mutations.max_ops_per_case": 8, "mutations.rng_seed": 1})
				var reports []string
				for _, workers := range []string{"1", "4"} {
					home := "j" + workers
					must(t, os.MkdirAll(l.path(home), 0o755))
					killed := killedUntilTheEnd(t, l.path(home), "-j", workers, l.path("spec.json"), "--executor", executor)
					report := withoutEnvironment(t, l.path(home+"/report.json"))
					var rec struct {
						Campaigns []struct {
							Cases struct{ Run, Pass, Error int }
						}
					}
					data, err := os.ReadFile(l.path(home + "/report.json"))
					must(t, err)
					must(t, json.Unmarshal(data, &rec))
					n := rec.Campaigns[0].Cases
					if killed == 0 || n.Error == 0 || n.Pass+n.Error != 40 || !strings.Contains(string(data), "Thresh was killed each time it executed this case") {
						t.Fatalf("%d kills, %+v: %s", killed, n, data)
					}
					reports = append(reports, report)
				}
				equal(t, "report", reports[1], reports[0])
			})
		}
	}
}

// killedUntilTheEnd runs documents and resumes the run until Thresh is no longer
// killed, and returns how often it was.
func killedUntilTheEnd(t *testing.T, dir string, args ...string) (killed int) {
	for ; ; killed++ {
		cmd := child(t, "thresh", append([]string{"run", "-q", "--report", "json=report.json"}, args...)...)
		cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Setpgid: true}
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code == 3 || code == 1 {
			return killed
		} else if code != -1 || killed > 40 {
			t.Fatalf("exit code %d after %d kills: %s", code, killed, out)
		}
		args = []string{"--resume", "latest"}
	}
}

// TestEveryFormatOutlivesItsTarget runs, in each format, a system that kills
// Thresh on some inputs: these have no result, all others have theirs.
func TestEveryFormatOutlivesItsTarget(t *testing.T) {
	const orders = "../../examples/systems/orders.json"
	model, err := filepath.Abs(orders)
	must(t, err)
	for name, x := range map[string]struct {
		files map[string]string
		args  []string
		cases int
		fails bool // the run has a finding beside
	}{
		"fuzzspec": {map[string]string{"s.yaml": driver("{parse: {}}", "{operation: parse, body: raw}"), "target.sh": drive(`*'"body":"QUFB'*) echo '{"ok":1}' ;; *body*) die ;;`)},
			[]string{"spec.json", "--system", "s.yaml"}, 20, false},
		"operator": {map[string]string{
			"s.yaml": driver("{ask: {arguments: [prompt]}}", "{operation: ask, argument: prompt}"), "target.sh": drive(`*zzz*) die ;; *refund*) echo '{"ok":"heron"}' ;; *ask*) echo '{"ok":"no"}' ;;`),
			"o.json": operators(`"system": "s.yaml", "judges": [{"id": "no-heron", "type": "excludes_pattern", "patterns": ["heron"]}]`), "seeds.jsonl": promptSeeds,
		}, []string{"o.json"}, 6, true},
		// Small inputs kill, which are tried when the finding is minimized.
		"shrinking": {map[string]string{
			"s.yaml": driver("{ask: {arguments: [prompt]}}", "{operation: ask, argument: prompt}"), "target.sh": drive(`*refund*refund*) echo '{"ok":"heron"}' ;; *refund*) die ;; *ask*) echo '{"ok":"no"}' ;;`),
			"o.json": operators(`"system": "s.yaml", "judges": [{"id": "no-heron", "type": "excludes_pattern", "patterns": ["heron"]}]`), "seeds.jsonl": promptSeeds,
		}, []string{"o.json"}, 6, true},
		"operator oracle": {map[string]string{
			"target.sh": `if grep -q zzz "$1"; then die; fi`, "o.json": operators(`"oracle": {"command": ["sh", "target.sh", "<child>"]}`), "seeds.jsonl": promptSeeds,
		}, []string{"o.json"}, 6, false},
		"flakestorm": {map[string]string{
			"target.sh": `case "$*" in *zzz*) die ;; *refund*) echo heron ;; *) echo fine ;; esac`,
			"f.yaml": "version: \"2.0\"\nagent: {type: command, command: [sh, target.sh, \"{prompt}\"]}\ngolden_prompts: [\"a refund\", \"my zzz zzz\"]\n" +
				"mutations: {count: 2, types: [noise]}\ninvariants: [{type: excludes_pattern, patterns: [heron]}]\n",
		}, []string{"f.yaml"}, 4, false},
		"fresnelfir": {map[string]string{"s.yaml": driver("", ""), "target.sh": drive(`*refund*) die ;; *call*) a=${line##*[}; a=${a%%]*}; case "$line" in *place*) n=$((n+1)); eval "o$n=$a"; echo '{"ok":'$n'}' ;; *) eval "a=\$o$a"; echo '{"ok":'$a'}' ;; esac ;; *reset*) n=0; echo '{"ok":null}' ;;`)},
			[]string{model, "--system", "s.yaml", "--budget", "12"}, 12, false},
		"spectest": {map[string]string{"target.sh": "die", "a.spec.md": commandCase("KILLS", "target.sh") + commandCase("FINE", "fine.sh"), "fine.sh": ""},
			[]string{"a.spec.md"}, 2, false},
		"system": {map[string]string{
			"target.sh": `while read -r line; do
				id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
				case "$line" in
				*'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}' ;;
				*tools/list*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"take","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"n":{"type":"integer","minimum":0}},"required":["n"]}}]}}' ;;
				*'"n":0'*) die ;;
				*server/discover*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"no"}}' ;;
				*tools/call*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[{"type":"text","text":"fine"}]}}' ;;
				esac
			done`,
			"s.yaml": "schema: thresh.system.v1\nname: tools\nkind: mcp\ncommand: [sh, target.sh]\n",
		}, []string{"s.yaml", "--cases", "12"}, 12, false},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "fuzzspec" && name != "spectest" && os.Getenv("THRESH_TEST_LONG") == "" {
				t.Skip("kills and resumes for some seconds: set THRESH_TEST_LONG=1")
			}
			t.Parallel()
			l := newLab(t, "")
			for file, text := range x.files {
				if file == "target.sh" { // orphans of a killed Thresh are reparented to this process, which must live
					text = fmt.Sprintf("[ $PPID = %d ] && exit 0\ndie() { kill -9 $PPID; sleep 0.1; exit 9; }\n", os.Getpid()) + text
				}
				l.write(file, text)
			}
			killed := killedUntilTheEnd(t, l.dir, append([]string{"-j", "2"}, x.args...)...)
			var rec campaign.Record
			must(t, json.Unmarshal([]byte(l.read("report.json")), &rec))
			n := rec.Campaigns[0].Cases
			if killed == 0 || !rec.Complete || int(n.Run) != x.cases || (len(rec.Findings) > 0) != x.fails || name != "shrinking" &&
				(n.Error == 0 || n.Error == n.Run || !strings.Contains(strings.Join(rec.Warnings, "\n"), "Thresh was killed each time it executed this case")) {
				t.Errorf("%d kills, complete %t, %+v, %d findings: %q", killed, rec.Complete, n, len(rec.Findings), rec.Warnings)
			}
		})
	}
}

const promptSeeds = `{"id": "a", "text": "my zzz zzz zzz", "surface": "PROMPT_TEXT"}
{"id": "b", "text": "a refund please, and a refund", "surface": "PROMPT_TEXT"}
`

func operators(judged string) string {
	return `{"schema_version": "thresh.operators.v1", "seeds": ["seeds.jsonl"], "children": 3, "steps": 1, "seed_base": 3, ` + judged + `}`
}

func driver(operations, input string) string {
	text := "schema: thresh.system.v1\nname: s\nkind: driver\ncommand: [sh, target.sh]\n"
	if input != "" {
		text += "operations: " + operations + "\ninput: " + input + "\n"
	}
	return text
}

// drive answers the lines of a driver by branches of a case.
func drive(branches string) string {
	return `while read -r line; do case "$line" in ` + branches + ` *) echo '{"ok":null}' ;; esac; done`
}

func commandCase(id, script string) string {
	return "```yaml spec-test\nid: " + id + "\ntitle: t\ntype: cli.run\nharness: {entrypoint: sh}\nargv: [" + script + "]\nexit_code: 0\n```\n"
}
