/** Reads the domain of Routes in a sandbox: an annotation of the namespace kube-system. */
import type { KubeClient } from '../../../kube/client.ts'
import { annotation } from '../actor.ts'

const DOMAIN = annotation('domain')
const DEFAULT_DOMAIN = 'apps.example.com'

export async function routeDomain(client: KubeClient): Promise<string> {
  const system = await client.get({ apiVersion: 'v1', kind: 'Namespace', name: 'kube-system' })
  return system?.metadata.annotations?.[DOMAIN] ?? DEFAULT_DOMAIN
}
