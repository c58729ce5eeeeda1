module github.com/thresh-dev/thresh/examples/drivers/driver

go 1.26.0
