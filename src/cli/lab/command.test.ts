import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { testIo } from '../../../test/io.ts'
import { generateSmallKey, labText, labWith } from '../../../test/lab.ts'
import { presetNames } from '../../lab/presets.ts'
import { renderLab } from '../../lab/render-lab.ts'
import { main } from '../main.ts'
import type { Prompter } from '../questions.ts'
import { gatherLabAnswers } from './init.ts'

// Some of these tests generate keys and certificates.
vi.setConfig({ testTimeout: 120_000 })

let cwd: string
beforeEach(() => void (cwd = mkdtempSync(path.join(tmpdir(), 'stackloom-labcli-'))))
afterEach(() => rmSync(cwd, { recursive: true }))

const run = async (...words: string[]) => {
  const io = testIo({ cwd, env: { HOME: cwd, PATH: process.env['PATH'] } })
  const code = await main(['lab', ...words], io)
  return { code, out: io.out(), err: io.err() }
}
const writeLabFile = (text = labText()): void => writeFileSync(path.join(cwd, 'lab.yaml'), text)
/** Renders the tree with small keys. */
const renderTree = () => renderLab(labWith(), path.join(cwd, 'osl'), { now: Date.now(), makeSshKey: generateSmallKey })

describe('stackloom lab', () => {
  it('names the help of the subcommand after wrong use', async () => {
    expect((await run('init', '--preset', 'five')).err).toContain('`stackloom lab init --help`')
  })

  it.each(presetNames)('init writes the preset %s, which is also in examples/', async (preset) => {
    const { code, out } = await run('init', '--preset', preset, '-f', '-')
    expect(code).toBe(0)
    expect(out).toBe(readFileSync(`examples/lab-${preset}.yaml`, 'utf8'))
  })

  it('init writes the schema beside the file, and names it in the first line', async () => {
    expect((await run('init', '--preset', 'three-node', '-f', 'my.yaml')).code).toBe(0)
    const [first] = readFileSync(path.join(cwd, 'my.yaml'), 'utf8').split('\n')
    expect(first).toBe('# yaml-language-server: $schema=./my.schema.json')
    expect(JSON.parse(readFileSync(path.join(cwd, 'my.schema.json'), 'utf8'))).toMatchObject({ title: 'Lab' })
  })

  it('init writes the file for a machine that is too small, and says what to reduce in it', async () => {
    const { code, err } = await run('init', '--preset', 'three-node', '--memory', '36GiB')
    expect(code).toBe(1)
    expect(err).toMatch(/^lab\.yaml:\d+:\d+: error SL8101: /m)
    expect(readFileSync(path.join(cwd, 'lab.yaml'), 'utf8')).toContain('36GiB')
  })

  it('init asks one question at a time, with the values of the preset as defaults', async () => {
    const asked: [string, string][] = []
    const questions: Prompter = {
      text: async (message, standard) => (asked.push([message, standard]), standard),
      choose: async (message, choices) => (asked.push([message, choices[0] ?? '']), choices[0] as never),
    }
    const { answers } = await gatherLabAnswers({}, questions)
    expect(asked.map(([, standard]) => standard)).toEqual([
      'three-node',
      'osl',
      '12',
      '96GiB',
      '180GiB',
      'openstack.local',
      'lvm',
      'debian',
    ])
    expect(answers).toMatchObject({ preset: 'three-node', cores: 12, containers: 'debian' })
  })

  it('check exits with 0 for warnings, 1 for errors, 2 for a file that is not a lab', async () => {
    writeLabFile()
    expect(await run('check')).toMatchObject({
      code: 0,
      out: expect.stringContaining('130 + 10 + 40 GiB disk; 0 errors'),
    })
    writeLabFile(labText().replace('192.168.105.250', '192.168.106.250'))
    expect((await run('check')).code).toBe(1)
    writeLabFile('kind: Site')
    expect((await run('check')).code).toBe(2)
  })

  it('check -o json prints totals and findings', async () => {
    writeLabFile()
    const { out } = await run('check', '-o', 'json')
    expect(JSON.parse(out)).toMatchObject({ lab: 'osl', totals: { memory: 72, cpus: 12 } })
  })

  it('render and up refuse a lab with errors and write nothing', async () => {
    writeLabFile(labText().replace('192.168.105.250', '192.168.106.250'))
    for (const command of ['render', 'up']) expect((await run(command)).code).toBe(1)
    expect(existsSync(path.join(cwd, 'osl'))).toBe(false)
  })

  it('up --dry-run prints the commands and runs nothing', async () => {
    writeLabFile()
    await renderTree()
    const { code, out } = await run('up', '--dry-run', '--from-stage', 'bootstrap', '--until', 'deploy')
    expect(code).toBe(0)
    expect(out).toContain(`.stackloom/venv/bin/kolla-ansible deploy -i ${path.join(cwd, 'osl')}/kolla/multinode`)
    expect(existsSync(path.join(cwd, 'osl/.stackloom/state.json'))).toBe(false)
    expect((await run('up', '--dry-run', '--from-stage', 'deplyo')).err).toContain('did you mean deploy')
  })

  it('up refuses an unknown stage or node before it writes anything', async () => {
    writeLabFile()
    for (const words of [[], ['--dry-run']]) {
      expect(await run('up', '--replace', 'noed2', ...words)).toMatchObject({
        code: 2,
        err: expect.stringContaining('SL8315: the lab has no node noed2'),
      })
      expect((await run('up', '--until', 'deplyo', ...words)).code).toBe(2)
    }
    expect(existsSync(path.join(cwd, 'osl'))).toBe(false)
  })

  it('render --dry-run writes nothing and says so', async () => {
    writeLabFile()
    await renderTree()
    const lost = path.join(cwd, 'osl/kolla/certificates/haproxy.pem')
    rmSync(lost)
    const { err } = await run('render', '--dry-run')
    expect(err).toContain('would generate: certificates (external)')
    expect(err).toContain('osl: 1 created, 56 unchanged (dry run: nothing was written)')
    expect(existsSync(lost)).toBe(false)
  })

  it('down --delete needs the name of the lab', async () => {
    writeLabFile()
    await renderTree()
    expect(await run('down', '--delete', 'other')).toMatchObject({
      code: 2,
      err: expect.stringContaining('SL8309'),
    })
    expect(await run('down', '--delete')).toMatchObject({ code: 2, err: expect.stringContaining('SL8309') })
  })

  it('status and doctor report a lab that was not rendered', async () => {
    writeLabFile()
    for (const command of ['status', 'doctor']) expect((await run(command)).err).toContain('SL8310')
  })
})
