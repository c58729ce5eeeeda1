//go:build !race

package tway_test

const raced = false
