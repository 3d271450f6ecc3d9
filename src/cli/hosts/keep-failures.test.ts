import { describe, expect, it } from 'vitest'
import { memoryCluster } from '../../../test/memory-cluster.ts'
import { neverAborted } from '../../../test/never-aborted.ts'
import type { KubeObject } from '../../api/object.ts'
import { wrongUse } from '../../errors/common.ts'
import { failure } from '../../errors/failure.ts'
import { finding } from '../../errors/finding.ts'
import { readFailures } from '../../hosts/kept-failures.ts'
import { ApiError } from '../../kube/api-error.ts'
import type { Transport } from '../../kube/transport.ts'
import { keepFailures } from './keep-failures.ts'

const namespace = 'openstack'
const ours = { 'app.kubernetes.io/managed-by': 'stackloom' }
const log = `
TASK [edpm_nova : Set the password] ****
fatal: [compute-0]: FAILED! => {"msg": "cannot log in with password=hunter2secret"}
PLAY RECAP ****
compute-0 : ok=1 changed=0 unreachable=0 failed=1
`
const deployment = (name: string, labels = {}, status = {}): KubeObject => ({
  apiVersion: 'dataplane.openstack.org/v1beta1',
  kind: 'OpenStackDataPlaneDeployment',
  metadata: { name, namespace, labels },
  spec: { nodeSets: ['computes'] },
  status,
})
const pod = (run: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: `nova-${run}`,
    namespace,
    labels: { openstackdataplanedeployment: run, openstackdataplaneservice: 'nova' },
  },
  status: { phase: 'Failed', containerStatuses: [{ state: { terminated: { message: log } } }] },
})
const transportOf = (text: () => Promise<string>): Transport => ({ text }) as unknown as Transport

describe('the failures of a run', () => {
  const setup = async (...objects: readonly KubeObject[]) => {
    const { client, objects: list } = memoryCluster()
    for (const object of objects) await client.create(object)
    const kept = () =>
      new Map(list('OpenStackDataPlaneDeployment').map((found) => [found.metadata.name, readFailures(found)]))
    return { client, kept }
  }

  it('are kept with the deployment that Stackloom made, without the password', async () => {
    const { client, kept } = await setup(
      deployment('edpm-1', ours),
      deployment('theirs'),
      deployment('done', ours, { deployed: true }),
      ...['edpm-1', 'theirs', 'done'].map(pod),
    )
    await keepFailures({ client, transport: transportOf(async () => log) }, [namespace], neverAborted())
    const [found] = kept().get('edpm-1') ?? []
    expect(found).toMatchObject({ service: 'nova', host: 'compute-0', task: 'edpm_nova : Set the password' })
    expect(found?.cause).toContain('cannot log in')
    expect(found?.cause).not.toContain('hunter2secret')
    expect([kept().get('theirs'), kept().get('done')]).toEqual([[], []])
  })

  it('come from the termination message where the log may not be read', async () => {
    const { client, kept } = await setup(deployment('edpm-1', ours), pod('edpm-1'))
    const refused = transportOf(async () => {
      throw new ApiError({ kind: 'forbidden', finding: finding(wrongUse, { reason: 'no', command: '' }), status: 403 })
    })
    await keepFailures({ client, transport: refused }, [namespace], neverAborted())
    expect(kept().get('edpm-1')).toMatchObject([{ host: 'compute-0' }])
  })

  it('do not hide the result of the run when the API server is gone', async () => {
    const { client } = await setup()
    const list = async () => {
      throw failure(wrongUse, { reason: 'gone', command: '' })
    }
    const lost = { client: { ...client, list } as typeof client, transport: transportOf(async () => '') }
    await expect(keepFailures(lost, [namespace], neverAborted())).resolves.toBeUndefined()
  })
})
