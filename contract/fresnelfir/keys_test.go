package fresnelfir_test

import (
	"testing"

	"github.com/thresh-dev/thresh/contract/contracttest"
	"github.com/thresh-dev/thresh/contract/fresnelfir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/diag"
)

// A key of another type is an error that names the types that take it.
func TestKeysThatDoNotBelong(t *testing.T) {
	contracttest.Keys{
		Of: ir.Format(), Unknown: diag.Warning, Contract: fresnelfir.New(nil), Path: "article.json",
		Base: read(t, "../../examples/fresnelfir/article.json"),
	}.Run(t)
}
