import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { bundledSbom, checksumFile, type Download, homebrewFormula, krewManifest, manPages } from './release-files.ts'

const downloads: readonly Download[] = [
  { platform: 'linux-x64', url: 'https://example.org/l.tar.gz', sha256: 'aa' },
  { platform: 'darwin-arm64', url: 'https://example.org/d.tar.gz', sha256: 'bb' },
]

it('man pages exist for every command, and no line of the help is taken for a request of roff', () => {
  const command = new Command('plan').description('Plan addresses').option('--a', ".dot 'quote' back\\slash")
  command.command('sub').description('Do more')
  const pages = manPages([command], '1.2.3')
  expect([...pages.keys()]).toEqual(['stackloom.1', 'plan.1', 'plan-sub.1'])
  expect(pages.get('stackloom.1')).toContain('.B stackloom plan\n\\- Plan addresses')
  expect(pages.get('plan.1')).toContain('back\\eslash')
  const body = pages.get('plan.1')?.split('.nf\n')[1]?.split('\n.fi')[0] ?? ''
  expect(body.split('\n').filter((line) => /^[.']/.test(line))).toEqual([])
})

describe('the manifest of krew', () => {
  it('has each platform in the words of Go, with address and checksum', () => {
    const { spec } = parse(krewManifest('1.2.3', downloads)) as { spec: { version: string; platforms: object[] } }
    expect(spec.version).toBe('v1.2.3')
    expect(spec.platforms).toMatchObject([
      { selector: { matchLabels: { os: 'linux', arch: 'amd64' } }, sha256: 'aa', bin: 'stackloom' },
      { selector: { matchLabels: { os: 'darwin', arch: 'arm64' } }, sha256: 'bb', bin: 'stackloom' },
    ])
  })
})

it('the formula of Homebrew has one download for each system and processor', () => {
  const formula = homebrewFormula('1.2.3', downloads)
  expect(formula).toMatch(/on_macos do\n {4}on_arm do\n {6}url "https:\/\/example.org\/d.tar.gz"\n {6}sha256 "bb"/)
  expect(formula).toMatch(/on_linux do\n {4}on_intel do/)
})

it('the SBOM has the packages of the program and no others, and nothing random', () => {
  const component = (name: string) => ({ 'bom-ref': `${name}@1`, name })
  const sbom = {
    serialNumber: 'urn:uuid:1',
    metadata: { timestamp: 'now', component: { ...component('stackloom'), version: '0' } },
    components: [component('yaml'), component('vitest')],
    dependencies: [
      { ref: 'stackloom@1', dependsOn: ['yaml@1', 'vitest@1'] },
      { ref: 'vitest@1', dependsOn: ['yaml@1'] },
    ],
  }
  expect(bundledSbom(sbom, new Set(['yaml']), '1.2.3', 'then')).toEqual({
    metadata: { timestamp: 'then', component: { 'bom-ref': 'stackloom@1', name: 'stackloom', version: '1.2.3' } },
    components: [component('yaml')],
    dependencies: [{ ref: 'stackloom@1', dependsOn: ['yaml@1'] }],
  })
})

it('checksums are sorted, in the form that sha256sum reads', () => {
  expect(
    checksumFile(
      new Map([
        ['b', '2'],
        ['a', '1'],
      ]),
    ),
  ).toBe('1  a\n2  b\n')
})
