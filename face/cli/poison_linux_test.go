package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestTargetsThatKillThresh runs programs that kill what started them, or its
// whole group, on some inputs: after some resumes the run comes to its end, the
// same for any number of workers, with every other case executed.
func TestTargetsThatKillThresh(t *testing.T) {
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
					args := []string{l.path("spec.json"), "--executor", executor}
					killed := 0
					for ; ; killed++ {
						cmd := child(t, "thresh", append([]string{"run", "-q", "-j", workers, "--report", "json=report.json"}, args...)...)
						cmd.Dir, cmd.SysProcAttr = l.path(home), &syscall.SysProcAttr{Setpgid: true}
						out, _ := cmd.CombinedOutput()
						if code := cmd.ProcessState.ExitCode(); code == 3 {
							break
						} else if code != -1 || killed > 20 {
							t.Fatalf("exit code %d after %d kills: %s", code, killed, out)
						}
						args = []string{"--resume", "latest"}
					}
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
