//go:build unix && !linux

package python

func living(mark) int { return 0 }
