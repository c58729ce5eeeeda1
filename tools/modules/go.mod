module github.com/thresh-dev/thresh/tools/modules

go 1.26.0

require github.com/thresh-dev/thresh v0.0.0

replace github.com/thresh-dev/thresh => ../..
