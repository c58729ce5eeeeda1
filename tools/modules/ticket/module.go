// Package ticket writes the module that the starter of the format explores:
// tickets that are opened, taken, closed and reopened, with one planted fault.
package ticket

import (
	e "github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/tools/modules/record"
)

// Fault is the fault of a version of the module.
type Fault string

// The faults. None is the correct component.
const (
	None           Fault = ""
	ReleasesNewest Fault = "closing a ticket releases the newest one"
)

// held is the field of a ticket that says whether somebody holds it.
const held = 0

// Module returns the module with a fault.
func Module(fault Fault) []byte {
	m := record.New()
	m.Open("open_ticket")
	on := func(name string) record.Func { return record.Func{Func: m.Func(name, e.Params(e.I32), nil)} }
	take := on("take_ticket")
	take.Store(0, held, take.Const(1))
	closing := on("close_ticket")
	if fault == ReleasesNewest {
		closing.GlobalGet(m.Count).Set(0)
	}
	closing.Store(0, held, closing.Const(0))
	on("reopen_ticket")
	asked := m.On("ticket_is_held", 0)
	asked.Last(asked.Field(0, held))
	return m.Bytes()
}
