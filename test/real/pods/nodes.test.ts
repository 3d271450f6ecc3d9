/** Tests a sandbox with two nodes: real kubelets, containers, the pod network, Services and names. */
import { describe, expect, it } from 'vitest'
import { type PodStatus, pausePod, usePodSandbox, waitForPod } from '../../pod-sandbox.ts'

const sandbox = usePodSandbox({ nodes: ['worker-0', 'worker-1'] })

describe('the nodes of a sandbox with pods', () => {
  it('run a pod each, with an address that the other node reaches', { timeout: 300_000 }, async () => {
    const addresses: string[] = []
    for (const node of ['worker-0', 'worker-1']) {
      await sandbox.client.create(pausePod(`pause-${node}`, node))
      const pod = await waitForPod(sandbox.client, 'default', `pause-${node}`)
      addresses.push((pod['status'] as PodStatus).podIP ?? '')
    }
    const [first = '', second = ''] = addresses
    expect([first.split('.')[2], second.split('.')[2]]).toEqual(['1', '2'])
    await sandbox.run('worker-0', ['ping', '-c', '1', '-W', '10', second])
    await sandbox.run('worker-1', ['ping', '-c', '1', '-W', '10', first])
    await sandbox.run('control', ['ping', '-c', '1', '-W', '10', first])
  })

  it('bind a claim to a volume of the node that runs its pod', { timeout: 300_000 }, async () => {
    await sandbox.client.create({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', namespace: 'default' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Gi' } } },
    })
    const pod = pausePod('stateful', 'worker-1')
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
    await sandbox.client.create({ ...pod, spec: { ...(pod['spec'] as object), volumes } })
    await waitForPod(sandbox.client, 'default', 'stateful')
    const claim = await sandbox.client.get({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      namespace: 'default',
      name: 'data',
    })
    expect((claim?.['spec'] as { readonly volumeName?: string }).volumeName).toMatch(/^worker-1-volume-/)
  })
})
