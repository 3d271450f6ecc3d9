import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testIo } from '../../../test/io.ts'
import { planText } from '../../../test/site.ts'
import { smallSite } from '../../../test/site-files.ts'
import { readSite } from '../../site/read.ts'
import { main } from '../main.ts'

const root = path.join(import.meta.dirname, '../../..')
const envFiles = ['rhoso1-config.env', 'rhoso2-config.env'].map((name) =>
  path.join(root, 'examples/install-yamls', name),
)
const fixtures = path.join(root, 'src/site/import/__fixtures__')

let cwd: string
beforeEach(() => void (cwd = mkdtempSync(path.join(tmpdir(), 'stackloom-import-'))))
afterEach(() => rmSync(cwd, { recursive: true }))

describe('stackloom import', () => {
  it('prints the site file on stdout and the report on stderr', async () => {
    const io = testIo({ cwd })
    expect(await main(['import', '--source', 'install-yamls', ...envFiles], io)).toBe(0)
    expect(readSite(io.out(), 'site.yaml').findings).toEqual([])
    expect(io.err()).toContain('rhoso2-config.env:4:21: warning SL2078')
  })

  it('writes the file, but never overwrites one', async () => {
    const command = ['import', '--source', 'install-yamls', ...envFiles, '--name', 'two', '--out', 'site.yaml']
    expect(await main(command, testIo({ cwd }))).toBe(0)
    expect(readFileSync(path.join(cwd, 'site.yaml'), 'utf8')).toContain('name: two')
    const again = testIo({ cwd })
    expect(await main(command, again)).toBe(2)
    expect(again.err()).toContain('SL2061')
    expect(again.err()).toContain('choose another name with --out')
    expect(await main([...command, '--overwrite'], testIo({ cwd }))).toBe(0)
  })

  it('adds clouds to an existing file and keeps its comments', async () => {
    const file = path.join(cwd, 'site.yaml')
    const existing = smallSite
      .replace('rhoso1, namespace: openstack}', 'lab, namespace: lab} # the old one')
      .replace('  clouds:', '    - {name: worker-1, nic: enp6s0}\n  clouds:')
    writeFileSync(file, `# ours\n${existing}`)
    const words = ['import', '--source', 'cluster', '--from', path.join(fixtures, 'cluster'), '--into', 'site.yaml']
    const refused = testIo({ cwd })
    expect(await main(words, refused)).toBe(1)
    expect(refused.err()).toContain('SL2063')
    expect(await main([...words, '-n', 'openstack'], testIo({ cwd }))).toBe(0)
    const text = readFileSync(file, 'utf8')
    expect(text).toContain('# ours\n')
    expect(text).toContain('# the old one\n')
    const { site, findings } = readSite(text, 'site.yaml')
    expect(findings).toEqual([])
    expect(site?.clouds.map(({ namespace }) => namespace)).toEqual(['lab', 'openstack2', 'openstack'])
  })

  it('gives clouds that are added to a file other numbers than those in the file', async () => {
    const environments = ['a', 'b', 'c'].map((name, index) => {
      const pool = `192.168.122.${80 + index * 5}-192.168.122.${84 + index * 5}`
      writeFileSync(path.join(cwd, `${name}.env`), `NAMESPACE=${name}\nMETALLB_POOL=${pool}\n`)
      return `${name}.env`
    })
    const [first = '', second = '', third = ''] = environments
    const command = ['import', '--source', 'install-yamls']
    expect(await main([...command, first, second, '--out', 'site.yaml'], testIo({ cwd }))).toBe(0)
    expect(await main([...command, third, '--into', 'site.yaml'], testIo({ cwd }))).toBe(0)
    const { plan } = planText(readFileSync(path.join(cwd, 'site.yaml'), 'utf8'))
    expect(plan.findings.filter(({ severity }) => severity === 'error').map(({ code }) => code)).toEqual(['SL2103'])
  })

  it('puts added networks on the NIC of the site that has their device', async () => {
    const file = path.join(cwd, 'site.yaml')
    writeFileSync(file, smallSite.replace('nic: enp6s0', 'nics: {main: enp6s0, second: enp8s0}'))
    writeFileSync(path.join(cwd, 'b.env'), 'NAMESPACE=b\nNNCP_INTERFACE=enp8s0\n')
    expect(await main(['import', '--source', 'install-yamls', 'b.env', '--into', 'site.yaml'], testIo({ cwd }))).toBe(0)
    const { site } = readSite(readFileSync(file, 'utf8'), 'site.yaml')
    const networks = site?.clouds.at(-1)?.networks.map(({ name, settings }) => [name, settings.nic])
    expect(networks).toContainEqual(['internalapi', 'second'])
    expect(networks).toContainEqual(['external', false])
  })

  it('prints site and findings as one value with -o json', async () => {
    const io = testIo({ cwd })
    const files = ['values-1.yaml', 'values-2.yaml'].map((name) => path.join(fixtures, name))
    const clouds = ['--cloud', 'a=ns-a', '--cloud', 'b']
    expect(await main(['import', '--source', 'architecture', ...files, ...clouds, '-o', 'json'], io)).toBe(0)
    expect(JSON.parse(io.out())).toMatchObject({
      site: {
        spec: {
          clouds: [
            { name: 'a', namespace: 'ns-a' },
            { name: 'b', namespace: 'b' },
          ],
        },
      },
      findings: [],
    })
  })

  it('reads every values file below a folder, and names the files that it leaves out', async () => {
    for (const name of ['a', 'b']) mkdirSync(path.join(cwd, 'tree', name), { recursive: true })
    for (const [index, name] of ['a', 'b'].entries())
      copyFileSync(path.join(fixtures, `values-${index + 1}.yaml`), path.join(cwd, 'tree', name, 'values.yaml'))
    writeFileSync(path.join(cwd, 'tree/a/service-values.yaml'), 'kind: ConfigMap\nmetadata: {name: service-values}\n')
    const io = testIo({ cwd })
    expect(await main(['import', '--source', 'architecture', 'tree'], io)).toBe(0)
    expect(readSite(io.out(), 'site.yaml').site?.clouds.map(({ name }) => name)).toEqual(['openstack', 'openstack2'])
    expect(io.err()).toContain('SL2037')
    expect(io.err()).toContain('tree/a/service-values.yaml')
    const empty = testIo({ cwd: path.join(cwd, 'tree') })
    rmSync(path.join(cwd, 'tree/b/values.yaml'))
    expect(await main(['import', '--source', 'architecture', 'b'], empty)).toBe(1)
    expect(empty.err()).toContain('SL2090')
  })

  it('understands the former spelling of the source', async () => {
    const io = testIo({ cwd })
    expect(await main(['import', '--from', 'cluster', '--from-dir', path.join(fixtures, 'cluster')], io)).toBe(0)
    expect(await main(['import'], io)).toBe(2)
  })

  it('reads a folder of dumps as if it were the cluster', async () => {
    const io = testIo({ cwd })
    expect(await main(['import', '--source', 'cluster', '--from', path.join(fixtures, 'cluster')], io)).toBe(0)
    expect(io.out()).toContain('namespace: openstack2')
  })

  it.each([
    [['--source', 'install-yamls'], 2, 'SL1001'],
    [['--source', 'nowhere', 'x'], 2, 'SL1001'],
    [['--source', 'cluster', 'x'], 2, 'SL1001'],
    [['--source', 'install-yamls', 'missing.env'], 2, 'SL1002'],
    [['--source', 'architecture', path.join(root, 'package.json')], 1, 'SL2090'],
    [['--source', 'cluster', '--from', path.join(root, 'examples/install-yamls')], 1, 'SL2094'],
  ])('refuses %j and writes nothing', async (words, exitCode, code) => {
    const io = testIo({ cwd })
    expect(await main(['import', ...words, '--out', 'site.yaml'], io)).toBe(exitCode)
    expect(io.err()).toContain(code)
    expect(existsSync(path.join(cwd, 'site.yaml'))).toBe(false)
  })
})
