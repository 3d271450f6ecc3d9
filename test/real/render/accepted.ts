/**
 * Applies everything rendered for a site to a real API server with strict validation, and reads it back.
 *
 * Returns what is wrong: refusals, warnings, fields that were dropped or changed.
 */
import type { KubeObject } from '../../../src/api/object.ts'
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

export async function applyObjects(objects: readonly KubeObject[], cluster: Cluster): Promise<Acceptance> {
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
