import { describe, expect, it } from 'vitest'
import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { containerToRead, podsBehind } from './pods-behind.ts'

const ownedBy = (kind: string, name: string): OwnerReference => ({
  apiVersion: 'v1',
  kind,
  name,
  uid: `${kind}/${name}`,
})

function object(kind: string, name: string, owner?: OwnerReference, more: object = {}): KubeObject {
  const metadata = { name, namespace: 'openstack', uid: `${kind}/${name}`, ...(owner && { ownerReferences: [owner] }) }
  return { apiVersion: 'v1', kind, metadata, ...more }
}

const ready = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }
const crashing = {
  spec: { containers: [{ name: 'api' }, { name: 'log' }] },
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'False' }],
    containerStatuses: [
      { name: 'log', ready: true, restartCount: 0, state: { running: {} } },
      { name: 'api', ready: false, restartCount: 4, state: { waiting: { reason: 'CrashLoopBackOff' } } },
    ],
  },
}

const objects = [
  object('OpenStackControlPlane', 'controlplane'),
  object('KeystoneAPI', 'keystone', ownedBy('OpenStackControlPlane', 'controlplane')),
  object('Deployment', 'keystone', ownedBy('KeystoneAPI', 'keystone')),
  object('Pod', 'keystone-5d4f-a', ownedBy('ReplicaSet', 'keystone-5d4f'), ready),
  object('Pod', 'keystone-5d4f-b', ownedBy('ReplicaSet', 'keystone-5d4f'), crashing),
  object('Pod', 'other-1', ownedBy('StatefulSet', 'other'), ready),
]
const namesBehind = (kind: string, name: string) =>
  podsBehind({ kind, namespace: 'openstack', name }, objects).map(({ metadata }) => metadata.name)

describe('podsBehind', () => {
  it('follows owners from the control plane to its pods, the one in trouble first', () => {
    expect(namesBehind('OpenStackControlPlane', 'controlplane')).toEqual(['keystone-5d4f-b', 'keystone-5d4f-a'])
    expect(namesBehind('Deployment', 'keystone')).toEqual(['keystone-5d4f-b', 'keystone-5d4f-a'])
  })

  it('finds a pod by itself, and a StatefulSet that was not read', () => {
    expect(namesBehind('Pod', 'other-1')).toEqual(['other-1'])
    expect(namesBehind('StatefulSet', 'other')).toEqual(['other-1'])
  })

  it('shows pods of the namespace that are not ready for an object without pods', () => {
    expect(namesBehind('Certificate', 'rootca')).toEqual(['keystone-5d4f-b'])
    expect(podsBehind({ kind: 'Certificate', namespace: 'elsewhere', name: 'rootca' }, objects)).toEqual([])
  })

  it('ends at owners that form a circle', () => {
    const circle = [
      object('Job', 'a', ownedBy('Job', 'b')),
      object('Job', 'b', ownedBy('Job', 'a')),
      object('Pod', 'p', ownedBy('Job', 'a'), ready),
    ]
    expect(podsBehind({ kind: 'Deployment', namespace: 'openstack', name: 'x' }, circle)).toEqual([])
  })
})

describe('containerToRead', () => {
  it('reads the last run of the container that crashes', () => {
    expect(containerToRead(object('Pod', 'p', undefined, crashing))).toEqual({ container: 'api', previous: true })
  })

  it('reads the first container of a pod without a problem', () => {
    const spec = { containers: [{ name: 'main' }] }
    expect(containerToRead(object('Pod', 'p', undefined, { spec, ...ready }))).toEqual({
      container: 'main',
      previous: false,
    })
  })
})
