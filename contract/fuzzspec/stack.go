package fuzzspec

import (
	"context"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/crash"
	"github.com/thresh-dev/thresh/port/process"
)

// stackName is the attachment that holds what was seen at a crash.
const stackName = "stack"

// stackReader returns what looks at the crash of a case: it is run once more, cold,
// and stopped there. Where that cannot be done the runner's notes say why, and
// the case is identified by its signal.
func stackReader(ctx context.Context, r process.Runner, c process.Case) looker {
	return func() *process.Crash {
		t, ok := r.(process.Tracer)
		if !ok {
			return nil
		}
		seen, err := t.Trace(ctx, c)
		if err != nil {
			return nil
		}
		return seen
	}
}

// stackEvidence is what was seen at a crash, for people.
func stackEvidence(seen *process.Crash) campaign.Attachment {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s (a guess from the kind of crash alone)\n", seen.Kind, seen.Hint)
	if seen.By == "" {
		b.WriteString("no code of the program's own is on the stack\n")
	} else {
		fmt.Fprintf(&b, "named by %s\n", seen.By)
	}
	for i, f := range seen.Frames {
		fmt.Fprintf(&b, "#%d %s\n", i, f)
	}
	return campaign.Attachment{Name: stackName, Data: []byte(b.String())}
}

// toldApart says by what a crash was told from others.
func toldApart(o campaign.Outcome) string {
	switch {
	case o.Kind != kindCrash || len(o.Cause) == 0:
		return ""
	case len(o.Attached(stackName)) > 0:
		return "the kind of crash and the calls on the stack"
	case o.Cause[0] == crash.ClassSignal:
		return "the signal and the end of standard error: no stack was read"
	}
	return "the report that the program printed"
}
