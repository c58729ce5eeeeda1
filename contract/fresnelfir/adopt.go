package fresnelfir

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
)

// Adopt implements [campaign.Adopter]. The meaning of a decision depends on its position, which
// editing the model may shift. So a traversal counts as the same if it fails, or makes the same
// calls as before.
func (c *Campaign) Adopt(ctx context.Context, other campaign.Any, payload []byte, _ string) ([]byte, error) {
	was, ok := campaign.As[*Campaign](other)
	if !ok || string(was.data()) == string(c.data()) {
		return payload, nil // only the system differs
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

// callsOf returns the calls of a traversal or history, and whether it fails in the model or the
// system. For a history, that is known only after judging it.
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
