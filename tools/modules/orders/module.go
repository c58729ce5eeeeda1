// Package orders writes the WebAssembly modules of the orders example: orders
// that can be refunded in parts, with the planted fault and without.
package orders

import (
	"github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/tools/modules/record"
)

// Fields of an order.
const (
	paid = 0
	left = 1
)

// Module returns the module. In the faulty one, a refund is compared with the amount paid, not with
// what is left. A refusal is -1.
func Module(faulty bool) []byte {
	m := record.New()
	place := m.Func("place", wasmemit.Params(wasmemit.I32), wasmemit.Results(wasmemit.I32))
	place.GlobalGet(m.Count).I32(1).Op(wasmemit.I32Add).GlobalSet(m.Count)
	order := record.Func{Func: place}.Func.Local(wasmemit.I32)
	place.GlobalGet(m.Count).Set(order)
	made := record.Func{Func: place}
	made.Store(order, paid, made.Local(0))
	made.Store(order, left, made.Local(0))
	place.Get(order)

	limit := uint32(left)
	if faulty {
		limit = paid
	}
	refund := m.On("refund", 1)
	refund.When(refund.Of(wasmemit.I32GtS, refund.Local(1), refund.Field(0, limit)), func() { refund.Answer(refund.Const(-1)) })
	refund.When(refund.Of(wasmemit.I32GtS, refund.Local(1), refund.Field(0, left)), func() {
		refund.Store(0, left, refund.Const(0))
		refund.Answer(refund.Const(0))
	})
	refund.Store(0, left, refund.Of(wasmemit.I32Sub, refund.Field(0, left), refund.Local(1)))
	refund.Last(refund.Field(0, left))

	of := m.On("left", 0)
	of.Last(of.Field(0, left))
	return m.Bytes()
}
