package app

import (
	"runtime"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/secret"
)

// A line of a megabyte that has a thousand errors is not copied a thousand times.
func TestRedactOfOneLongLine(t *testing.T) {
	line := strings.Repeat("1,", 1<<19) + "abcdefgh1234"
	list := make(diag.List, 1000)
	for i := range list {
		list[i].Source = line
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	redact(secret.New([]secret.Secret{{Name: "K", Value: "abcdefgh1234"}}), list)
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 50 {
		t.Errorf("it allocated %d MiB", got)
	}
	if strings.Contains(list[999].Source, "abcdefgh1234") {
		t.Error("the secret is still there")
	}
}
