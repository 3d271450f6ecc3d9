/** Reads the number of writes to the IPAM kinds from the API server's metrics. */
import type { Cluster } from '../../cluster.ts'

export interface Writes {
  /** NetConfigs, IPSets and Reservations. */
  readonly network: number
  /** AddressBlocks. */
  readonly ledger: number
}

export async function writesOf({ connection }: Cluster): Promise<Writes> {
  const page = await connection.transport.text({
    method: 'GET',
    path: '/metrics',
    idempotent: true,
    verb: 'read',
    subject: 'figures',
  })
  const counted = (group: string): number =>
    [...page.matchAll(/^apiserver_request_total\{([^}]*)\} (\S+)$/gm)]
      .filter(([, labels = '']) => labels.includes(`group="${group}"`))
      .filter(([, labels = '']) => /verb="(POST|PUT|PATCH|APPLY|DELETE)"/.test(labels))
      .filter(([, labels = '']) => /code="2\d\d"/.test(labels))
      .reduce((sum, [, , value]) => sum + Number(value), 0)
  return { network: counted('network.openstack.org'), ledger: counted('stackloom.dev') }
}
