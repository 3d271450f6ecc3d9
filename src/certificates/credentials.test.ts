import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../api/object.ts'
import { findCredentials, judgeCredentials } from './credentials.ts'
import { createOutdatedPods } from './outdated-pods.ts'

const DAY = 86_400_000
const NOW = Date.parse('2026-11-17T00:00:00Z')
const at = (days: number): string => new Date(NOW + days * DAY).toISOString()

const object = (apiVersion: string, kind: string, name: string, fields: object = {}): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'openstack' },
  ...fields,
})
const secret = (name: string, metadata: object): KubeObject => ({
  ...object('v1', 'Secret', name),
  metadata: { name, namespace: 'openstack', ...metadata },
})

const DATA_PLANE = 'dataplane.openstack.org/v1beta1'
const varsFrom = (name: string) => ({ ansible: { ansibleVarsFrom: [{ secretRef: { name } }] } })
const objects = [
  object('core.openstack.org/v1beta1', 'OpenStackControlPlane', 'controlplane', { spec: {} }),
  object(DATA_PLANE, 'OpenStackDataPlaneNodeSet', 'computes', {
    spec: {
      services: ['nova'],
      nodeTemplate: { ansibleSSHPrivateKeySecret: 'ssh', ...varsFrom('registry') },
      nodes: { 'compute-0': varsFrom('bmc') },
    },
  }),
  object(DATA_PLANE, 'OpenStackDataPlaneService', 'nova', {
    spec: { dataSources: [{ secretRef: { name: 'nova-config' } }, { configMapRef: { name: 'no-secret' } }] },
  }),
  object(DATA_PLANE, 'OpenStackDataPlaneService', 'in-no-node-set', {
    spec: { dataSources: [{ secretRef: { name: 'unused' } }] },
  }),
  object('mariadb.openstack.org/v1beta1', 'MariaDBAccount', 'keystone', { spec: { secret: 'keystone-db-secret' } }),
  object('mariadb.openstack.org/v1beta1', 'MariaDBAccount', 'keystone-2', { spec: { secret: 'keystone-db-secret' } }),
  object('rabbitmq.openstack.org/v1beta1', 'RabbitMq', 'rabbitmq', {
    status: { defaultUser: { secretReference: { name: 'rabbitmq-default-user' } } },
  }),
  object('rabbitmq.openstack.org/v1beta1', 'RabbitMQUser', 'nova', { spec: { secret: 'nova-user' } }),
  object('rabbitmq.openstack.org/v1beta1', 'TransportURL', 'nova-api', {
    status: { secretName: 'rabbitmq-transport' },
  }),
  object('keystone.openstack.org/v1beta1', 'KeystoneApplicationCredential', 'ac-barbican', {
    status: { secretName: 'ac-barbican-secret', expiresAt: at(2), rotationEligibleAt: at(-100) },
  }),
]

describe('findCredentials', () => {
  it('lists the Secret of every kind that names one, each once with all that name it', () => {
    const found = findCredentials(objects)
    expect(found.map(({ secret: name }) => name)).toEqual([
      'osp-secret',
      'ssh',
      'registry',
      'bmc',
      'nova-config',
      'keystone-db-secret',
      'rabbitmq-default-user',
      'nova-user',
      'rabbitmq-transport',
      'ac-barbican-secret',
    ])
    expect(found[5]?.usedBy).toEqual(['MariaDBAccount keystone', 'MariaDBAccount keystone-2'])
  })

  it('survives objects of any shape', () => {
    const odd = objects.map((known) => ({ ...known, spec: 7, status: [null] }) as unknown as KubeObject)
    expect(findCredentials(odd).map(({ secret: name }) => name)).toEqual(['osp-secret'])
  })
})

const judge = (secrets: readonly KubeObject[], pods: readonly KubeObject[] = []) => {
  const findSecret = (_: string, name: string) => secrets.find(({ metadata }) => metadata.name === name)
  return new Map(
    judgeCredentials({
      credentials: findCredentials(objects),
      findSecret,
      outdatedHosts: () => [],
      outdatedPods: createOutdatedPods(pods, findSecret),
      now: NOW,
    }).map((state) => [state.secret, state]),
  )
}

describe('judgeCredentials', () => {
  const values = { 'f:data': {} }

  it('takes the last write of the values: not the creation, and not that of a label', () => {
    const managedFields = [
      { time: at(-10), fieldsV1: values },
      { time: at(-90), fieldsV1: values },
      { time: at(-1), fieldsV1: { 'f:metadata': {} } },
    ]
    const creationTimestamp = at(-365)
    const states = judge([
      secret('osp-secret', { creationTimestamp, managedFields }),
      secret('ssh', { creationTimestamp }),
      secret('registry', { creationTimestamp: 7, managedFields: 'no list' }),
    ])
    expect(states.get('osp-secret')).toMatchObject({ changed: at(-10), ageDays: 10 })
    expect(states.get('ssh')).toMatchObject({ ageDays: 365 })
    for (const name of ['registry', 'bmc']) expect(states.get(name)).not.toHaveProperty('ageDays')
  })

  it('judges the end of an application credential as that of a certificate', () => {
    expect(judge([]).get('ac-barbican-secret')).toMatchObject({ verdict: 'critical', daysLeft: 2, notAfter: at(2) })
    expect(judge([]).get('ssh')).not.toHaveProperty('verdict')
  })

  it('names the pods that read a Secret and started before it changed', () => {
    const pod = (name: string, started: string | undefined, container: object, volumes: readonly object[] = []) =>
      object('v1', 'Pod', name, {
        spec: { containers: [{ name: 'main', ...container }], volumes },
        status: { containerStatuses: [{ name: 'main', state: started ? { running: { startedAt: started } } : {} }] },
      })
    const mounted = { volumeMounts: [{ name: 'config', mountPath: '/etc/keystone' }] }
    const volume = { name: 'config', secret: { secretName: 'keystone-db-secret' } }
    const projected = { name: 'config', projected: { sources: [{ secret: { name: 'keystone-db-secret' } }] } }
    const variable = { name: 'P', valueFrom: { secretKeyRef: { name: 'keystone-db-secret', key: 'p' } } }
    const pods = [
      pod('mounts', at(-3), mounted, [volume]),
      pod('projects', at(-3), mounted, [projected]),
      pod('has-variable', at(-3), { env: [variable] }),
      pod('has-variables', at(-3), { envFrom: [{ secretRef: { name: 'keystone-db-secret' } }] }),
      pod('started-after', at(-1), mounted, [volume]),
      pod('does-not-run', undefined, mounted, [volume]),
      pod('does-not-mount-it', at(-3), {}, [volume]),
      pod('reads-another', at(-3), { envFrom: [{ secretRef: { name: 'ssh' } }] }),
    ]
    const changed = secret('keystone-db-secret', { managedFields: [{ time: at(-2), fieldsV1: values }] })
    const { outdatedPods } = judge([changed], pods).get('keystone-db-secret') ?? {}
    expect(outdatedPods).toEqual(['has-variable', 'has-variables', 'mounts', 'projects'])
  })
})
