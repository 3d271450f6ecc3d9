/** Turns a failure of an API of the cloud into a finding. */
import { failure, formatError } from '../../errors/failure.ts'
import { CloudApiError } from '../../openstack/session.ts'
import { cloudApiFailed } from '../findings/host-removal.ts'

export async function withCloudFinding<T>(cloud: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (thrown) {
    const isNetwork = thrown instanceof TypeError && thrown.message.includes('fetch')
    if (!isNetwork && !(thrown instanceof CloudApiError)) throw thrown
    throw failure(cloudApiFailed, { cloud, reason: formatError(thrown) }, { exitCode: 1, cause: thrown })
  }
}
