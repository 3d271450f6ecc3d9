/** Asks the services of clouds over their public endpoints, with the credentials that `stackloom access` writes. */
import { indexSnapshot } from '../../api/snapshot.ts'
import { accessObjectRefs, publicLogin, readAccess } from '../../deploy/access.ts'
import { Failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import { askServices, type CloudAnswer } from '../../openstack/ask-services.ts'
import { type ClusterFlags, openCluster } from '../cluster.ts'
import type { Io } from '../io.ts'

interface AskedCloud {
  readonly name: string
  readonly namespace: string
}

/** By cloud. Fails for a cloud without credentials: nothing would be asked. */
export async function askEndpoints(
  clouds: readonly AskedCloud[],
  flags: ClusterFlags,
  io: Io,
): Promise<ReadonlyMap<string, CloudAnswer>> {
  const { client, close } = await openCluster(flags, io)
  try {
    const ask = async ({ name, namespace }: AskedCloud): Promise<readonly [string, CloudAnswer]> => {
      const found = await Promise.all(accessObjectRefs(namespace).map((ref) => client.get(ref, { signal: io.stop })))
      const objects = found.filter((object) => object !== undefined)
      const access = readAccess(name, namespace, indexSnapshot({ objects, unread: [] }))
      const login = publicLogin(access)
      if (!login || hasErrors(access.findings)) throw new Failure(access.findings, 1)
      return [name, await askServices({ ...login, signal: io.stop })]
    }
    return new Map(await Promise.all(clouds.map(ask)))
  } finally {
    await close()
  }
}
