// Package modules lists the example systems: models with a module, and with versions of the module
// that have one fault each. Its tests compare the modules beside the models, in examples, with the
// packages that write them.
package modules

import (
	"github.com/thresh-dev/thresh/tools/modules/article"
	"github.com/thresh-dev/thresh/tools/modules/bank"
	"github.com/thresh-dev/thresh/tools/modules/cache"
	"github.com/thresh-dev/thresh/tools/modules/queue"
)

// System is an example system. Its model is Name.json, its module Name.wasm.
type System struct {
	Name   string
	Module func(fault string) []byte // "": none
	Faults []string
}

// All returns the systems.
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
