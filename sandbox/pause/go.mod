module stackloom.dev/sandbox/pause

go 1.25.0
