module stackloom.dev/sandbox/quadlet

go 1.25.0

require (
	github.com/containers/podman/v5 v5.4.2 // indirect
	github.com/containers/storage v1.57.2 // indirect
	github.com/sirupsen/logrus v1.9.3 // indirect
	golang.org/x/sys v0.29.0 // indirect
)
