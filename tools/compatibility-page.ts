/** Generates the table of versions that Stackloom is tested with, from the pins. Pure but for reading them. */
import { readFileSync } from 'node:fs'
import { loadReleases } from '../src/plan/release/releases.ts'
import { NMSTATECTL_VERSION } from '../src/rehearse/image/nmstatectl.ts'
import { nodeVersions } from './node-versions.ts'

interface Row {
  readonly what: string
  readonly version: string
  readonly how: string
}

/** The version that a pin requires of a module. */
export function pinnedVersion(goMod: string, module: string): string {
  const escaped = module.replace(/[.]/g, '\\.')
  const version = new RegExp(`^(?:require |\\t)${escaped} (v\\S+)`, 'm').exec(goMod)?.[1]
  if (version === undefined) throw new Error(`the pin does not require ${module}`)
  return version
}

const readPin = (pin: string, module: string): string =>
  pinnedVersion(readFileSync(`sandbox/${pin}/go.mod`, 'utf8'), module)

function crdModule(module: string): string {
  const { modules } = JSON.parse(readFileSync('sandbox/crds.json', 'utf8')) as {
    readonly modules: readonly { readonly module: string; readonly version: string }[]
  }
  const versions = modules.filter((entry) => entry.module === module).map(({ version }) => version)
  if (versions.length === 0) throw new Error(`crds.json has no ${module}`)
  return [...new Set(versions)].join(', ')
}

function pythonPackage(name: string): string {
  const text = readFileSync('data/lab/deployer-requirements.txt', 'utf8')
  return new RegExp(`^${name}==(\\S+)`, 'm').exec(text)?.[1] ?? ''
}

const RUNS = 'the program runs in the tests'
const CRDS = 'its CRDs are installed in the tests; the program is simulated by an actor'

function rows(): readonly Row[] {
  return [
    { what: 'Node', version: nodeVersions.join(', '), how: RUNS },
    {
      what: 'Kubernetes',
      version: readPin('kubernetes', 'k8s.io/kubernetes'),
      how: `${RUNS}: API server, controller manager, scheduler, kubelet, kube-proxy`,
    },
    { what: 'etcd', version: readPin('etcd', 'go.etcd.io/etcd/server/v3'), how: RUNS },
    {
      what: 'MetalLB',
      version: readPin('metallb', 'go.universe.tf/metallb'),
      how: `${RUNS}: controller, speaker, webhooks`,
    },
    { what: 'whereabouts', version: readPin('whereabouts', 'github.com/k8snetworkplumbingwg/whereabouts'), how: RUNS },
    { what: 'Multus', version: readPin('multus', 'gopkg.in/k8snetworkplumbingwg/multus-cni.v4'), how: RUNS },
    { what: 'OLM', version: readPin('olm', 'github.com/operator-framework/operator-lifecycle-manager'), how: RUNS },
    { what: 'cert-manager', version: readPin('cert-manager', 'github.com/cert-manager/cert-manager'), how: RUNS },
    {
      what: 'nmstate',
      version: NMSTATECTL_VERSION,
      how: 'configures virtual machines in rehearsals, and judges policies',
    },
    { what: 'kubernetes-nmstate', version: crdModule('github.com/nmstate/kubernetes-nmstate'), how: CRDS },
    { what: 'MetalLB operator', version: crdModule('github.com/metallb/metallb-operator'), how: CRDS },
    {
      what: 'RHOSO releases',
      version: loadReleases()
        .map(({ name }) => name)
        .join(', '),
      how: 'every rendered object is checked with the CRDs of each release; admission of the operators at 0.6.0',
    },
    { what: 'Kolla-Ansible', version: pythonPackage('kolla-ansible'), how: 'reads every rendered file of a lab' },
    { what: 'Lima', version: readPin('lima', 'github.com/lima-vm/lima/v2'), how: 'checks every rendered VM' },
    {
      what: 'OpenTofu',
      version: readPin('opentofu', 'github.com/opentofu/opentofu'),
      how: 'plans the rendered configuration',
    },
    { what: 'Helm', version: readPin('helm', 'helm.sh/helm/v3'), how: 'installs, upgrades and uninstalls the chart' },
    {
      what: 'krew',
      version: readPin('krew', 'sigs.k8s.io/krew'),
      how: 'judges the plugin manifest and installs the plugin',
    },
  ]
}

export function compatibilityPage(): string {
  const lines = rows().map(({ what, version, how }) => `| ${what} | ${version} | ${how} |`)
  return `# Compatibility

What Stackloom is tested with. Generated from the pins by \`make docs\`.

| | version | how it is tested |
|---|---|---|
${lines.join('\n')}

Not tested, because it does not run on one machine: OpenShift and the OpenStack operators (the services of OpenStack run in the
[sandbox](../sandbox.md#openstack)). Their CRDs and documented behaviour are; see [what the sandbox simulates](../sandbox.md#what-is-real-and-what-is-simulated). The operator
needs Kubernetes 1.30 or OpenShift 4.17, because its webhooks have conditions. What a version of Stackloom promises is in
[Versions](versions.md).
`
}
