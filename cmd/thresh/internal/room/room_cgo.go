//go:build cgo

package room

// A thread of the C library reserves 8 MB for its stack and 64 MB for its heap.
const (
	gigabytes = 4
	text      = "4"
)
