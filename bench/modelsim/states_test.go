package main

import "testing"

// Sets of at most four tickets, of 50 kinds: 5 priorities by open (4 holders), working
// (3) and closed (3).
func TestBare(t *testing.T) {
	if n, err := bare(200); n != 316251 || err != nil {
		t.Errorf("%d states, want 316251; %v", n, err)
	}
}
