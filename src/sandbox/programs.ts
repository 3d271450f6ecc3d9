/**
 * Lists the real programs and how to build them. A pin is a folder in `sandbox/` with go.mod and go.sum, and with sources
 * where no module has the program.
 */

export interface ProgramPin {
  readonly pin: string
  readonly package: string
  readonly ldflags?: string
  /** Build tags. */
  readonly tags?: string
  /** Its name in KUBEBUILDER_ASSETS, which replaces it. */
  readonly asset?: string
  /** Its name in the envtest archive, which can replace the build. */
  readonly archived?: string
}

// Without a version, clients cannot parse the answer of /version.
const KUBERNETES_VERSION = ['gitVersion=v1.35.4', 'gitMajor=1', 'gitMinor=35']
  .map((setting) => `-X k8s.io/component-base/version.${setting}`)
  .join(' ')

const kubernetes = (name: string): ProgramPin => ({
  pin: 'kubernetes',
  package: `k8s.io/kubernetes/cmd/${name}`,
  ldflags: KUBERNETES_VERSION,
})

/** Without the tag it verifies signatures of images by a C library. */
const olm = (packagePath: string): ProgramPin => ({
  pin: 'olm',
  package: `github.com/operator-framework/${packagePath}`,
  tags: 'containers_image_openpgp',
})

const certManager = (name: string): ProgramPin => ({
  pin: 'cert-manager',
  package: `github.com/cert-manager/cert-manager/cmd/${name}`,
})

const cniPlugin = (name: string): ProgramPin => ({
  pin: 'cni-plugins',
  package: `github.com/containernetworking/plugins/plugins/${name}`,
})

export const programs = {
  etcd: { pin: 'etcd', package: 'go.etcd.io/etcd/server/v3', asset: 'etcd', archived: 'etcd' },
  'kube-apiserver': { ...kubernetes('kube-apiserver'), asset: 'kube-apiserver', archived: 'kube-apiserver' },
  'kube-controller-manager': kubernetes('kube-controller-manager'),
  'kube-proxy': kubernetes('kube-proxy'),
  'kube-scheduler': kubernetes('kube-scheduler'),
  kubectl: { ...kubernetes('kubectl'), archived: 'kubectl' },
  kubelet: kubernetes('kubelet'),
  'metallb-controller': { pin: 'metallb', package: 'go.universe.tf/metallb/controller' },
  'metallb-speaker': { pin: 'metallb', package: 'go.universe.tf/metallb/speaker' },
  'cert-manager-cainjector': certManager('cainjector'),
  'cert-manager-controller': certManager('controller'),
  'cert-manager-webhook': certManager('webhook'),
  'cni-bridge': cniPlugin('main/bridge'),
  'cni-host-local': cniPlugin('ipam/host-local'),
  'cni-loopback': cniPlugin('main/loopback'),
  'cni-macvlan': cniPlugin('main/macvlan'),
  'cni-static': cniPlugin('ipam/static'),
  coredns: { pin: 'coredns', package: 'stackloom.dev/sandbox/coredns' },
  'infra-operator': { pin: 'infra-operator', package: 'github.com/openstack-k8s-operators/infra-operator' },
  multus: { pin: 'multus', package: 'gopkg.in/k8snetworkplumbingwg/multus-cni.v4/cmd/multus' },
  'olm-catalog': olm('operator-lifecycle-manager/cmd/catalog'),
  'olm-operator': olm('operator-lifecycle-manager/cmd/olm'),
  opm: olm('operator-registry/cmd/opm'),
  'openstack-admission': { pin: 'openstack-admission', package: 'stackloom.dev/sandbox/openstack-admission' },
  pause: { pin: 'pause', package: 'stackloom.dev/sandbox/pause' },
  whereabouts: { pin: 'whereabouts', package: 'github.com/k8snetworkplumbingwg/whereabouts/cmd' },
  'whereabouts-reconciler': {
    pin: 'whereabouts',
    package: 'github.com/k8snetworkplumbingwg/whereabouts/cmd/reconciler',
  },
} as const satisfies Readonly<Record<string, ProgramPin>>

export type ProgramName = keyof typeof programs

/** `go build -o FOLDER/` names a program after the last element of its package that is not a major version. */
export function executableName(packagePath: string): string {
  const elements = packagePath.split('/').filter((element) => !/^v\d+$/.test(element))
  return elements.at(-1) ?? packagePath
}
