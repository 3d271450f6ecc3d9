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

// Keys and certificates are made for some of these.
vi.setConfig({ testTimeout: 120_000 })

let cwd: string
beforeEach(() => void (cwd = mkdtempSync(path.join(tmpdir(), 'stackloom-labcli-'))))
afterEach(() => rmSync(cwd, { recursive: true }))

const run = async (...words: string[]) => {
  const io = testIo({ cwd, env: { HOME: cwd, PATH: process.env['PATH'] } })
  const code = await main(['lab', ...words], io)
  return { code, out: io.out(), err: io.err() }
}
const given = (text = labText()): void => writeFileSync(path.join(cwd, 'lab.yaml'), text)
/** Rendered with quick keys, so that commands find a tree. */
const rendered = () => renderLab(labWith(), path.join(cwd, 'osl'), { now: Date.now(), makeSshKey: generateSmallKey })

describe('stackloom lab', () => {
  it('sends a person who used it wrongly to the help of that very command', async () => {
    expect((await run('init', '--preset', 'five')).err).toContain('`stackloom lab init --help`')
  })

  it.each(presetNames)('init writes the preset %s, as examples/ has it', async (preset) => {
    const { code, out } = await run('init', '--preset', preset, '-f', '-')
    expect(code).toBe(0)
    expect(out).toBe(readFileSync(`examples/lab-${preset}.yaml`, 'utf8'))
  })

  it("init asks one question at a time, and document 004's answer is the default", async () => {
    const asked: [string, string][] = []
    const questions: Prompter = {
      text: async (message, standard) => (asked.push([message, standard]), standard),
      choose: async (message, choices) => (asked.push([message, choices[0] ?? '']), choices[0] as never),
    }
    const answers = await gatherLabAnswers({}, questions)
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

  it('check ends with 0 for warnings, 1 for errors, 2 for what is no lab', async () => {
    given()
    expect(await run('check')).toMatchObject({
      code: 0,
      out: expect.stringContaining('130 + 10 + 40 GiB disk; 0 errors'),
    })
    given(labText().replace('192.168.105.250', '192.168.106.250'))
    expect((await run('check')).code).toBe(1)
    given('kind: Site')
    expect((await run('check')).code).toBe(2)
  })

  it('check tells json: totals and findings with places', async () => {
    given()
    const { out } = await run('check', '-o', 'json')
    expect(JSON.parse(out)).toMatchObject({ lab: 'osl', totals: { memory: 72, cpus: 12 } })
  })

  it('render and up refuse a lab with errors and write nothing', async () => {
    given(labText().replace('192.168.105.250', '192.168.106.250'))
    for (const command of ['render', 'up']) expect((await run(command)).code).toBe(1)
    expect(existsSync(path.join(cwd, 'osl'))).toBe(false)
  })

  it('up --dry-run prints the exact commands and does nothing', async () => {
    given()
    await rendered()
    const { code, out } = await run('up', '--dry-run', '--from', 'bootstrap', '--until', 'deploy')
    expect(code).toBe(0)
    expect(out).toContain(`.stackloom/venv/bin/kolla-ansible deploy -i ${path.join(cwd, 'osl')}/kolla/multinode`)
    expect(existsSync(path.join(cwd, 'osl/.stackloom/state.json'))).toBe(false)
    expect((await run('up', '--dry-run', '--from', 'deplyo')).err).toContain('did you mean deploy')
  })

  it('up refuses a stage or a node that the lab does not have, before it writes anything', async () => {
    given()
    for (const words of [[], ['--dry-run']]) {
      expect(await run('up', '--replace', 'noed2', ...words)).toMatchObject({
        code: 2,
        err: expect.stringContaining('SL8315: the lab has no node noed2'),
      })
      expect((await run('up', '--until', 'deplyo', ...words)).code).toBe(2)
    }
    expect(existsSync(path.join(cwd, 'osl'))).toBe(false)
  })

  it('render --dry-run writes nothing, and says so', async () => {
    given()
    await rendered()
    const lost = path.join(cwd, 'osl/kolla/certificates/haproxy.pem')
    rmSync(lost)
    const { err } = await run('render', '--dry-run')
    expect(err).toContain('would make: certificates (external)')
    expect(err).toContain('osl: 1 created, 56 unchanged (dry run: nothing was written)')
    expect(existsSync(lost)).toBe(false)
  })

  it('down deletes only with the name of the lab typed', async () => {
    given()
    await rendered()
    expect(await run('down', '--delete', 'other')).toMatchObject({
      code: 2,
      err: expect.stringContaining('SL8309'),
    })
    expect(await run('down', '--delete')).toMatchObject({ code: 2, err: expect.stringContaining('SL8309') })
  })

  it('status and doctor say when there is no tree yet', async () => {
    given()
    for (const command of ['status', 'doctor']) expect((await run(command)).err).toContain('SL8310')
  })
})
