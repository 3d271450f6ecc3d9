import { describe, expect, it } from 'vitest'
import { dataPlaneNode } from '../../test/data-plane.ts'
import type { Condition, KubeObject } from '../api/object.ts'
import { novaExternalComputes } from './kinds/nova.ts'
import { summarizeNodes } from './node-summary.ts'
import { novaService } from './service-definitions/nova.ts'
import { ovnMetadataService } from './service-definitions/ovn-metadata.ts'

const condition = (type: string, status: Condition['status'], message = '', severity = ''): Condition => ({
  type,
  status,
  message,
  severity,
})
const services = [novaService, ovnMetadataService]
const states = (...objects: readonly KubeObject[]) => summarizeNodes({ objects, unread: [] }, services)

describe('summarizeNodes', () => {
  it('lists every node with its phases and services, by name', () => {
    const node = {
      ...dataPlaneNode('b', { role: 'compute' }),
      status: {
        conditions: [
          condition('Ready', 'True'),
          condition('BaremetalProvisionReady', 'True'),
          condition('ServicesReady', 'False', 'Waiting for NovaCell nova-cell1', 'Info'),
          condition('install-os service ready', 'True'),
          condition('run-os service ready', 'True'),
        ],
      },
    }
    const compute = {
      ...novaExternalComputes,
      metadata: { name: 'b', namespace: 'openstack' },
      spec: { dataplaneNodeName: 'b' },
      status: { conditions: [condition('Ready', 'False', 'Waiting for NovaCell nova-cell1', 'Info')] },
    }
    const [first, second] = states(node, compute, dataPlaneNode('a'))
    expect(first).toMatchObject({
      node: 'a',
      state: 'waiting',
      machine: 'none',
      waits: 'it is not reconciled yet',
    })
    expect(second).toEqual({
      namespace: 'openstack',
      node: 'b',
      role: 'compute',
      machine: 'ready',
      done: 2,
      steps: 2,
      state: 'ready',
      services: [
        { kind: 'NovaExternalCompute', state: 'waiting', message: 'Waiting for NovaCell nova-cell1' },
        { kind: 'OVNMetadataAgent', state: 'none' },
      ],
      waits: 'Waiting for NovaCell nova-cell1',
    })
  })

  it('distinguishes errors from what is in progress', () => {
    const broken = {
      ...dataPlaneNode('n'),
      status: { conditions: [condition('Ready', 'False', 'no key', 'Error')] },
    }
    expect(states(broken)).toMatchObject([{ state: 'failed', waits: 'no key' }])
  })
})
