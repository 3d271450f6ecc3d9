// Runs the controller of nova-operator that deploys compute nodes, and none of those that need databases and pods.
package main

import (
	"fmt"
	"os"

	routev1 "github.com/openshift/api/route/v1"
	novav1 "github.com/openstack-k8s-operators/nova-operator/api/v1beta1"
	"github.com/openstack-k8s-operators/nova-operator/controllers"
	aee "github.com/openstack-k8s-operators/openstack-ansibleee-operator/api/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ctrl.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, novav1.AddToScheme, routev1.AddToScheme, aee.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	config := ctrl.GetConfigOrDie()
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, MetricsBindAddress: "0"})
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	reconciler := &controllers.NovaExternalComputeReconciler{
		ReconcilerBase: controllers.NewReconcilerBase("NovaExternalCompute", mgr, client),
	}
	if err := reconciler.SetupWithManager(mgr); err != nil {
		return err
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}
