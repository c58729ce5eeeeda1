// Package systems lists the example systems: models with a module, and with
// versions of the module that have one fault each.
package systems

import (
	"github.com/thresh-dev/thresh/examples/fresnelfir/article"
	"github.com/thresh-dev/thresh/examples/fresnelfir/bank"
	"github.com/thresh-dev/thresh/examples/fresnelfir/cache"
	"github.com/thresh-dev/thresh/examples/fresnelfir/queue"
)

// System is one of them. Its model stands in Name.json, its module in Name.wasm.
type System struct {
	Name   string
	Module func(fault string) []byte // "": none
	Faults []string
}

// All are the systems.
func All() []System {
	return []System{
		system("article", article.Module, article.Faults()),
		system("bank", bank.Module, bank.Faults()),
		system("cache", cache.Module, cache.Faults()),
		system("queue", queue.Module, queue.Faults()),
	}
}

func system[F ~string](name string, module func(F) []byte, faults []F) System {
	s := System{Name: name, Module: func(fault string) []byte { return module(F(fault)) }}
	for _, f := range faults {
		s.Faults = append(s.Faults, string(f))
	}
	return s
}
