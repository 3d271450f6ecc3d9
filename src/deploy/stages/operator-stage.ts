/**
 * Installing an operator: its Subscription, then the resource that turns it on, then everything that it consists of.
 *
 * An operator that somebody else has installed satisfies the stage: a second OperatorGroup or Subscription would
 * break the first.
 */
import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
import { getString } from '../../api/raw-object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { failure } from '../../errors/failure.ts'
import type { Finding } from '../../errors/finding.ts'
import { MANAGED_BY_LABEL } from '../../render/labels.ts'
import { operatorMissing } from '../../run/findings.ts'
import type { StageContext } from '../../run/stage.ts'
import { type InstallationPart, installationReadiness } from '../../verify/readiness/installed-operators.ts'
import { type Readiness, worst } from '../../verify/readiness/verdict.ts'
import { type AppliedObjects, applyChanges } from '../apply.ts'
import { waitUntilReady } from '../wait.ts'
import { aroundOperators } from '../works/around.ts'
import { appliedReadiness, compareObjects, distinctKinds, readinessContext, type World } from '../world.ts'
import type { StageWork } from './apply-and-wait.ts'

export interface OperatorWork {
  /** What it is called among people. */
  readonly title: string
  readonly objects: readonly KubeObject[]
  readonly parts: readonly InstallationPart[]
  /** Kinds that it brings: followed, so that it shows whether they are served. */
  readonly brings: readonly GroupVersionKind[]
  /** Kinds of which a cluster has one: another's counts as ours. */
  readonly singletons: readonly string[]
  /** What is worth telling once it runs. */
  readonly tell?: (world: World) => Promise<readonly Finding[]>
}

const OLM_KINDS = ['Namespace', 'OperatorGroup', 'CatalogSource', 'Subscription']
const SUBSCRIPTION = 'operators.coreos.com/Subscription'

export function operatorWork(world: World, work: OperatorWork): StageWork {
  const kinds = [...distinctKinds(work.objects), ...work.brings, ...aroundOperators]
  const installed = (context: StageContext): Readiness =>
    installationReadiness(work.parts, readinessContext(world, context))

  return {
    check: async (context) => {
      await world.lookout.watch(kinds, context)
      if (installed(context).kind !== 'ready') return { kind: 'needed' }
      const ours = managedObjects(work, world)
      if (ours.length === 0) return { kind: 'satisfied', reason: `${work.title} is installed already` }
      const differing = compareObjects(ours, world).filter(({ change }) => change !== 'unchanged')
      return differing.length === 0
        ? { kind: 'satisfied', reason: `${work.title} runs as planned` }
        : { kind: 'needed' }
    },
    work: async (context) => {
      await world.lookout.watch(kinds, context)
      const objects = managedObjects(work, world)
      if (objects.length === 0 && isMissing(work, world))
        throw failure(operatorMissing, { operator: work.title }, { exitCode: 1 })
      const first = objects.filter(({ kind }) => OLM_KINDS.includes(kind))
      const then = objects.filter(({ kind }) => !OLM_KINDS.includes(kind))
      await applyThenWait(first, world, context)
      await applyThenWait(then, world, context)
      await waitUntilReady(() => installed(context), world.lookout, context)
      for (const finding of (await work.tell?.(world)) ?? []) context.emit({ kind: 'finding', finding })
    },
  }
}

async function applyThenWait(objects: readonly KubeObject[], world: World, context: StageContext): Promise<void> {
  if (objects.length === 0) return
  await world.lookout.watch(distinctKinds(objects), context)
  const applied: AppliedObjects = await applyChanges(compareObjects(objects, world), world, context)
  await world.lookout.watch(distinctKinds(objects), context)
  const look = (): Readiness =>
    worst(objects.map((object) => appliedReadiness(object, applied, readinessContext(world, context))))
  await waitUntilReady(look, world.lookout, context)
}

/** Without what somebody else has already brought: his Subscription, his operand. */
function managedObjects({ objects, singletons }: OperatorWork, { lookout }: World): readonly KubeObject[] {
  const index = lookout.index()
  const isOurs = ({ metadata }: KubeObject): boolean => metadata.labels?.[MANAGED_BY_LABEL] === 'stackloom'
  const packages = objects
    .filter(({ kind }) => kind === 'Subscription')
    .map((object) => getString(object, 'spec', 'name'))
  const subscribed = index
    .all(SUBSCRIPTION)
    .some((one) => !isOurs(one) && packages.includes(getString(one, 'spec', 'name')))
  return objects.filter((object) => {
    if (OLM_KINDS.includes(object.kind)) return !subscribed
    const groupKind = formatGroupKind(object)
    return !singletons.includes(groupKind) || index.all(groupKind).every(isOurs)
  })
}

/** On a cluster without OLM nobody will bring what is not there. */
function isMissing({ brings }: OperatorWork, { lookout }: World): boolean {
  const index = lookout.index()
  return brings.some((kind) => index.unread(formatGroupKind(kind)) !== undefined)
}
