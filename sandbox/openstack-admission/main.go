// Serves the defaulting and validating webhooks of openstack-operator and infra-operator, as their API modules carry
// them. It runs no controller: the sandbox simulates those.
package main

import (
	"flag"
	"log"

	barbican "github.com/openstack-k8s-operators/barbican-operator/api/v1beta1"
	cinder "github.com/openstack-k8s-operators/cinder-operator/api/v1beta1"
	designate "github.com/openstack-k8s-operators/designate-operator/api/v1beta1"
	glance "github.com/openstack-k8s-operators/glance-operator/api/v1beta1"
	heat "github.com/openstack-k8s-operators/heat-operator/api/v1beta1"
	horizon "github.com/openstack-k8s-operators/horizon-operator/api/v1beta1"
	inframemcached "github.com/openstack-k8s-operators/infra-operator/apis/memcached/v1beta1"
	infranetwork "github.com/openstack-k8s-operators/infra-operator/apis/network/v1beta1"
	infrarabbitmq "github.com/openstack-k8s-operators/infra-operator/apis/rabbitmq/v1beta1"
	infraredis "github.com/openstack-k8s-operators/infra-operator/apis/redis/v1beta1"
	ironic "github.com/openstack-k8s-operators/ironic-operator/api/v1beta1"
	keystone "github.com/openstack-k8s-operators/keystone-operator/api/v1beta1"
	manila "github.com/openstack-k8s-operators/manila-operator/api/v1beta1"
	mariadb "github.com/openstack-k8s-operators/mariadb-operator/api/v1beta1"
	neutron "github.com/openstack-k8s-operators/neutron-operator/api/v1beta1"
	nova "github.com/openstack-k8s-operators/nova-operator/api/v1beta1"
	octavia "github.com/openstack-k8s-operators/octavia-operator/api/v1beta1"
	core "github.com/openstack-k8s-operators/openstack-operator/apis/core/v1beta1"
	dataplane "github.com/openstack-k8s-operators/openstack-operator/apis/dataplane/v1beta1"
	ovn "github.com/openstack-k8s-operators/ovn-operator/api/v1beta1"
	placement "github.com/openstack-k8s-operators/placement-operator/api/v1beta1"
	swift "github.com/openstack-k8s-operators/swift-operator/api/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

type webhooks interface {
	SetupWebhookWithManager(ctrl.Manager) error
}

func main() {
	port := flag.Int("port", 9443, "port on 127.0.0.1")
	certificates := flag.String("cert-dir", "", "folder with tls.crt and tls.key")
	flag.Parse()
	ctrl.SetLogger(zap.New())

	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		core.AddToScheme, dataplane.AddToScheme, infranetwork.AddToScheme, infrarabbitmq.AddToScheme,
	} {
		check(add(scheme))
	}
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:  scheme,
		Metrics: metrics.Options{BindAddress: "0"},
		// Validators list objects. Without a cache they see every object that was written before.
		NewClient: func(config *rest.Config, options client.Options) (client.Client, error) {
			options.Cache = nil
			return client.New(config, options)
		},
		WebhookServer: webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: *port, CertDir: *certificates}),
	})
	check(err)

	// The control plane is defaulted by the modules of its services.
	for _, setUp := range []func(){
		core.SetupVersionDefaults, dataplane.SetupDefaults, infranetwork.SetupDefaults, infrarabbitmq.SetupDefaults,
		inframemcached.SetupDefaults, infraredis.SetupDefaults, barbican.SetupDefaults, cinder.SetupDefaults,
		designate.SetupDefaults, glance.SetupDefaults, heat.SetupDefaults, horizon.SetupDefaults, ironic.SetupDefaults,
		keystone.SetupDefaults, manila.SetupDefaults, mariadb.SetupDefaults, neutron.SetupDefaults, nova.SetupDefaults,
		octavia.SetupDefaults, ovn.SetupDefaults, placement.SetupDefaults, swift.SetupDefaults,
	} {
		setUp()
	}
	for _, kind := range []webhooks{
		&core.OpenStackControlPlane{}, &core.OpenStackVersion{},
		&dataplane.OpenStackDataPlaneNodeSet{}, &dataplane.OpenStackDataPlaneDeployment{},
		&dataplane.OpenStackDataPlaneService{},
		&infranetwork.NetConfig{}, &infranetwork.IPSet{}, &infranetwork.Reservation{}, &infranetwork.DNSMasq{},
		&infrarabbitmq.RabbitMq{},
	} {
		check(kind.SetupWebhookWithManager(manager))
	}
	check(manager.Start(ctrl.SetupSignalHandler()))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
