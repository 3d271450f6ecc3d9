/**
 * Applies everything rendered for a site to a real API server with strict validation, and reads it back.
 *
 * Returns what is wrong: refusals, warnings, fields that were dropped or changed.
 */
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

export async function applyAll(plan: Plan, cluster: Cluster): Promise<Acceptance> {
  const problems: string[] = []
  const { client, close } = await connect({
    kubeconfig: cluster.kubeconfig,
    env: process.env,
    onWarning: (text) => problems.push(`warning: ${text}`),
  })
  const documents = renderDocuments(plan)
  try {
    for (const { object } of documents) {
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
  return { applied: documents.length, problems }
}
