package system

import (
	"testing"

	"github.com/thresh-dev/thresh/contract/contracttest"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/systemfile"
)

// A key of another kind is an error that names the kinds that take it, and one
// that is known nowhere names the nearest.
func TestKeysThatDoNotBelong(t *testing.T) {
	contracttest.Keys{
		Of: systemfile.Format(), Unknown: diag.Error, Contract: New(nil), Path: "shop.system.yaml",
		Base: `{"schema": "thresh.system.v1", "kind": "http", "url": "http://127.0.0.1", "operations": {"a": {"path": "/"}}}`,
	}.Run(t)
}
