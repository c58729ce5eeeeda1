//go:build !cgo

package room

const (
	gigabytes = 2
	text      = "2"
)
