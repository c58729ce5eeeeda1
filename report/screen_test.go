package report

import (
	"slices"
	"testing"
)

// A long word in one column does not break the few words of a short one.
func TestFitColumns(t *testing.T) {
	widths := []int{8, 22, 56, 20} // "33 of 33", operators, a prompt in code, a reply
	fitColumns(widths, []int{2, 22, 56, 11}, 80)
	if widths[0] != 8 || sum(widths) > 80 {
		t.Errorf("%d", widths)
	}
	tight := []int{8, 9, 10}
	if fitColumns(tight, slices.Clone(tight), 18); sum(tight) > 18 {
		t.Errorf("without room for the short ones: %d", tight)
	}
}

// A path is broken after a folder.
func TestWrapPath(t *testing.T) {
	if got := wrap("services/payments/contract.spec.md", 24); !slices.Equal(got, []string{"services/payments/", "contract.spec.md"}) {
		t.Errorf("%q", got)
	}
}
