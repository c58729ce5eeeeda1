//go:build unix

package driver

import (
	"os"
	"testing"

	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/systemtest"
)

func TestMain(m *testing.M) {
	systemtest.Speak()
	os.Exit(m.Run())
}

func TestSuite(t *testing.T) {
	t.Setenv(systemtest.SpeakerVariable, "driver")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	all := system.New(map[sut.Kind]system.Kind{sut.Driver: Open})
	systemtest.RunSystem(t, systemtest.System{
		Open: all.Open,
		Plan: func(*testing.T) *sut.Plan {
			return &sut.Plan{Name: "speaker", Kind: sut.Driver, Command: []string{self}, Per: sut.PerWorker}
		},
	})
}
