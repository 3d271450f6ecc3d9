import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { fromJSONSchema, type ZodType } from 'zod'
import { testIo } from '../../../test/io.ts'
import { smallSite, smallSiteWith } from '../../../test/site-files.ts'
import type { LabFile } from '../../api/lab.ts'
import { resolveLab } from '../../lab/defaults.ts'
import { STANDARD_MTU } from '../../plan/draft/draft.ts'
import { readSite } from '../../site/read.ts'
import { main } from '../main.ts'
import { type FileKind, fileSchema } from './file-schemas.ts'

interface Schema {
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly definitions?: Readonly<Record<string, Schema>>
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
}

/** The fields of a schema that say nothing about themselves. */
function silent(schema: Schema, path: string): readonly string[] {
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    ...(field.description ? [] : [`${path}.${name}`]),
    ...silent(field, `${path}.${name}`),
  ])
  const others = [
    schema.items,
    schema.additionalProperties,
    ...(schema.anyOf ?? []),
    ...Object.values(schema.definitions ?? {}),
  ]
  return [...fields, ...others.flatMap((other) => (typeof other === 'object' ? silent(other, `${path}[]`) : []))]
}

async function schemaOf(kind: FileKind): Promise<Schema> {
  return (await fileSchema(kind)) as Schema
}

async function validatorOf(kind: FileKind): Promise<ZodType> {
  return fromJSONSchema((await fileSchema(kind)) as Parameters<typeof fromJSONSchema>[0])
}

/** The schema of a field: `spec.cluster.platform`; `*` is an item of a list or any key. */
function fieldAt(root: Schema, name: string): Schema {
  return name.split('.').reduce<Schema>((schema, step) => {
    if (step === 'network') return root.definitions?.['network'] ?? {}
    const next = step === '*' ? (schema.items ?? schema.additionalProperties) : schema.properties?.[step]
    expect(next, name).toBeTypeOf('object')
    return next as Schema
  }, root)
}

describe('the schema of a site file', () => {
  it.each(readdirSync('examples').filter((name) => name.endsWith('.yaml') && !name.startsWith('lab')))(
    'accepts %s',
    async (name) => {
      const file: unknown = parse(readFileSync(path.join('examples', name), 'utf8'))
      expect((await validatorOf('site')).safeParse(file).error).toBeUndefined()
    },
  )

  it.each([
    { networks: { internalapi: { vlan: 4095 } } },
    { networks: { internalapi: { vlan: 0 } } },
    { networks: { internalapi: { mtu: 67 } } },
    { networks: { internalapi: { mtu: 9217 } } },
    { networks: { internalapi: { subnets: [{ cidr: '172.17.0.0' }] } } },
    { networks: { internalapi: { interface: 'a b' } } },
    { addressing: { layout: { vips: '172.17.0.80-90' } } },
    { clouds: [{ name: 'RHOSO_1', namespace: 'openstack' }] },
    { clouds: [{ name: 'rhoso1', namespace: 'openstack', hosts: [{ name: 'x', ansibleHost: 'host' }] }] },
  ])('refuses what the program refuses: %j', async (spec) => {
    const validator = await validatorOf('site')
    expect(validator.safeParse(parse(smallSite)).success).toBe(true)
    expect(validator.safeParse(parse(smallSiteWith(spec))).success).toBe(false)
  })

  it('completes the names of networks, services and releases, and accepts others', async () => {
    const schema = await schemaOf('site')
    const cloud = fieldAt(schema, 'spec.clouds.*')
    expect(Object.keys(cloud.properties?.['networks']?.properties ?? {})).toContain('tenant')
    expect(Object.keys(schema.properties?.['spec']?.properties?.['networks']?.properties ?? {})).toContain('external')
    expect(Object.keys(cloud.properties?.['services']?.properties ?? {})).toContain('keystone')
    expect(fieldAt(schema, 'spec.cluster.release').examples).toContain('18.0-fr6')
    expect(cloud.properties?.['networks']?.additionalProperties).toBeTypeOf('object')
  })

  it('states the defaults that the program uses', async () => {
    const schema = await schemaOf('site')
    const { site } = readSite(smallSite, 'site.yaml')
    const { cluster, addressing } = site ?? {}
    const used = {
      'spec.cluster.platform': cluster?.platform,
      'spec.cluster.metallb.mode': cluster?.metallb.mode,
      'spec.cluster.metallb.namespace': cluster?.metallb.namespace,
      'spec.addressing.isolation': addressing?.isolation,
      'spec.addressing.families': addressing?.families,
      'spec.addressing.vlans': addressing?.vlans,
      'spec.addressing.prefixLength.ipv4': addressing?.prefixLength[4],
      'spec.addressing.prefixLength.ipv6': addressing?.prefixLength[6],
      'spec.addressing.layout.nodes': addressing?.layout.nodes[0],
      'spec.addressing.layout.pods': addressing?.layout.pods[0],
      'spec.addressing.layout.vips': addressing?.layout.vips[0],
      'spec.addressing.layout.hosts': addressing?.layout.hosts[0],
      'network.mtu': STANDARD_MTU,
    }
    for (const [name, value] of Object.entries(used)) expect(fieldAt(schema, name).default, name).toEqual(value)
  })

  it('has examples and ranges for what is no free text', async () => {
    const schema = await schemaOf('site')
    expect(fieldAt(schema, 'network.mtu')).toMatchObject({ minimum: 68, maximum: 9216 })
    expect(fieldAt(schema, 'spec.addressing.vlans.first')).toMatchObject({ minimum: 1, maximum: 4094 })
    expect(fieldAt(schema, 'network.subnets.*.cidr').examples).toContain('172.17.0.0/24')
    expect(JSON.stringify(schema)).not.toContain(String(Number.MAX_SAFE_INTEGER))
  })
})

describe('the schema of a lab file', () => {
  const labs = readdirSync('examples').filter((name) => name.startsWith('lab'))
  const readLab = (name: string): unknown => parse(readFileSync(path.join('examples', name), 'utf8'))

  it.each(labs)('accepts %s', async (name) => {
    expect((await validatorOf('lab')).safeParse(readLab(name)).error).toBeUndefined()
  })

  it('states the defaults that the program uses', async () => {
    const schema = await schemaOf('lab')
    const { spec, ...file } = readLab(labs[0] ?? '') as LabFile
    const { host, networks, vips, nodes } = spec
    const { reserve: _, ...machine } = host
    const { routerId: __, ...addresses } = vips
    const lab = resolveLab({ ...file, spec: { host: machine, networks, vips: addresses, nodes } })
    const used = {
      'spec.host.reserve.memory': `${lab.host.reserve.memory}GiB`,
      'spec.host.reserve.disk': `${lab.host.reserve.disk}GiB`,
      'spec.openstack.release': lab.release,
      'spec.vm.arch': lab.arch,
      'spec.vm.user': lab.user,
      'spec.containers.base': lab.containers.base,
      'spec.vips.routerId': lab.vips.routerId,
      'spec.storage.phase': lab.storage,
      'spec.monitoring.prometheus': lab.monitoring.prometheus,
      'spec.logging': lab.logging,
      'spec.dns.domain': lab.dns.domain,
      'spec.terraform.tenantSubnet': lab.terraform.tenantSubnet,
    }
    for (const [name, value] of Object.entries(used)) expect(fieldAt(schema, name).default, name).toEqual(value)
  })
})

describe('stackloom schema', () => {
  it.each([
    [[], 'Site'],
    [['site'], 'Site'],
    [['lab'], 'Lab'],
    [['fleet'], 'Fleet'],
  ])('of %j is that of a %s file, with a description of every field', async (words, title) => {
    const io = testIo()
    expect(await main(['schema', ...words], io)).toBe(0)
    const schema = JSON.parse(io.out()) as Schema & { readonly $schema: string; readonly title: string }
    expect(schema).toMatchObject({ title, additionalProperties: false })
    expect(schema.$schema).toContain('draft-07')
    expect(Object.keys(schema.properties ?? {})).toEqual(['apiVersion', 'kind', 'metadata', 'spec'])
    expect(silent(schema, title)).toEqual([])
  })

  it('refuses another kind and lists the known ones', async () => {
    const io = testIo()
    expect(await main(['schema', 'cloud'], io)).toBe(2)
    expect(io.err()).toContain('site, lab, fleet')
  })

  it('prints YAML with -o yaml', async () => {
    const io = testIo()
    expect(await main(['schema', '-o', 'yaml'], io)).toBe(0)
    expect(io.out()).toContain('\ntitle: Site\n')
  })
})
