package app

import "github.com/thresh-dev/thresh/store"

// What faces read of a store, under the names that package store gives them.
type (
	RunQuery   = store.RunQuery
	Comparison = store.Comparison
)
