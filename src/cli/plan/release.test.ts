import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testIo } from '../../../test/io.ts'
import { describeWithRelease } from '../../../test/releases.ts'
import { RELEASES } from '../../../test/sandbox-context.ts'
import { siteText } from '../../../test/site.ts'
import { main } from '../main.ts'

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(path.join(tmpdir(), 'stackloom-release-'))
  writeFileSync(path.join(cwd, 'site.yaml'), siteText({}))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const plan = async (...words: readonly string[]) => {
  const io = testIo({ cwd })
  const code = await main(['plan', ...words], io)
  return { code, out: io.out(), err: io.err() }
}
const lockText = (): string => readFileSync(path.join(cwd, 'site.lock.yaml'), 'utf8')

describe('plan --crd', () => {
  it('records a release by name in the lock, and the next plan keeps it', async () => {
    expect(await plan('--crd', '18.0-fr3')).toMatchObject({ code: 0 })
    expect(lockText()).toContain('18.0-fr3')
    expect(await plan()).toMatchObject({ code: 0 })
    expect(lockText()).toContain('18.0-fr3')
  })

  it('refuses a name that is neither a release nor a file', async () => {
    const { code, err } = await plan('--crd', '18.0-fr99')
    expect(code).toBe(2)
    expect(err).toContain('18.0-fr99')
  })

  it('refuses a folder without CRDs', async () => {
    expect(await plan('--crd', '.')).toMatchObject({ code: 2 })
  })
})

interface Schema {
  required?: string[]
  properties: Record<string, Schema>
  additionalProperties: Schema
}

describeWithRelease('18.0-fr6', 'plan --crd of a folder', () => {
  /** The folder of 18.0-fr6 with another schema of the control plane's `spec`. */
  const nextRelease = (change: (spec: Schema) => void): string => {
    const folder = path.join(cwd, 'next')
    cpSync(path.join(RELEASES, '18.0-fr6'), folder, { recursive: true })
    const file = path.join(folder, 'core.openstack.org_openstackcontrolplanes.json')
    const crd = JSON.parse(readFileSync(file, 'utf8')) as {
      spec: { versions: { schema: { openAPIV3Schema: Schema } }[] }
    }
    change(crd.spec.versions[0]?.schema.openAPIV3Schema.properties['spec'] as Schema)
    rmSync(file)
    writeFileSync(file, JSON.stringify(crd))
    return './next'
  }
  const template = (spec: Schema, service: string): Schema => spec.properties[service]?.properties['template'] as Schema
  const rename = ({ properties }: Schema, from: string, to: string): void => {
    properties[to] = properties[from] as Schema
    delete properties[from]
  }

  it('recognises a known release', async () => {
    const { code, err } = await plan('--crd', path.join(RELEASES, '18.0-fr6'))
    expect(code).toBe(0)
    expect(err).not.toContain('SL310')
    expect(lockText()).toContain('18.0-fr6')
  })

  it('names a renamed, a removed and a required field and a moved slot with their paths, and writes no lock', async () => {
    const folder = nextRelease((spec) => {
      rename(template(spec, 'keystone'), 'databaseInstance', 'database')
      delete template(spec, 'neutron').properties['secret']
      template(spec, 'placement').required = ['newAccount']
      template(spec, 'placement').properties['newAccount'] = { type: 'string' } as unknown as Schema
      rename(template(spec, 'horizon'), 'override', 'overrides')
    })
    const { code, err, out } = await plan('--crd', folder)
    const printed = `${out}${err}`
    expect(code).toBe(1)
    for (const [finding, field] of [
      ['SL3107', 'spec.keystone.template.databaseInstance'],
      ['SL3107', 'spec.neutron.template.secret'],
      ['SL3108', 'spec.placement.template.newAccount'],
      ['SL3109', 'spec.horizon.template.override.service'],
    ])
      expect(printed.replaceAll(/\s+/g, ' ')).toMatch(new RegExp(`${finding}[^§]*${field?.replaceAll('.', '\\.')}`))
    expect(() => lockText()).toThrow('ENOENT')
  })
})
