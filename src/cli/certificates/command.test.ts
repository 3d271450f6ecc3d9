import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { useFolder } from '../../../test/folder.ts'
import { testIo } from '../../../test/io.ts'
import type { KubeObject } from '../../api/object.ts'
import { createAuthority } from '../../pki/authority.ts'
import { main } from '../main.ts'

const API = 'dataplane.openstack.org/v1beta1'
const AGE_DAYS = 88

describe('stackloom certificates', () => {
  const folder = useFolder()
  const metadata = (name: string) => ({ name, namespace: 'rhoso1' })

  beforeAll(async () => {
    const issued = Date.now() - AGE_DAYS * 86_400_000
    const authority = await createAuthority({ commonName: 'rootca-internal', days: 3650 }, { now: () => issued })
    const [host, route] = await Promise.all(
      [300, 10].map((days) =>
        authority.issue({ commonName: `ends-in-${days}`, uses: ['server'], days: AGE_DAYS + days }),
      ),
    )
    const items: readonly KubeObject[] = [
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: metadata('host-tls'),
        type: 'kubernetes.io/tls',
        data: { 'tls.crt': Buffer.from(host?.certificate ?? '').toString('base64'), 'tls.key': '' },
      },
      {
        apiVersion: 'route.openshift.io/v1',
        kind: 'Route',
        metadata: metadata('dashboard'),
        spec: { host: 'cloud.example', tls: { termination: 'edge', certificate: route?.certificate } },
      },
      {
        apiVersion: 'core.openstack.org/v1beta1',
        kind: 'OpenStackControlPlane',
        metadata: metadata('controlplane'),
        spec: { secret: 'osp-secret' },
      },
      {
        apiVersion: API,
        kind: 'OpenStackDataPlaneService',
        metadata: metadata('tls'),
        spec: { dataSources: [{ secretRef: { name: 'host-tls' } }] },
      },
      {
        apiVersion: API,
        kind: 'OpenStackDataPlaneNodeSet',
        metadata: metadata('computes'),
        spec: { services: ['tls'], nodes: { 'compute-0': { hostName: 'compute-0' } } },
        status: { configHash: 'a', deployedConfigHash: 'a' },
      },
      {
        apiVersion: API,
        kind: 'OpenStackDataPlaneDeployment',
        metadata: metadata('first'),
        spec: { nodeSets: ['computes'] },
        status: { deployed: true, nodeSetHashes: { computes: 'a' }, secretHashes: { 'host-tls': 'an earlier one' } },
      },
    ]
    const dump = { apiVersion: 'v1', kind: 'List', items }
    await writeFile(path.join(folder, 'dump.json'), JSON.stringify(dump))
  })

  it('shows Routes, and the hosts that carry an older copy than the Secret', async () => {
    const io = testIo({ cwd: folder, columns: 200 })
    const code = await main(['certificates', '--from', '.'], io)
    expect(io.out()).toMatch(/route dashboard +ends-in-10 +rootca-internal .* soon +-$/m)
    expect(io.out()).toMatch(/host-tls +ends-in-300 +rootca-internal .* valid +compute-0$/m)
    expect(io.out()).toContain('2 certificates, 0 without a problem')
    expect(code).toBe(0)
  })
})
