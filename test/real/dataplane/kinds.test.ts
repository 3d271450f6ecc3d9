/**
 * Tests the data plane CRDs with a real API server: ours replace upstream's, and accept objects that were written for
 * those.
 */
import { describe, expect, it } from 'vitest'
import { renderCrd } from '../../../src/api/crd.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { novaCellKind } from '../../../src/dataplane/kinds/nova.ts'
import { useCluster } from '../../cluster.ts'

const cluster = useCluster({ crds: 'own-2023' })
const namespace = 'default'
const dataplane = 'dataplane.openstack.org/v1beta1'
const nova = 'nova.openstack.org/v1beta1'

const apply = (object: Omit<KubeObject, 'metadata'> & { name: string; annotations?: object }): Promise<KubeObject> => {
  const { name, annotations, ...rest } = object
  const made = {
    ...rest,
    metadata: { name, namespace, ...(annotations && { annotations }) },
  } as unknown as KubeObject
  return cluster.client.apply(made, { fieldManager: 'test' })
}

describe('Role/Node objects', () => {
  it('are accepted with every field, including the removed ones', async () => {
    const node = {
      networkConfig: { template: 'network_config: []' },
      networks: [{ name: 'ctlplane', subnetName: 'subnet1', fixedIP: '192.168.122.100', defaultRoute: true }],
      managementNetwork: 'ctlplane',
      ansibleUser: 'root',
      ansiblePort: 22,
      ansibleVars: 'ctlplane_ip: 192.168.122.100\n',
      ansibleSSHPrivateKeySecret: 'key',
      extraMounts: [
        {
          extraVolType: 'Ceph',
          propagation: ['edpm'],
          volumes: [{ name: 'ceph', secret: { secretName: 'ceph-conf' } }],
          mounts: [{ name: 'ceph', mountPath: '/etc/ceph', readOnly: true }],
        },
      ],
      userData: { name: 'user-data', namespace },
      networkData: { name: 'network-data' },
      nova: { cellName: 'cell1', novaInstance: 'nova', customServiceConfig: '[DEFAULT]\n', deploy: false },
    }
    const deployStrategy = { deploy: false, ansibleTags: 'a', ansibleLimit: 'b', ansibleSkipTags: 'c' }
    const roleSpec = {
      dataPlane: 'edpm',
      baremetalSetTemplate: {
        ctlplaneInterface: 'eno1',
        deploymentSSHSecret: 'key',
        cloudUserName: 'cloud-admin',
        hardwareReqs: { cpuReqs: { countReq: { count: 8, exactMatch: true } } },
        bmhLabelSelector: { app: 'openstack' },
        baremetalHosts: { 'edpm-compute-0': { ctlPlaneIP: '192.168.122.100/24' } },
      },
      nodeTemplate: node,
      preProvisioned: true,
      env: [{ name: 'ANSIBLE_FORCE_COLOR', value: 'True' }],
      deployStrategy,
      networkAttachments: ['ctlplane'],
    }
    const nodeSpec = {
      hostName: 'edpm-compute-0',
      node,
      role: 'edpm-compute',
      ansibleHost: '192.168.122.100',
      deployStrategy,
    }
    const role = await apply({
      apiVersion: dataplane,
      kind: 'OpenStackDataPlaneRole',
      name: 'edpm-compute',
      spec: roleSpec,
    })
    expect(role['spec']).toMatchObject({
      services: ['configure-network', 'validate-network', 'install-os', 'configure-os', 'run-os'],
      nodeTemplate: { nova: { novaInstance: 'nova' } },
      baremetalSetTemplate: { bmhNamespace: 'openshift-machine-api', automatedCleaningMode: 'metadata' },
    })
    await apply({
      apiVersion: dataplane,
      kind: 'OpenStackDataPlaneNode',
      name: 'edpm-compute-0',
      spec: nodeSpec,
    })
    await apply({
      apiVersion: dataplane,
      kind: 'OpenStackDataPlane',
      name: 'edpm',
      spec: { nodes: { 'edpm-compute-0': nodeSpec }, roles: { 'edpm-compute': roleSpec }, deployStrategy },
    })
    await apply({
      apiVersion: dataplane,
      kind: 'OpenStackDataPlaneService',
      name: 'configure-network',
      spec: {
        label: 'dataplane-deployment-configure-network',
        play: '- hosts: all\n',
        openStackAnsibleEERunnerImage: 'image',
      },
    })
    await apply({
      apiVersion: nova,
      kind: 'NovaExternalCompute',
      name: 'old',
      spec: {
        novaInstance: 'nova',
        cellName: 'cell1',
        inventoryConfigMapName: 'dataplanenode-old',
        sshKeySecretName: 'key',
        defaultConfigOverwrite: { 'provider.yaml': '' },
        dnsConfig: { nameservers: ['192.168.122.1'] },
      },
    })
    await apply({
      apiVersion: 'ansibleee.openstack.org/v1alpha1',
      kind: 'OpenStackAnsibleEE',
      name: 'by-hand',
      spec: {
        play: '- hosts: localhost\n',
        image: 'runner',
        extraMounts: node.extraMounts,
        initContainers: [{ name: 'a', image: 'b' }],
      },
    })
  })
})

describe('NovaExternalCompute', () => {
  it('has an immutable cell even without webhooks', async () => {
    const of = (spec: object): Promise<KubeObject> =>
      apply({
        apiVersion: nova,
        kind: 'NovaExternalCompute',
        name: 'kept',
        spec: { dataplaneNodeName: 'kept', ...spec },
      })
    await of({})
    await of({ cellName: 'nova-cell1' })
    await expect(of({ cellName: 'nova-cell2' })).rejects.toThrow('cellName is set once')
    await expect(of({})).rejects.toThrow('cellName is set once')
  })

  it('has no nodeSelector', async () => {
    const made = apply({
      apiVersion: nova,
      kind: 'NovaExternalCompute',
      name: 'pod',
      spec: { nodeSelector: { a: 'b' } },
    })
    await expect(made).rejects.toThrow('nodeSelector')
  })
})

describe('NovaCell', () => {
  it("has a CRD of ours for clusters without upstream's, which keeps every field", async () => {
    const definition = renderCrd({ ...novaCellKind, group: 'test.stackloom.dev' })
    await cluster.client.apply(definition, { fieldManager: 'test' })
    const cell = {
      apiVersion: 'test.stackloom.dev/v1beta1',
      kind: 'NovaCell',
      name: 'nova-cell1',
      spec: { cellName: 'cell1', secret: 's' },
    }
    await expect.poll(() => apply(cell).then((made) => made['spec']), { timeout: 20_000 }).toEqual(cell.spec)
  })
})
