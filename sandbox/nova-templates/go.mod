module stackloom.dev/sandbox/nova-templates

go 1.25.0

require github.com/openstack-k8s-operators/nova-operator v0.1.1
