/**
 * Applies everything rendered for a site to a real API server with strict validation, and reads it back.
 *
 * Returns what is wrong: refusals, warnings, fields that were dropped or changed.
 */
import type { KubeObject } from '../../../src/api/object.ts'
import { mapConcurrently } from '../../../src/async/map-concurrently.ts'
import type { ObjectRef } from '../../../src/kube/client.ts'
import { connect } from '../../../src/kube/connect.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import { renderDocuments } from '../../../src/render/render.ts'
import type { Cluster } from '../../cluster.ts'
import { missingFrom } from '../../subset.ts'

export interface Acceptance {
  readonly applied: number
  readonly problems: readonly string[]
}

export function applyAll(plan: Plan, cluster: Cluster): Promise<Acceptance> {
  return applyObjects(
    renderDocuments(plan).map(({ object }) => object),
    cluster,
  )
}

async function applyObjects(objects: readonly KubeObject[], cluster: Cluster): Promise<Acceptance> {
  const problems: string[] = []
  const { client, close } = await connect({
    kubeconfig: cluster.kubeconfig,
    env: process.env,
    onWarning: (text) => problems.push(`warning: ${text}`),
  })
  try {
    for (const object of objects) {
      const { apiVersion, kind, metadata } = object
      const who = `${kind} ${metadata.namespace ?? ''}/${metadata.name}`
      try {
        await client.apply(object, { fieldManager: 'stackloom' })
        const { name, namespace } = metadata
        const ref: ObjectRef = { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) }
        problems.push(...missingFrom(await client.get(ref), object).map((path) => `${who}${path}`))
      } catch (thrown) {
        problems.push(`${who}: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
      }
    }
  } finally {
    await close()
  }
  return { applied: objects.length, problems }
}

/**
 * Asks the API server about objects by dry runs: schema, strict validation and CEL rules, without a write for each. Objects
 * with equal content are asked once.
 */
export async function judgeObjects(
  objects: readonly KubeObject[],
  { client }: Pick<Cluster, 'client'>,
  fieldManager = 'stackloom',
): Promise<Acceptance> {
  const namespaces = new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []))
  for (const name of namespaces)
    await client.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, { fieldManager: 'stackloom' })
  const distinct = new Map(objects.map((object) => [JSON.stringify([object.kind, object['spec']]), object]))
  const problems = await mapConcurrently([...distinct.values()], 4, async (object) => {
    const { kind, metadata } = object
    const name = `${kind} ${metadata.namespace ?? ''}/${metadata.name}`
    try {
      const answer = await client.apply(object, { fieldManager, dryRun: true })
      return missingFrom(answer, object).map((path) => `${name}${path}`)
    } catch (thrown) {
      return [`${name}: ${thrown instanceof Error ? thrown.message : String(thrown)}`]
    }
  })
  return { applied: distinct.size, problems: problems.flat() }
}
