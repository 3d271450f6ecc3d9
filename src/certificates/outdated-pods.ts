/**
 * Finds pods that started before a Secret changed. A program reads environment and files when it starts, so it may still use
 * the old values. Pure.
 */
import { groupBy } from '../api/collections.ts'
import type { KubeObject } from '../api/object.ts'
import { getField, getList, getString } from '../api/raw-object.ts'
import { lastChange } from './credentials.ts'

interface SecretReader {
  readonly secret: string
  readonly pod: string
  readonly started: number
}

export function createOutdatedPods(
  pods: readonly KubeObject[],
  findSecret: (namespace: string, name: string) => KubeObject | undefined,
): (namespace: string, secret: string) => readonly string[] {
  const readers = groupBy(pods.flatMap(readersOf), ({ secret }) => secret)
  return (namespace, name) => {
    const found = findSecret(namespace, name)
    const changed = Date.parse((found && lastChange(found)) ?? '')
    const before = readers.get(`${namespace}/${name}`)?.filter(({ started }) => started < changed) ?? []
    return [...new Set(before.map(({ pod }) => pod))].sort()
  }
}

/** The running containers of a pod with the Secrets that each reads. */
function readersOf(pod: KubeObject): readonly SecretReader[] {
  const { namespace, name } = pod.metadata
  const statuses = getList(pod, 'status', 'containerStatuses')
  const volumes = getList(pod, 'spec', 'volumes')
  return getList(pod, 'spec', 'containers').flatMap((container) => {
    const status = statuses.find((candidate) => getString(candidate, 'name') === getString(container, 'name'))
    const started = Date.parse(getString(getField(status, 'state', 'running'), 'startedAt') ?? '')
    if (Number.isNaN(started)) return []
    const secrets = secretsOf(container, volumes).map((secret) => `${namespace}/${secret}`)
    return secrets.map((secret) => ({ secret, pod: name, started }))
  })
}

function secretsOf(container: unknown, volumes: readonly unknown[]): readonly string[] {
  const mounted = new Set(getList(container, 'volumeMounts').map((mount) => getString(mount, 'name')))
  const names = [
    ...getList(container, 'env').map((variable) => getString(variable, 'valueFrom', 'secretKeyRef', 'name')),
    ...getList(container, 'envFrom').map((source) => getString(source, 'secretRef', 'name')),
    ...volumes
      .filter((volume) => mounted.has(getString(volume, 'name')))
      .flatMap((volume) => [
        getString(volume, 'secret', 'secretName'),
        ...getList(volume, 'projected', 'sources').map((source) => getString(source, 'secret', 'name')),
      ]),
  ]
  return names.filter((name) => name !== undefined)
}
