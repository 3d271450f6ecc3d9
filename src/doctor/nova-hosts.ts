/**
 * The hosts that nova's cells know. Only nova's database has them, so its conductor is asked; the answer travels as an
 * object of our own, which a dump may hold as well.
 */
import type { KubeObject } from '../api/object.ts'
import { formatGroupKind, type Snapshot } from '../api/snapshot.ts'

const CONDUCTOR = 'nova-cell0-conductor-0'
/** Pods of a sandbox run nowhere, so nothing can be asked there. */
const SIMULATED = 'sandbox.stackloom.dev/played'

/** Conductors of clouds that have data plane hosts. */
export function findNovaConductors({
  objects,
}: Snapshot): readonly { readonly namespace: string; readonly pod: string }[] {
  const clouds = new Set(
    objects
      .filter((object) => formatGroupKind(object) === 'dataplane.openstack.org/OpenStackDataPlaneNodeSet')
      .map(({ metadata }) => metadata.namespace),
  )
  return objects
    .filter(
      ({ kind, metadata }) =>
        kind === 'Pod' &&
        metadata.name === CONDUCTOR &&
        clouds.has(metadata.namespace) &&
        metadata.annotations?.[SIMULATED] === undefined,
    )
    .map(({ metadata }) => ({ namespace: metadata.namespace ?? '', pod: metadata.name }))
}

/** `nova-manage cell_v2 list_hosts` prints a table: cell name, cell UUID, host name. */
export function parseNovaHosts(namespace: string, table: string): KubeObject {
  const rows = table
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
  const names = rows.map((cells) => cells[3] ?? '').filter((name) => name !== '' && name !== 'Hostname')
  return {
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'NovaHosts',
    metadata: { name: 'nova', namespace },
    hosts: names,
  }
}
