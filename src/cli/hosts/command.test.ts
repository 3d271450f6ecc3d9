import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testIo } from '../../../test/io.ts'
import type { KubeObject } from '../../api/object.ts'
import { hashSecret } from '../../hosts/content-hash.ts'
import { main } from '../main.ts'

let folder: string
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), 'stackloom-hosts-'))))
afterEach(() => rmSync(folder, { recursive: true }))

const API = 'dataplane.openstack.org/v1beta1'
const nodes = Object.fromEntries(['compute-0', 'compute-1', 'compute-2', 'compute-3'].map((name) => [name, {}]))

const secret = (text: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'nova-config', namespace: 'openstack' },
  type: 'Opaque',
  data: { 'nova.conf': Buffer.from(text).toString('base64') },
})
const nodeSet: KubeObject = {
  apiVersion: API,
  kind: 'OpenStackDataPlaneNodeSet',
  metadata: { name: 'computes', namespace: 'openstack' },
  spec: { nodes, services: ['nova'] },
  status: { configHash: 'b', deployedConfigHash: 'b' },
}
const service: KubeObject = {
  apiVersion: API,
  kind: 'OpenStackDataPlaneService',
  metadata: { name: 'nova', namespace: 'openstack' },
  spec: { dataSources: [{ secretRef: { name: 'nova-config' } }] },
}
const deployment = (name: string, day: number, nodeSetHash: string, spec = {}): KubeObject => ({
  apiVersion: API,
  kind: 'OpenStackDataPlaneDeployment',
  metadata: { name, namespace: 'openstack', creationTimestamp: `2026-01-0${day}T00:00:00Z` },
  spec: { nodeSets: ['computes'], ...spec },
  status: {
    deployed: true,
    nodeSetHashes: { computes: nodeSetHash },
    secretHashes: { 'nova-config': hashSecret(secret('old')) },
  },
})
const objects = [
  nodeSet,
  service,
  deployment('first', 1, 'a'),
  deployment('second', 2, 'b', { ansibleLimit: '!compute-3' }),
]

async function hosts(dump: readonly KubeObject[], ...words: string[]): Promise<{ code: number; out: string }> {
  dump.forEach((object, n) => writeFileSync(path.join(folder, `${n}.json`), JSON.stringify(object)))
  const io = testIo()
  const code = await main(['hosts', '--from', folder, ...words], io)
  return { code, out: io.out() }
}

describe('stackloom hosts', () => {
  it('shows hosts in the same state as one line, and counts those that differ', async () => {
    const { code, out } = await hosts([...objects, secret('old')])
    expect(code).toBe(0)
    expect(out).toMatch(/^openstack +computes +3 +current +second +compute-\[0-2\]$/m)
    expect(out).toMatch(/^openstack +computes +1 +behind +first +compute-3: the node set has changed$/m)
    expect(out).toContain('openstack/computes: 3 alike, 1 differ')
  })

  it('shows only the hosts that a deployment would change with --behind', async () => {
    const { out } = await hosts([...objects, secret('old')], '--behind', '-o', 'json')
    expect(JSON.parse(out)).toMatchObject({
      hosts: [{ cloud: 'openstack', host: 'compute-3', verdict: 'behind', changes: [{ kind: 'spec' }] }],
      findings: [],
    })
  })

  it('names the Secret that changed and the service that reads it', async () => {
    const { out } = await hosts([...objects, secret('new')], '-o', 'wide')
    expect(out).toMatch(/^openstack +computes +compute-0 +behind .* nova +Secret nova-config has changed \(nova\)$/m)
  })

  it('calls hosts unknown when the dump has no Secrets', async () => {
    const { out } = await hosts(objects, '-o', 'json')
    const { hosts: found } = JSON.parse(out) as { readonly hosts: readonly { readonly verdict: string }[] }
    expect(found.map(({ verdict }) => verdict)).toEqual(['unknown', 'unknown', 'unknown', 'behind'])
  })

  it('exits with 1 when a deployment failed on a host', async () => {
    const failed = {
      ...deployment('third', 3, 'b'),
      status: {
        conditions: [{ type: 'DeploymentReady', status: 'False', severity: 'Error', message: 'backoff limit' }],
        ansibleExecutionSummaries: { 'nova-third-computes': { failedHostList: ['compute-1'] } },
      },
    }
    const { code, out } = await hosts([...objects, failed, secret('old')])
    expect(code).toBe(1)
    expect(out).toMatch(/1 +failed +third +compute-1: failed in nova of third: backoff limit$/m)
  })

  it('refuses a cloud that has no hosts', async () => {
    const { code } = await hosts([...objects, secret('old')], '--cloud', 'other')
    expect(code).toBe(2)
  })
})

describe('stackloom hosts deploy', () => {
  it('refuses to guess which hosts are meant', async () => {
    const io = testIo()
    expect(await main(['hosts', 'deploy', '--yes'], io)).toBe(2)
    expect(io.err()).toContain('choose the hosts with --behind, --failed or both')
  })

  it.each(['deploy --behind --from dump', 'remove compute-0 --behind', 'drain compute-0 --fleet fleet.yaml'])(
    'does not ignore an option of `hosts` in `hosts %s`',
    async (words) => {
      const io = testIo()
      expect(await main(['hosts', ...words.split(' ')], io)).toBe(2)
      expect(io.err()).toMatch(/SL1001: \w+ has no --\w+/)
    },
  )

  it('lists no option of `hosts` in the help of its commands', async () => {
    const io = testIo()
    expect(await main(['hosts', 'remove', '--help'], io)).toBe(0)
    expect(io.out()).toContain('--quiet')
    expect(io.out()).not.toContain('--fleet')
  })
})
