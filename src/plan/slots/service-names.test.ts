import { describe, expect, it } from 'vitest'
import { testCloud } from '../../../test/cloud.ts'
import type { KubeObject } from '../../api/object.ts'
import type { SiteFileCloud } from '../../api/site.ts'
import { importServices } from '../../site/import/service-vips.ts'
import { builtInTable } from './built-in-crds.ts'
import { serviceCatalogue } from './service-catalogue.ts'
import { slotServiceName } from './service-names.ts'
import { slotUses } from './slot-uses.ts'
import type { SlotUse } from './slots.ts'

/** A cloud with every slot that can be had: several cells, glance APIs and name servers, public VIPs. */
const everything: Partial<SiteFileCloud> = {
  public: { by: 'vip', network: 'ctlplane' },
  services: {
    ...Object.fromEntries(serviceCatalogue.map(({ name }) => [name, true])),
    nova: {
      cells: ['cell1', 'cell2'],
      template: { cellTemplates: { cell2: { metadataServiceTemplate: { enabled: true } } } },
    },
    glance: { template: { glanceAPIs: { default: {}, edge: {} } } },
    designate: {
      template: { designateBackendbind9: { replicas: 3 }, designateMdns: { replicas: 2 } },
    },
    telemetry: { template: { autoscaling: { enabled: true }, cloudkitty: { enabled: true } } },
  },
}

function usesOf(file: Partial<SiteFileCloud>): readonly SlotUse[] {
  const locate = () => undefined
  return slotUses({ cloud: testCloud(file), platform: 'openshift', table: builtInTable(), locate }).uses
}

/** As an operator makes it and MetalLB gives it an address. */
function serviceOf(name: string, at: number): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'openstack' },
    spec: { type: 'LoadBalancer' },
    status: { loadBalancer: { ingress: [{ ip: `172.17.0.${at + 1}` }] } },
  }
}

describe('the names of the Services of a cloud', () => {
  const named = usesOf(everything).flatMap((use) => {
    const name = slotServiceName(use)
    return name === undefined ? [] : [{ slot: use.name, name }]
  })

  it('are unique', () => {
    expect(new Set(named.map(({ name }) => name)).size).toBe(named.length)
    expect(named.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['designate-backendbind9-2', 'heat-cfnapi-public', 'nova-novncproxy-cell2-public']),
    )
  })

  it('are recognized by an import, which writes a file with the same slots and addresses', () => {
    const live = named.map(({ name }, at) => serviceOf(name, at))
    const imported = importServices(live, [], () => 'ctlplane')
    expect(imported.vips).toEqual(Object.fromEntries(named.map(({ slot }, at) => [slot, `172.17.0.${at + 1}`])))
    const again = new Set(usesOf(imported).map(({ name }) => name))
    expect(named.map(({ slot }) => slot).filter((slot) => !again.has(slot))).toEqual([])
  })

  it('are reported by an import that does not know them', () => {
    const unknown = ['designate-console-0', 'constructor-internal', 'designate-constructor-0', 'rabbitmq-x']
    expect(importServices(unknown.map(serviceOf), []).vips).toBeUndefined()
  })
})
