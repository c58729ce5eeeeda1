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

// A path is broken after a folder, another word after a sign, a number nowhere.
func TestWrapWords(t *testing.T) {
	for text, want := range map[string][]string{
		"services/payments/contract.spec.md": {"services/payments/", "contract.spec.md"},
		"account_id_of_owner=Account#1":      {"account_id_of_owner=", "Account#1"},
		"Account#1.balance_of_the_day: 0":    {"Account#1.balance_of_", "the_day: 0"},
		"the [13.7%, 69.4123456%]":           {"the [13.7%,", "69.4123456%]"},
	} {
		if got := wrap(text, min(25, len(text)-4)); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	}
}
