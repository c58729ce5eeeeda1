package fresnelfir

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// Adopt implements [campaign.Adopter]. A decision means what it does by its place, which an
// edit of the model may change: a traversal is the same one if it fails, or makes the calls
// that it made before.
func (c *Campaign) Adopt(ctx context.Context, other campaign.Any, payload []byte, _ string) ([]byte, error) {
	was, ok := campaign.As[*Campaign](other)
	if !ok || string(was.data()) == string(c.data()) {
		return payload, nil // another system alone
	}
	now, failed, err := c.callsOf(ctx, payload)
	if err != nil || failed {
		return payload, err
	}
	before, _, err := was.callsOf(ctx, payload)
	if err != nil {
		return payload, err
	}
	for i, call := range before {
		if i >= len(now) {
			return payload, fmt.Errorf("it reads the traversal differently: step %d was %s and is missing", i+1, call)
		}
		if now[i] != call {
			return payload, fmt.Errorf("it reads the traversal differently: step %d was %s and is %s", i+1, call, now[i])
		}
	}
	return payload, nil
}

// callsOf are the calls of a traversal or history, and whether the model alone or the system
// fails in it; of a history, that is known only when it is judged.
func (c *Campaign) callsOf(ctx context.Context, payload []byte) (list []string, failed bool, err error) {
	if !c.parallel {
		x, err := c.open(ctx)
		if err != nil {
			return nil, false, err
		}
		defer x.Close()
		for _, s := range x.traceCase(payload).Steps {
			list = append(list, s.Action+"("+strings.Join(s.Args, ", ")+")")
		}
		return list, x.t.failed != nil, nil
	}
	j := c.judgeOf(payload)
	if j == nil {
		return nil, false, errors.New("it reads the history differently")
	}
	for _, s := range j.score.steps {
		list = append(list, c.plan.program.Actions()[s.action].Name+"("+strings.Join(s.says, ", ")+")")
	}
	return list, false, nil
}
