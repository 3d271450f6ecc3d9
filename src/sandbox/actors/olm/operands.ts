/** Plays the operators that OLM has installed: an operand becomes its workloads, and says so when they run. */
import { formatTimestamp, type KubeObject } from '../../../api/object.ts'
import type { CacheReader } from '../../../kube/cache.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { ActorDeps } from '../actor.ts'
import { type SimulatedCondition, updateConditions } from '../conditions.ts'
import { type Operand, type Package, packages } from './catalog-packages.ts'
import { applyWorkloads, findUnavailable, MANAGER } from './workloads.ts'

const CSV = { apiVersion: 'operators.coreos.com/v1alpha1', kind: 'ClusterServiceVersion' }

export function addOperands({ runtime, stepMs }: ActorDeps): void {
  const versions = runtime.cache({ kind: CSV })
  for (const found of Object.values(packages)) {
    for (const operand of found.operands) {
      const objects = runtime.cache({ kind: operand.kind })
      runtime.add({
        name: `actor-olm-${operand.kind.kind.toLowerCase()}`,
        watches: [
          { kind: operand.kind },
          // An operand that was there first waits for its operator.
          { kind: CSV, map: () => objects.list().map(objectKey) },
        ],
        reconcile: async ({ namespace, name }, { clock }) => {
          const object = objects.get(namespace ? `${namespace}/${name}` : name)
          const home = operatorNamespace(versions, found)
          if (!object || object.metadata.deletionTimestamp || home === undefined) return
          const done = await reconcileOperand(runtime.client, { object, operand, home }, formatTimestamp(clock.now()))
          return done ? undefined : { requeueAfterMs: stepMs }
        },
      })
    }
  }
}

function objectKey({ metadata }: KubeObject): string {
  return metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name
}

/** Where the operator runs, once it does. */
function operatorNamespace(versions: CacheReader, { csv }: Package): string | undefined {
  const found = versions
    .list()
    .find(
      (version) =>
        version.metadata.name === csv &&
        (version['status'] as { readonly phase?: string } | undefined)?.phase === 'Succeeded',
    )
  return found?.metadata.namespace
}

interface OperandRun {
  readonly object: KubeObject
  readonly operand: Operand
  readonly home: string
}

async function reconcileOperand(
  client: KubeClient,
  { object, operand, home }: OperandRun,
  now: string,
): Promise<boolean> {
  const { apiVersion, kind, metadata } = object
  const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' }
  await applyWorkloads(client, operand.workloads, home, owner)
  const waiting = await findUnavailable(client, operand.workloads, home)
  await writeCondition(client, { object, operand, home }, waiting, now)
  return waiting === undefined
}

async function writeCondition(
  client: KubeClient,
  { object, operand }: OperandRun,
  waiting: string | undefined,
  now: string,
): Promise<void> {
  const { condition } = operand
  if (!condition) return
  const before = ((object['status'] ?? {}) as { readonly conditions?: readonly SimulatedCondition[] }).conditions ?? []
  const conditions = updateConditions(
    before,
    [
      waiting === undefined
        ? [condition.type, 'True', condition.reason, condition.message]
        : [condition.type, 'False', 'Progressing', waiting],
    ],
    now,
  )
  if (JSON.stringify(conditions) === JSON.stringify(before)) return
  const { apiVersion, kind, metadata } = object
  const { name, namespace } = metadata
  await client.apply(
    { apiVersion, kind, metadata: { name, ...(namespace && { namespace }) }, status: { conditions } },
    { fieldManager: MANAGER, subresource: 'status' },
  )
}
