//go:build !linux

package store

func platformJobs() map[string]func(string) error { return nil }
