import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import type { KubeObject } from '../../api/object.ts'
import type { SiteFile } from '../../api/site.ts'
import type { Snapshot } from '../../api/snapshot.ts'
import { readYamlStream } from '../../yaml/read.ts'
import { readSite } from '../read.ts'
import { importArchitecture } from './architecture.ts'
import { importCluster } from './cluster.ts'
import * as problems from './findings/existing.ts'
import type { Imported } from './imported-site.ts'

const fixtures = path.join(import.meta.dirname, '__fixtures__')
const values = ['values-1.yaml', 'values-2.yaml'].map((file) => ({
  file,
  text: readFileSync(path.join(fixtures, file), 'utf8'),
}))
const snapshot: Snapshot = { objects: dumpedObjects(path.join(fixtures, 'cluster')), unread: [] }

function dumpedObjects(folder: string): readonly KubeObject[] {
  const texts = readdirSync(folder).map((name) => readFileSync(path.join(folder, name), 'utf8'))
  const documents = texts.flatMap((text) => readYamlStream(text, folder).map(({ value }) => value as KubeObject))
  return documents.flatMap((document) => {
    const { items, kind, apiVersion } = document as KubeObject & {
      readonly items?: readonly Partial<KubeObject>[]
    }
    return items?.map((item) => ({ apiVersion, kind: kind.replace(/List$/, ''), ...item }) as KubeObject) ?? [document]
  })
}

describe('importing network-values files', () => {
  it('gives one cloud per file, with all four allocators of each network', async () => {
    const clouds = [
      { name: 'rhoso1', namespace: 'openstack' },
      { name: 'rhoso2', namespace: 'openstack2' },
    ]
    const { text, findings } = importArchitecture(values, { name: 'two', clouds })
    expect(findings).toEqual([])
    expect(readSite(text ?? '', 'site.yaml').findings).toEqual([])
    await expect(text).toMatchFileSnapshot('__golden__/architecture.yaml')
  })
})

describe('importing a cluster', () => {
  it('imports pools, attachments, policies, NetConfigs and VIPs of every cloud', async () => {
    const { text, findings } = importCluster(snapshot, { name: 'live' })
    expect(findings.map(({ code }) => code)).toEqual(['SL2095', 'SL2097'])
    expect(readSite(text ?? '', 'site.yaml').findings).toEqual([])
    await expect(text).toMatchFileSnapshot('__golden__/cluster.yaml')
  })

  it('reserves excludeAddresses, exclude, and pod addresses outside their range', () => {
    const site = parse(importCluster(snapshot, { name: 'live' }).text ?? '') as SiteFile
    expect(site.spec.clouds[0]?.networks?.['internalapi']).toMatchObject({
      subnets: [
        {
          reserved: ['172.17.0.110', '172.17.0.112', '172.17.0.40', '172.17.0.48-172.17.0.51', '172.17.0.75'],
        },
      ],
    })
  })

  it('imports one namespace only when it is named', () => {
    const { text = '' } = importCluster(snapshot, { name: 'live', namespaces: ['openstack2'] })
    expect((parse(text) as SiteFile).spec.clouds.map(({ namespace }) => namespace)).toEqual(['openstack2'])
  })

  it('gives the same file for any order of the objects', () => {
    const reversed = { ...snapshot, objects: [...snapshot.objects].reverse() }
    expect(importCluster(reversed, { name: 'live' })).toEqual(importCluster(snapshot, { name: 'live' }))
  })

  it('survives objects of any shape', () => {
    const odd = (kind: string, apiVersion: string, rest: object): KubeObject => ({
      apiVersion,
      kind,
      metadata: { name: 'x', namespace: 'y' },
      ...rest,
    })
    for (const spec of [null, [], 'text', { networks: [null, 3, { name: 'a', subnets: 'x' }] }, { config: '{' }]) {
      const objects = [
        odd('NetConfig', 'network.openstack.org/v1beta1', { spec }),
        odd('NetworkAttachmentDefinition', 'k8s.cni.cncf.io/v1', { spec }),
        odd('IPAddressPool', 'metallb.io/v1beta1', { spec }),
        odd('NodeNetworkConfigurationPolicy', 'nmstate.io/v1', { spec }),
        odd('Service', 'v1', { spec, status: spec }),
      ]
      expect(() => importCluster({ objects, unread: [] }, { name: 'x' })).not.toThrow()
    }
  })
})

function valuesWith(data: object): Imported {
  const text = stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'network-values' }, data })
  return importArchitecture([{ file: 'values.yaml', text }], { name: 'x' })
}

const internalapi = {
  iface: 'internalapi',
  base_iface: 'enp7s0',
  vlan: 20,
  subnets: [{ cidr: '172.17.0.0/24' }],
}

/** For every problem, something to import that has it. */
const triggers: Readonly<Record<keyof typeof problems, () => Imported>> = {
  notNetworkValues: () => importArchitecture([{ file: 'a.yaml', text: 'kind: Pod\n' }], { name: 'x' }),
  badAttachment: () => valuesWith({ internalapi: { ...internalapi, 'net-attach-def': '{' } }),
  valueLeftOut: () => valuesWith({ ctlplane: { ...internalapi, base_iface: undefined } }),
  subnetGuessed: () =>
    valuesWith({ internalapi: { ...internalapi, subnets: [], lb_addresses: ['172.34.0.80-172.34.0.90'] } }),
  noClouds: () => importCluster({ objects: [], unread: [] }, { name: 'x' }),
  poolForeign: () => importCluster(snapshot, { name: 'x' }),
  nicUnknown: () => valuesWith({ internalapi: { vlan: 20, subnets: [{ cidr: '172.17.0.0/24' }] } }),
  serviceUnpinned: () => importCluster(snapshot, { name: 'x' }),
}

describe('every problem of an import', () => {
  const listed = Object.entries(problems) as [keyof typeof problems, { readonly code: string }][]

  it.each(listed.map(([name, { code }]) => [code, name] as const))('%s is found', (code, name) => {
    expect(triggers[name]().findings.map((finding) => finding.code)).toContain(code)
  })
})
