import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { testIo } from '../../../test/io.ts'
import type { Finding } from '../../errors/finding.ts'
import { main } from '../main.ts'
import { githubAnnotations, sarifLog } from './code-scanning.ts'

const inFile: Finding = {
  code: 'SL2101',
  severity: 'error',
  message: 'a and b own 10.0.0.1',
  remedy: 'give b 10.0.0.2',
  where: { file: 'sites/my site.yaml', line: 12, column: 3 },
  owners: ['a', 'b'],
}
const ofObject: Finding = {
  code: 'SL9502',
  severity: 'info',
  message: 'no address',
  remedy: 'wait',
  where: { apiVersion: 'v1', kind: 'Service', namespace: 'openstack', name: 'dns' },
}
const context = { version: '1.2.3', describeCode: () => ({ title: 'Title', description: 'Why.\n' }) }

interface SarifResult {
  readonly ruleId: string
  readonly ruleIndex: number
  readonly level: string
  readonly message: { readonly text: string }
  readonly locations?: readonly unknown[]
  readonly partialFingerprints: Readonly<Record<string, string>>
}

interface Sarif {
  readonly version: string
  readonly runs: readonly {
    readonly tool: { readonly driver: { readonly name: string; readonly rules: readonly { readonly id: string }[] } }
    readonly results: readonly SarifResult[]
  }[]
}

describe('SARIF', () => {
  const sarif = sarifLog([ofObject, inFile, inFile], context) as Sarif

  it('has the fields that SARIF 2.1.0 requires, and each code once as a rule that its results point at', () => {
    expect(sarif.version).toBe('2.1.0')
    const [run] = sarif.runs
    expect(run?.tool.driver.name).toBe('stackloom')
    expect(run?.tool.driver.rules.map(({ id }) => id)).toEqual(['SL2101', 'SL9502'])
    for (const { ruleId, ruleIndex, message, level } of run?.results ?? []) {
      expect(run?.tool.driver.rules[ruleIndex]?.id).toBe(ruleId)
      expect(message.text).not.toBe('')
      expect(['none', 'note', 'warning', 'error']).toContain(level)
    }
  })

  it('has the place as a URI with line and column, or the name of the object', () => {
    const [object, file] = sarif.runs[0]?.results ?? []
    expect(file?.locations).toEqual([
      {
        physicalLocation: {
          artifactLocation: { uri: 'sites/my%20site.yaml' },
          region: { startLine: 12, startColumn: 3 },
        },
      },
    ])
    expect(object?.locations).toEqual([
      { logicalLocations: [{ fullyQualifiedName: 'Service openstack/dns', kind: 'object' }] },
    ])
    expect(file?.message.text).toBe('a and b own 10.0.0.1\nowner: a\nowner: b\nfix: give b 10.0.0.2')
  })

  it('gives a finding the same fingerprint on another line, and another finding another one', () => {
    const moved = { ...inFile, where: { file: 'sites/my site.yaml', line: 99, column: 3 } }
    const other = { ...inFile, message: 'c' }
    const results = (sarifLog([inFile, moved, other], context) as Sarif).runs[0]?.results ?? []
    const [first, second, third] = results.map(({ partialFingerprints }) => partialFingerprints['finding/v1'])
    expect(second).toBe(first)
    expect(third).not.toBe(first)
  })
})

describe('annotations', () => {
  it('name file, line and column, and the object where there is no file', () => {
    expect(githubAnnotations([inFile, ofObject])).toBe(
      '::error file=sites/my site.yaml,line=12,col=3,title=stackloom SL2101::a and b own 10.0.0.1%0Aowner: a%0Aowner: b%0Afix: give b 10.0.0.2\n' +
        '::notice title=stackloom SL9502::Service openstack/dns: no address%0Afix: wait\n',
    )
  })

  it('are one line each, whatever a message or a file name has', () => {
    const hostile = {
      ...inFile,
      message: 'x\n::set-output name=a::b\r%0A',
      where: { file: 'a,b:c\n::d', line: 1, column: 1 },
    }
    const text = githubAnnotations([hostile])
    expect(text.match(/^::/gm)).toEqual(['::'])
    expect(text).toContain('file=a%2Cb%3Ac%0A%3A%3Ad,')
    expect(text).toContain('x%0A::set-output name=a::b%0D%250A')
  })
})

describe('plan', () => {
  const site = (vlan: number): string => `apiVersion: stackloom.dev/v1alpha1
kind: Site
metadata: {name: lab}
spec:
  cluster: {nodes: [{name: a, nic: enp6s0}, {name: b, nic: enp6s0}, {name: c, nic: enp6s0}], dns: [192.168.122.1]}
  clouds:
  - {name: rhoso1, namespace: openstack, networks: {internalapi: {vlan: ${vlan}}}}
  - {name: rhoso2, namespace: openstack2, networks: {internalapi: {vlan: 20}}}
`
  const run = async (text: string, ...args: readonly string[]) => {
    const io = testIo({ stdin: Readable.from([Buffer.from(text)]) })
    return { code: await main(['plan', '-f', '-', '--check', ...args], io), out: io.out(), err: io.err() }
  }

  it('prints its findings as SARIF and nothing else on stdout', async () => {
    const { code, out } = await run(site(20), '-o', 'sarif')
    expect(code).toBe(1)
    const { results = [], tool } = (JSON.parse(out) as Sarif).runs[0] ?? {}
    expect(results.length).toBeGreaterThan(0)
    expect(tool?.driver.rules[0]).toHaveProperty('shortDescription')
  })

  it('prints SARIF without results for a site without findings', async () => {
    const { out } = await run(site(21), '-o', 'sarif')
    expect((JSON.parse(out) as Sarif).runs[0]?.results).toEqual([])
  })

  it('prints SARIF and annotations also where the file cannot be read as a site', async () => {
    const { code, out } = await run('kind: Nothing\n', '-o', 'sarif')
    expect(code).toBe(2)
    expect((JSON.parse(out) as Sarif).runs[0]?.results.map(({ ruleId }) => ruleId)).toContain('SL1021')
    expect((await run('kind: Nothing\n', '--output=github')).out).toMatch(/^::error .*title=stackloom SL1021::/m)
  })
})
