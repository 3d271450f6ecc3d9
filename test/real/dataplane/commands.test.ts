/** Tests `dataplane convert` with the CRDs of the NodeSet API, and `config explain` with a real API server. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { renderCrd } from '../../../src/api/crd.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { main } from '../../../src/cli/main.ts'
import { novaExternalComputeKind, novaExternalComputes } from '../../../src/dataplane/kinds/nova.ts'
import { renderComputeConfig } from '../../../src/dataplane/service-definitions/nova-config.ts'
import { useCluster } from '../../cluster.ts'
import { testIo } from '../../io.ts'
import { secret } from './runs.ts'

const cluster = useCluster({ crds: 'today' })
const namespace = 'openstack'
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'stackloom-convert-'))
  await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  await cluster.client.apply(renderCrd(novaExternalComputeKind), { fieldManager: 'test' })
  const served = async (): Promise<void> => {
    if (!(await cluster.client.resource(novaExternalComputes))) throw new Error('not served yet')
  }
  await vi.waitFor(served, { timeout: 30_000 })
}, 600_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Two nodes in two cells, bare metal, a custom service, and a configuration for one node. */
const dataPlane2023 = `
apiVersion: dataplane.openstack.org/v1beta1
kind: OpenStackDataPlaneRole
metadata: {name: edpm-compute, namespace: openstack, annotations: {nova.openstack.org/cell: nova-cell1, neutron.openstack.org/ovn-metadata-agent: "true"}}
spec:
  dataPlane: openstack-edpm
  services: [configure-network, validate-network, install-os, hello, configure-os, run-os]
  networkAttachments: [ctlplane]
  env: [{name: ANSIBLE_FORCE_COLOR, value: "True"}]
  baremetalSetTemplate: {ctlplaneInterface: enp1s0, deploymentSSHSecret: ssh, ctlplaneGateway: 192.168.122.1, osImage: edpm.qcow2, baremetalHosts: {edpm-compute-0: {ctlPlaneIP: 192.168.122.100}}}
  nodeTemplate:
    ansiblePort: 22
    ansibleUser: cloud-admin
    ansibleVars: "edpm_sshd_allowed_ranges: [192.168.122.0/24]"
    networkConfig: {template: "network_config: []"}
    networks: [{network: ctlplane, fixedIP: 192.168.122.100}]
    extraMounts: [{volumes: [{name: ceph, secret: {secretName: ceph}}], mounts: [{name: ceph, mountPath: /etc/ceph}]}]
---
apiVersion: dataplane.openstack.org/v1beta1
kind: OpenStackDataPlaneNode
metadata: {name: edpm-compute-0, namespace: openstack}
spec: {ansibleHost: 192.168.122.100, hostName: edpm-compute-0, role: edpm-compute, node: {ansibleSSHPrivateKeySecret: ssh}}
---
apiVersion: dataplane.openstack.org/v1beta1
kind: OpenStackDataPlaneNode
metadata: {name: edpm-compute-1, namespace: openstack, annotations: {nova.openstack.org/cell: nova-cell2}}
spec: {ansibleHost: 192.168.122.101, hostName: edpm-compute-1, role: edpm-compute}
---
apiVersion: dataplane.openstack.org/v1beta1
kind: OpenStackDataPlaneService
metadata: {name: hello, namespace: openstack}
spec: {label: hello, play: "- hosts: all"}
---
apiVersion: nova.openstack.org/v1beta1
kind: NovaExternalCompute
metadata: {name: edpm-compute-1, namespace: openstack}
spec: {dataplaneNodeName: edpm-compute-1, customServiceConfig: "[libvirt]\\ncpu_mode = host-passthrough\\n"}
`

describe('dataplane convert', () => {
  it('prints objects that the CRDs of the NodeSet API accept, field by field', async () => {
    const file = path.join(folder, 'data-plane.yaml')
    await writeFile(file, dataPlane2023)
    const io = testIo()
    expect(await main(['dataplane', 'convert', '-f', file, '-o', 'json'], io)).toBe(0)
    const objects = JSON.parse(io.out()).items as readonly KubeObject[]
    expect(objects.map(({ kind, metadata }) => `${kind.replace('OpenStackDataPlane', '')} ${metadata.name}`)).toEqual([
      'Service hello',
      'Service nova-of-nova-cell1',
      'NodeSet edpm-compute-nova-cell1',
      'ConfigMap edpm-compute-nova-cell2-nova-config',
      'Service nova-of-edpm-compute-nova-cell2',
      'NodeSet edpm-compute-nova-cell2',
      expect.stringMatching(/^Deployment edpm-/),
    ])
    // Strict: a field that the CRDs do not have is refused, never dropped.
    for (const object of objects) await cluster.client.apply(object, { fieldManager: 'test', dryRun: true })
    expect(io.err()).toContain('ctlplaneGateway')
  }, 120_000)
})

describe('operator install on a cluster with the NodeSet API', () => {
  const install = async (...more: readonly string[]): Promise<readonly [number, string, string]> => {
    const io = testIo()
    const words = ['operator', 'install', '--image', 'i', '--dry-run', '--kubeconfig', cluster.kubeconfig]
    const code = await main([...words, ...more], io)
    return [code, io.out(), io.err()]
  }

  it('omits the data plane and points to convert; it refuses when the part is requested by name', async () => {
    const [code, objects, stderr] = await install()
    expect([code, stderr]).toEqual([0, expect.stringContaining('SL7114')])
    expect(stderr).toContain('stackloom dataplane convert')
    expect(objects).toContain('kind: ClusterRole')
    // NodeSets are named, as the hosts part reads them.
    for (const kind of [
      'openstackdataplaneroles',
      'openstackdataplanenodes',
      'novaexternalcomputes',
      'openstackansibleees',
    ])
      expect(objects).not.toMatch(new RegExp(`${kind}\\b`))
    const [refused, nothing, why] = await install('--parts', 'dataplane')
    expect([refused, nothing, why]).toEqual([1, '', expect.stringContaining('SL7114')])
  }, 120_000)
})

describe('config explain', () => {
  const place = { namespace, name: 'edpm-compute-0' }
  const explain = async (...more: readonly string[]): Promise<readonly [number, string, string]> => {
    const io = testIo()
    const words = ['config', 'explain', '--node', place.name, '-n', namespace, '--kubeconfig', cluster.kubeconfig]
    const code = await main([...words, ...more], io)
    return [code, io.out(), io.err()]
  }

  it('reports what is missing, and then the file and line of each value', async () => {
    const [nobody, , why] = await explain()
    expect([nobody, why]).toEqual([1, expect.stringContaining('SL7520')])
    await cluster.client.create({
      ...novaExternalComputes,
      metadata: place,
      spec: { cellName: 'nova-cell1' },
    })
    const [waits, , waitsFor] = await explain()
    expect([waits, waitsFor]).toEqual([1, expect.stringContaining('SL7521')])

    const made = renderComputeConfig(
      {
        transportUrl: 'rabbit://nova:tops3cret@rabbitmq-cell1:5671',
        keystoneAuthUrl: 'https://keystone:5000',
        serviceUser: 'nova',
        servicePassword: 'tops3cret',
        host: place.name,
      },
      '[libvirt]\ncpu_mode = host-passthrough\n',
    )
    const files = made.kind === 'files' ? made.files : {}
    await cluster.client.create(secret(namespace, 'edpm-compute-0-config-data', files))
    const [code, table] = await explain('--overrides')
    expect(code).toBe(0)
    expect(table).toMatch(/\[libvirt\] cpu_mode +02-nova-override\.conf:2 +host-passthrough +\(01-nova/)
    const [, all] = await explain('-o', 'json')
    expect(all).toContain('"option": "transport_url"')
    expect(all).not.toContain('tops3cret')
  }, 120_000)
})
