/** `access --context`: one context more in the kubeconfig that is in use; the current one stays. */
import { contextTaken, noKubeconfig } from '../../deploy/findings/access.ts'
import { failure } from '../../errors/failure.ts'
import type { Connection } from '../../kube/connect.ts'
import type { ClusterFlags } from '../cluster.ts'
import { readInput, writeOutput } from '../files.ts'
import type { Io } from '../io.ts'

export async function addContext(
  name: string,
  namespace: string,
  { connection, flags }: { readonly connection: Connection; readonly flags: ClusterFlags },
  io: Io,
): Promise<string> {
  const { kubeconfigFiles } = await import('../../kube/cluster-access.ts')
  const { readKubeconfig } = await import('../../kube/kubeconfig.ts')
  const { addKubeconfigContext } = await import('../../deploy/access/kubeconfig-context.ts')
  const { contexts } = await readKubeconfig(kubeconfigFiles({ kubeconfig: flags.kubeconfig, env: io.env }), false)
  const used = contexts.get(connection.context ?? '')
  if (!used) throw failure(noKubeconfig, {})
  const { file, entry } = used
  const elsewhere = contexts.get(name)
  const { cluster = '', user } = entry
  const wanted = { name, cluster, ...(user !== undefined && { user }), namespace }
  const text = Buffer.from(await readInput((elsewhere ?? used).file, io)).toString('utf8')
  const result = addKubeconfigContext(text, wanted)
  if (result.kind === 'taken')
    throw failure(contextTaken, { context: name, file: (elsewhere ?? used).file }, { exitCode: 1 })
  if (result.kind === 'added') await writeOutput(file, result.text, io, { replace: true, mode: 0o600 })
  return name
}
