//go:build !race

package verify_test

const raced = false
