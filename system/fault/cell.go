package fault

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/engine/fault"
	"github.com/thresh-dev/thresh/port/pyhost"
)

// cell is one invocation of an agent.
type cell struct {
	port    *agentPort
	ledger  *fault.Ledger
	token   string // eight bytes in hexadecimal
	trace   string // sixteen bytes in hexadecimal
	began   time.Time
	context context.Context // ends with the cell
	cancel  context.CancelFunc

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup // in progress
}

// begin counts a call as in progress until calls.Done; it returns false if the cell is closed.
func (c *cell) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.calls.Add(1)
	}
	return !c.closed
}

// Proxy implements fault.Cell.
func (c *cell) Proxy() string {
	return strings.Replace(c.port.Proxy(), "http://", "http://"+c.token+":cell@", 1)
}

// Env implements fault.Cell.
func (c *cell) Env(given []string) []string {
	return c.port.environment(c.Proxy(), c.token, given)
}

// Gateway implements fault.Cell.
func (c *cell) Gateway(tool, upstream string) (string, error) {
	return c.port.gateway(tool, upstream, c.token)
}

// Shim implements fault.Cell.
func (c *cell) Shim(server string, argv []string) ([]string, error) {
	return c.port.wrap(server, argv, c.token)
}

// Headers implements fault.Cell.
func (c *cell) Headers() [][2]string {
	return [][2]string{{"Traceparent", fmt.Sprintf("00-%s-%s-01", c.trace, c.token)}}
}

// Prompt implements fault.Cell.
func (c *cell) Prompt(input string) string { return c.ledger.Prompt(input) }

// Watcher implements fault.Cell.
func (c *cell) Watcher() pyhost.ToolWatcher { return fault.NewWatcher(c.ledger) }

// Report implements fault.Cell.
func (c *cell) Report() fault.Report { return c.ledger.Report() }

// Close implements fault.Cell. It cuts calls in progress and includes them in the report.
func (c *cell) Close() fault.Report {
	c.port.leave(c)
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.calls.Wait()
	return c.ledger.Report()
}
