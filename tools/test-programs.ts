/** Programs that judge or finish what a release has, or that Stackloom is compared with, built from their pins into the user's cache when a test needs one. */
import { ensurePins, isBuilt } from '../src/sandbox/build/ensure-programs.ts'
import type { ProgramPin } from '../src/sandbox/programs.ts'
import { sandboxContext } from '../test/sandbox-context.ts'

// Without a version of Kubernetes, helm refuses a chart that needs a recent one.
const HELM_VERSION = ['chartutil', 'lint/rules']
  .flatMap((name) => [`${name}.k8sVersionMajor=1`, `${name}.k8sVersionMinor=35`])
  .map((setting) => `-X helm.sh/helm/v3/pkg/${setting}`)
  .join(' ')

const pins = {
  actionlint: { pin: 'actionlint', package: 'github.com/rhysd/actionlint/cmd/actionlint' },
  /** Executed runs in 2023. */
  'ansibleee-operator': {
    pin: 'ansibleee-operator',
    package: 'github.com/openstack-k8s-operators/openstack-ansibleee-operator',
  },
  helm: { pin: 'helm', package: 'helm.sh/helm/v3/cmd/helm', ldflags: HELM_VERSION },
  /** Deployed compute nodes in 2023. */
  'nova-operator': { pin: 'nova-operator', package: 'stackloom.dev/sandbox/nova-operator' },
  'nova-templates': { pin: 'nova-templates', package: 'stackloom.dev/sandbox/nova-templates' },
  krew: { pin: 'krew', package: 'sigs.k8s.io/krew/cmd/krew' },
  'validate-krew-manifest': { pin: 'krew', package: 'sigs.k8s.io/krew/cmd/validate-krew-manifest' },
  'kube-network-policies': {
    pin: 'kube-network-policies',
    package: 'sigs.k8s.io/kube-network-policies/cmd/kube-network-policies/npa-v1alpha1',
  },
  'olm-bundle': { pin: 'olm-bundle', package: 'stackloom.dev/sandbox/olm-bundle' },
  /** Podman's generator of units. */
  quadlet: { pin: 'quadlet', package: 'github.com/containers/podman/v5/cmd/quadlet', tags: 'remote' },
  quill: { pin: 'quill', package: 'stackloom.dev/sandbox/quill' },
} as const satisfies Readonly<Record<string, ProgramPin>>

export type TestProgram = keyof typeof pins

export async function testProgram(name: TestProgram): Promise<string> {
  const paths = await ensurePins([name], pins, sandboxContext())
  return paths[name]
}

/** A test that does not build programs uses one that is there, and is skipped otherwise. */
export async function findTestProgram(name: TestProgram): Promise<string | undefined> {
  const mayBuild = process.env['STACKLOOM_BUILD_ALL'] === '1'
  return mayBuild || (await isBuilt(name, pins, sandboxContext())) ? testProgram(name) : undefined
}
