/**
 * Taking node networking away: a deleted policy leaves its interfaces on the node, so each is first set to
 * `state: absent`, waited for, and then deleted. One node at a time.
 *
 * What to remove is read from the live policy, so that a cloud whose file is gone can still be taken down; an
 * interface that another policy of the same node names as well stays.
 */
import type { KubeObject } from '../api/object.ts'
import { getList, getString } from '../api/raw-object.ts'
import type { KubeClient, ObjectRef } from '../kube/client.ts'
import { MANAGED_BY_LABEL } from '../render/labels.ts'
import type { StageContext } from '../run/stage.ts'
import { objectReadiness } from '../verify/readiness/readiness.ts'
import { defaultGrace } from '../verify/readiness/verdict.ts'
import { type LiveView, openLiveView } from './live-view.ts'
import { FIELD_MANAGER } from './object-changes.ts'
import { waitUntilReady } from './wait.ts'
import { aroundNodes } from './works/around.ts'

const POLICY = { apiVersion: 'nmstate.io/v1', kind: 'NodeNetworkConfigurationPolicy' }
/** What a policy makes; NICs are the machine's. */
const MADE = ['vlan', 'linux-bridge', 'bond']

interface Interface {
  readonly name: string
  readonly type: string
}

export async function removeNodePolicies(
  refs: readonly ObjectRef[],
  client: KubeClient,
  context: StageContext,
  given?: LiveView,
): Promise<void> {
  if (refs.length === 0) return
  const lookout = given ?? openLiveView({ client })
  try {
    await lookout.watch([POLICY, ...aroundNodes], context)
    const wanted = new Set(refs.map(({ name }) => name))
    for (const { name } of refs) {
      context.stop.throwIfAborted()
      const all = lookout.index().all('nmstate.io/NodeNetworkConfigurationPolicy')
      const policy = all.find(({ metadata }) => metadata.name === name)
      // Never another owner's, whatever it is called.
      if (policy?.metadata.labels?.[MANAGED_BY_LABEL] !== 'stackloom') continue
      const others = all.filter(({ metadata }) => !wanted.has(metadata.name))
      await removeNodePolicy(policy, others, { client, lookout }, context)
    }
  } finally {
    if (!given) await lookout.close()
  }
}

interface Tools {
  readonly client: KubeClient
  readonly lookout: LiveView
}

async function removeNodePolicy(
  policy: KubeObject,
  others: readonly KubeObject[],
  { client, lookout }: Tools,
  context: StageContext,
): Promise<void> {
  const { name } = policy.metadata
  const absent = absentInterfaces(policy, others)
  if (absent.length > 0 && !isAbsentAlready(policy)) {
    const patch = { spec: { desiredState: { interfaces: absent, routes: null } } }
    const written = await client.patch({ ...POLICY, name }, patch, {
      type: 'merge',
      fieldManager: FIELD_MANAGER,
    })
    context.emit({ kind: 'applied', change: 'changed', object: { ...POLICY, name } })
    const generation = written.metadata.generation ?? 0
    const look = () => {
      const around = lookout.index()
      const seen = around.get('nmstate.io/NodeNetworkConfigurationPolicy', name)
      if (!seen || (seen.metadata.generation ?? 0) < generation)
        return { kind: 'progressing', waits: `${name} to be seen as written` } as const
      return objectReadiness({ ...POLICY, name }, { around, now: context.clock.now(), grace: defaultGrace, nodes: [] })
    }
    await waitUntilReady(look, lookout, context)
  }
  await client.delete({ ...POLICY, name })
  context.emit({ kind: 'applied', change: 'deleted', object: { ...POLICY, name } })
}

/** Bridges before what is below them; nothing that another policy of the same node still names. */
export function absentInterfaces(policy: KubeObject, others: readonly KubeObject[]): readonly Interface[] {
  const node = getString(policy, 'spec', 'nodeSelector', 'kubernetes.io/hostname')
  const kept = new Set(
    others
      .filter((other) => getString(other, 'spec', 'nodeSelector', 'kubernetes.io/hostname') === node)
      .flatMap((other) => referencedInterfaces(other)),
  )
  const made = (getList(policy, 'spec', 'desiredState', 'interfaces') as readonly Interface[]).filter(
    ({ name, type }) => MADE.includes(type) && !kept.has(name),
  )
  const bridgesFirst = made.toSorted((a, b) => Number(b.type === 'linux-bridge') - Number(a.type === 'linux-bridge'))
  return bridgesFirst.map(({ name, type }) => ({ name, type, state: 'absent' }))
}

/** Interfaces that a policy makes or stands on. */
function referencedInterfaces(policy: KubeObject): readonly string[] {
  return getList(policy, 'spec', 'desiredState', 'interfaces').flatMap((one) => [
    getString(one, 'name') ?? '',
    getString(one, 'vlan', 'base-iface') ?? '',
    ...getList(one, 'bridge', 'port').flatMap((port) => getString(port, 'name') ?? []),
  ])
}

function isAbsentAlready(policy: KubeObject): boolean {
  const interfaces = getList(policy, 'spec', 'desiredState', 'interfaces')
  return interfaces.length > 0 && interfaces.every((iface) => getString(iface, 'state') === 'absent')
}
