/**
 * Defines the cases of DNS for a sandbox in which the operator runs in pods: servers on an address that a speaker announces, for
 * a machine on the control plane segment.
 */
import { describe, expect, it, vi } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { dnsDatas } from '../../../src/controllers/dns/dns-kinds.ts'
import { PROBE_REFERENCE } from '../../../src/sandbox/images/image-table.ts'
import { loadImages } from '../../../src/sandbox/images/load-image.ts'
import { requireSoak } from '../../counts.ts'
import { dnsData, dnsMasq, host } from '../../dns.ts'
import type { PodSandbox } from '../../pod-sandbox.ts'

const namespace = 'openstack'
const DNS_ADDRESS = '192.168.122.80'
/** The control plane segment on the switch. */
const SEGMENT = 'seg0'

interface Pod extends KubeObject {
  readonly status?: {
    readonly containerStatuses?: readonly { readonly restartCount: number; readonly ready: boolean }[]
  }
}

export function defineDns(sandbox: PodSandbox, soon: { readonly timeout: number; readonly interval: number }): void {
  describe('the pods of a DNSMasq', () => {
    const pods = async (): Promise<readonly Pod[]> => {
      const labelSelector = 'service=dnsmasq'
      return (await sandbox.client.list({ apiVersion: 'v1', kind: 'Pod' }, { namespace, labelSelector }))
        .items as readonly Pod[]
    }
    const ready = async (): Promise<number> =>
      (await pods()).filter(({ status }) => status?.containerStatuses?.every((container) => container.ready)).length
    /** What a machine on the ctlplane segment gets from the address of the Service. */
    const answer = async (name: string): Promise<string> => {
      const words = ['dig', `@${DNS_ADDRESS}`, '+short', '+time=2', '+tries=1', name]
      return (await sandbox.run('control', ['nsenter', '--net=/run/netns/client', ...words]).catch(String)).trim()
    }

    it('answer on the address that a speaker announces, from the rendered Deployment', async () => {
      await addClient()
      const metadata = {
        annotations: { 'metallb.io/address-pool': 'openstack-ctlplane', 'metallb.io/loadBalancerIPs': DNS_ADDRESS },
      }
      const { containerImage: _image, ...spec } = dnsMasq('dns', namespace, { replicas: 2 }).spec
      const made = {
        ...dnsMasq('dns', namespace),
        spec: { ...spec, override: { service: { metadata, spec: { type: 'LoadBalancer' } } } },
      }
      // Refused until the first pod of the operator is ready.
      await vi.waitFor(() => sandbox.client.create(made as unknown as KubeObject), soon)
      await sandbox.client.create(dnsData('hosts', [host('172.17.0.100', 'api.example.com')], namespace))
      await expect.poll(ready, soon).toBe(2)
      await expect.poll(() => answer('api.example.com'), soon).toBe('172.17.0.100')
    })

    it('answer with a changed record without a restart', async () => {
      const before = (await pods()).map(({ metadata }) => metadata.uid ?? '').toSorted()
      const started = performance.now()
      const patch = { spec: { hosts: [host('172.17.0.101', 'api.example.com')] } }
      await sandbox.client.patch({ ...dnsDatas, namespace, name: 'hosts' }, patch, { type: 'merge' })
      await expect.poll(() => answer('api.example.com'), soon).toBe('172.17.0.101')
      console.log(`a changed record was answered after ${Math.round(performance.now() - started)} ms`)
      const after = await pods()
      expect(after.map(({ metadata }) => metadata.uid ?? '').toSorted()).toEqual(before)
      for (const { status } of after) expect(status?.containerStatuses).toMatchObject([{ restartCount: 0 }])
    })

    // Takes up to two minutes, because nothing but the kubelet's interval brings the change.
    it('would get a change through the volume alone, when the kubelet looks at its pods again', async (context) => {
      requireSoak(context)
      await loadImages(['probe'], sandbox.layout.nodes, sandbox.context)
      const config = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'delay', namespace },
        data: { value: 'old' },
      }
      await sandbox.client.create(config)
      await sandbox.client.create({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'delay', namespace },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [
            {
              name: 'main',
              image: PROBE_REFERENCE,
              command: ['sh', '-c', 'until grep -q new /config/value; do sleep 0.1; done'],
              volumeMounts: [{ name: 'config', mountPath: '/config' }],
            },
          ],
          restartPolicy: 'Never',
          volumes: [{ name: 'config', configMap: { name: 'delay' } }],
        },
      })
      const phase = async (): Promise<string | undefined> => {
        const pod = await sandbox.client.get({ apiVersion: 'v1', kind: 'Pod', namespace, name: 'delay' })
        return (pod?.['status'] as { phase?: string } | undefined)?.phase
      }
      await expect.poll(phase, soon).toBe('Running')
      // A pod that has just started is looked at more often.
      await new Promise((resolve) => setTimeout(resolve, 30_000))
      const started = performance.now()
      const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'delay' }
      await sandbox.client.patch(ref, { data: { value: 'new' } }, { type: 'merge' })
      await expect.poll(phase, soon).toBe('Succeeded')
      console.log(`the kubelet alone needed ${Math.round((performance.now() - started) / 1000)} s`)
    })

    async function addClient(): Promise<void> {
      const netns = '/run/netns/client'
      await sandbox.run('control', ['ip', 'netns', 'add', 'client'])
      await sandbox.run('switch', [
        'ip',
        'link',
        'add',
        'client',
        'type',
        'veth',
        'peer',
        'name',
        'eth0',
        'netns',
        netns,
      ])
      await sandbox.run('switch', ['ip', 'link', 'set', 'client', 'master', SEGMENT, 'up'])
      for (const words of [
        ['address', 'add', '192.168.122.240/24', 'dev', 'eth0'],
        ['link', 'set', 'eth0', 'up'],
      ])
        await sandbox.run('control', ['nsenter', `--net=${netns}`, 'ip', ...words])
    }
  })
}
