package systems_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/thresh-dev/thresh"
	"github.com/thresh-dev/thresh/internal/testproc"
)

func TestMain(m *testing.M) {
	testproc.Ready(8)
	os.Exit(m.Run())
}

// A system is an agent: in a document of its own, and in another agent's place.
func TestSystemAsAgent(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	for _, options := range []map[string][]string{nil, {"system": {"bot.system.yaml"}}} {
		rec, err := thresh.Run(t.Context(), thresh.Job{Paths: []string{"bot.yaml"}, Store: t.TempDir(), Workers: 2, Options: options})
		if err != nil {
			t.Fatal(err)
		}
		c := rec.Campaigns[0].Cases
		if len(rec.Findings) == 0 || rec.Findings[0].Kind != "agent-raised" || c.Pass == 0 || c.Error != 0 {
			t.Errorf("%+v %+v", c, rec.Findings)
		}
	}
}
