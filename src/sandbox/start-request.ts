/** Combines what a start of a sandbox asks for with the settings that it had before. Pure. */
import { wrongUse } from '../errors/common.ts'
import { failure } from '../errors/failure.ts'
import { runningWithOtherSettings, settingsConflict } from './findings.ts'
import type { NodeRequest } from './nodes/node-layout.ts'
import { type CrdSource, optionalParts, type Part, type Settings, standardParts } from './settings.ts'

export interface StartRequest {
  readonly name: string
  readonly crds?: CrdSource | undefined
  readonly netns?: boolean | undefined
  readonly port?: number | undefined
  readonly actors?: readonly string[] | undefined
  /** Names of the nodes: objects only, or with `pods` nodes that run pods. */
  readonly nodes?: readonly string[] | undefined
  /** Run cert-manager; kept at later starts. */
  readonly certManager?: boolean | undefined
  /** Run OLM with a catalog of the operators; kept at later starts. */
  readonly olm?: boolean | undefined
  /** Run OpenStack's services; kept at later starts. */
  readonly openstack?: boolean | undefined
  /** Run real nodes; kept at later starts. */
  readonly pods?: boolean | undefined
  /** The NICs of each node that runs pods, by node and switch. */
  readonly nics?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined
}

export function rejectCrdChange(
  { name, crds: asked }: StartRequest,
  before: Settings | undefined,
  resolved: CrdSource,
): void {
  if (!before || asked === undefined || [asked, resolved].includes(before.crds)) return
  throw failure(settingsConflict, { name, setting: '--crd', has: before.crds, asked })
}

/** Settings of running programs cannot be changed. */
export function rejectRunningChange(
  { name, netns, actors, port, pods, certManager, olm, openstack, nodes, nics }: StartRequest,
  before: Settings,
): void {
  const asked: readonly (readonly [setting: string, has: string, asked: string | undefined])[] = [
    ['--netns', String(before.netns), netns === undefined ? undefined : String(netns)],
    ['--actors', before.actors.join(',') || 'none', actors && selectActors(actors, before).join(',')],
    ['--port', String(before.port), port === undefined ? undefined : String(port)],
    ['--pods', String(before.pods !== undefined), pods === undefined ? undefined : String(pods)],
    [
      '--cert-manager',
      String(before.parts.includes('cert-manager')),
      certManager === undefined ? undefined : String(certManager),
    ],
    ['--olm', String(before.parts.includes('olm')), olm === undefined ? undefined : String(olm)],
    ['--openstack', String(before.openstack === true), openstack === undefined ? undefined : String(openstack)],
    // Simulated nodes can be added at any time.
    ...(before.pods
      ? ([
          ['--nodes', formatNodes(before.pods.nodes), nodes && formatNodes(requestNodes(nodes, nics, before))],
        ] as const)
      : []),
  ]
  for (const [setting, has, requested] of asked) {
    if (requested !== undefined && requested !== has)
      throw failure(runningWithOtherSettings, { name, setting, has, asked: requested })
  }
}

/** The nodes that run pods after this start. */
export function selectPods({ name, pods, nodes, nics }: StartRequest, before: Settings | undefined): Settings['pods'] {
  if (!(pods ?? before?.pods !== undefined)) return undefined
  const names = nodes ?? before?.pods?.nodes.map((node) => node.name) ?? []
  if (names.length === 0) {
    const reason = `sandbox ${name} needs names of nodes for its pods: --nodes worker-0,worker-1`
    throw failure(wrongUse, { reason, command: 'stackloom sandbox start' })
  }
  return { nodes: requestNodes(names, nics, before) }
}

const DEFAULT_NICS = { main: 'enp6s0' }

/** Nodes keep the NICs of an earlier start. */
function requestNodes(
  names: readonly string[],
  nics: StartRequest['nics'],
  before: Settings | undefined,
): readonly NodeRequest[] {
  return names.map((name) => {
    const earlier = before?.pods?.nodes.find((node) => node.name === name)
    return { name, nics: nics?.[name] ?? earlier?.nics ?? DEFAULT_NICS }
  })
}

function formatNodes(nodes: readonly NodeRequest[]): string {
  return nodes.map(({ name, nics }) => `${name} (${Object.values(nics).join(', ')})`).join(', ')
}

/** What is not asked for stays as it was. */
export function combineSettings(
  request: StartRequest & { readonly crds: CrdSource },
  before: Settings | undefined,
  pods: Settings['pods'],
): Settings {
  const parts = selectParts(request, before)
  const openstack = selectOpenStack(request, before, pods)
  const running = { ...(pods && { pods }), ...(openstack && { openstack }) }
  return {
    name: request.name,
    crds: request.crds,
    netns:
      pods !== undefined ||
      openstack === true ||
      optionalParts.some((part) => parts.includes(part)) ||
      (request.netns ?? before?.netns ?? false),
    parts,
    actors: selectActors(requestActors(request, before, openstack), { parts, ...running }),
    ...running,
    port: request.port ?? before?.port ?? 0,
  }
}

/** OpenStack's services are those of control planes, which an actor creates; without names all actors run. */
function requestActors(
  { actors }: StartRequest,
  before: Settings | undefined,
  openstack: true | undefined,
): readonly string[] {
  const earlier = before?.actors ?? []
  const selected = actors ?? (openstack && earlier.length === 0 ? allActors : earlier)
  return openstack && !selected.includes('openstack') ? [...selected, 'openstack'] : selected
}

const allActors = ['kubelet', 'nmstate', 'olm', 'openstack', 'operators', 'services']

function selectOpenStack(
  { openstack }: StartRequest,
  before: Settings | undefined,
  pods: Settings['pods'],
): true | undefined {
  if (!(openstack ?? before?.openstack)) return undefined
  if (pods) {
    const reason = '--openstack and --pods cannot be combined: the VIPs of a cloud are addresses of its control host'
    throw failure(wrongUse, { reason, command: 'stackloom sandbox start' })
  }
  return true
}

function selectParts(
  { certManager, olm, crds }: StartRequest & { readonly crds: CrdSource },
  before: Settings | undefined,
): readonly Part[] {
  const asked = { 'cert-manager': certManager, olm }
  const parts = [...standardParts, ...optionalParts.filter((part) => asked[part] ?? before?.parts.includes(part))]
  if (parts.includes('cert-manager') && crds === 'none') {
    const reason = '--cert-manager needs the CRDs of cert-manager, which --crd none does not have'
    throw failure(wrongUse, { reason, command: 'stackloom sandbox start' })
  }
  return parts
}

/** What runs in this sandbox and is therefore not simulated. */
export function realPrograms({ pods, parts }: Pick<Settings, 'pods' | 'parts'>): readonly string[] {
  return [...(pods ? ['kubelet', 'services'] : []), ...optionalParts.filter((part) => parts.includes(part))]
}

/** The operators that OLM installs are simulated, also where it runs. */
function selectActors(names: readonly string[], settings: Pick<Settings, 'pods' | 'parts'>): readonly string[] {
  const real = realPrograms(settings)
  const selected = names.map((name) => (name === 'olm' && real.includes(name) ? 'operators' : name))
  return [...new Set(selected.filter((name) => !real.includes(name)))]
}
