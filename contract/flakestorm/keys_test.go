package flakestorm_test

import (
	"testing"

	"github.com/thresh-dev/thresh/contract/contracttest"
	"github.com/thresh-dev/thresh/contract/flakestorm"
	"github.com/thresh-dev/thresh/contract/flakestorm/config"
	"github.com/thresh-dev/thresh/diag"
)

// A key of another type is an error that names the types that take it. Those
// that flakestorm's own documents write there, threshold and dangerous_prompts
// of latency and valid_json (flakestorm.yaml), request_template and
// response_path of python (docs/TEST_SCENARIOS.md), are warnings.
func TestKeysThatDoNotBelong(t *testing.T) {
	contracttest.Keys{
		Of: config.Format(), Unknown: diag.Warning, Contract: &flakestorm.Contract{}, Path: "flakestorm.yaml",
		Base: `{"agent": {"endpoint": "http://localhost:1/"}, "golden_prompts": ["hello there"], "invariants": [{"type": "completes"}]}`,
	}.Run(t)
}
