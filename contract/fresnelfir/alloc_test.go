package fresnelfir

import (
	"testing"

	"github.com/thresh-dev/thresh/campaign"
)

// A traversal of model and module, with every check on, allocates nothing once
// its buffers have grown: decisions, expressions, effects, properties, calls.
func TestTraversalsAllocateNothing(t *testing.T) {
	g := engine(t)
	for name, module := range map[string][]byte{
		"article": exampleModule("article", ""), "bank": exampleModule("bank", ""), "cache": exampleModule("cache", ""), "queue": exampleModule("queue", ""),
	} {
		c := withModuleNamed(t, g, name+".json", readExample(t, name+".json"), module)
		x, s := open(t, c), c.Start(campaign.Facts{})
		for i := range int64(60) {
			// The first run, which is not counted, lets buffers grow.
			if n := testing.AllocsPerRun(2, func() {
				if err := c.prepare(x.t, s, campaign.Case{Index: i}); err != nil {
					t.Fatal(err)
				}
				x.t.run()
			}); n > 0 {
				t.Errorf("%s: case %d allocates %v times in %d steps", name, i, n, x.t.actions)
			}
		}
	}
}
