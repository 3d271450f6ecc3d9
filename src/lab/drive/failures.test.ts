import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { count } from '../../../test/counts.ts'
import { labTextWith } from '../../../test/lab.ts'
import { createLabRig, lvmAndCephLab, outcomes } from '../../../test/lab-rig.ts'
import { systemClock } from '../../clock/clock.ts'

const rig = createLabRig()

const FAILURES: readonly (readonly [string, string, string])[] = [
  ['host', 'sudoers', 'SL8304'],
  ['deployer', 'pip install', 'SL8305'],
  ['images', 'kolla-build', 'SL8305'],
  ['disks', 'disk create osl-node2', 'SL8305'],
  ['vms', 'start osl-node2', 'SL8305'],
  ['dns', 'scp*bind', 'SL8305'],
  ['certificates', 'openssl', 'SL8305'],
  ['bootstrap', 'kolla-ansible bootstrap', 'SL8306'],
  ['prechecks', 'kolla-ansible prechecks', 'SL8306'],
  ['pull', 'kolla-ansible pull', 'SL8306'],
  ['deploy', 'kolla-ansible deploy', 'SL8306'],
  ['post-deploy', 'kolla-ansible post-deploy', 'SL8306'],
  ['resources', 'tofu*apply', 'SL8305'],
  ['ceph', 'kolla-ansible reconfigure', 'SL8306'],
]

/** `make test` tries every stage in one of the two ways, `make soak` in both. */
const every = count({ test: 2, soak: 1 })
const failing = FAILURES.filter((_, index) => index % every === 0)
const killed = FAILURES.filter((_, index) => (index + 1) % every === 0)

/** Only a lab with Ubuntu images builds images. */
const changesFor = (stage: string): Readonly<Record<string, unknown>> =>
  stage === 'images' ? { 'spec.containers': { base: 'ubuntu' } } : {}

describe('a failed stage', () => {
  it.each(failing)('(%s) reports its cause, and the next run continues from it', async (stage, pattern, code) => {
    const lab = lvmAndCephLab(changesFor(stage))
    const report = await rig.up(lab, { env: { FAKE_TOOL_FAIL: pattern } })
    expect(report.outcome).toBe('failed')
    expect(outcomes(report)[stage]).toBe('failed')
    const finding = rig.findings().find((finding) => finding.code === code)
    expect(finding?.message).toBeTruthy()
    if (code === 'SL8306') {
      expect(finding?.message).toContain('mariadb : Wait for MariaDB service port liveness')
      expect(finding?.message).toContain('on node1: Timeout when waiting for search string MariaDB')
    }
    const done = Object.entries(outcomes(report)).filter(([, outcome]) => outcome === 'done')
    const again = await rig.up(lab)
    expect(again.outcome).toBe('done')
    const repeated = done.map(([name]) => outcomes(again)[name]).filter((outcome) => outcome !== 'skipped')
    // `host` checks the tools on every run.
    expect(repeated.length).toBeLessThanOrEqual(1)
  })
})

describe('kill -9', () => {
  let program: string
  beforeAll(async () => {
    // Below the repository, where the program finds data/.
    const modules = path.join(import.meta.dirname, '../../../node_modules')
    program = path.join(mkdtempSync(path.join(modules, '.lab-up-')), 'run.mjs')
    await build({
      entryPoints: [path.join(import.meta.dirname, '../../../test/lab-up-process.ts')],
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: program,
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
    })
    return () => rmSync(path.dirname(program), { recursive: true })
  })

  it.each(killed)('in %s loses nothing, and the next run completes', async (stage, pattern) => {
    const file = path.join(rig.base, 'lab.yaml')
    writeFileSync(file, labTextWith(changesFor(stage), { phase: 'both' }))
    const child = spawn(process.execPath, [program, file, rig.folder], {
      env: { ...process.env, ...rig.tools.env, FAKE_TOOL_HANG: pattern },
      stdio: 'ignore',
    })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    while (rig.tools.hungPid() === undefined && child.exitCode === null) await systemClock.sleep(20)
    const hung = rig.tools.hungPid()
    expect(hung).toBeDefined()
    const before = existsSync(path.join(rig.base, 'lima')) ? rig.diskIds() : {}
    child.kill('SIGKILL')
    await ended
    process.kill(hung as number, 'SIGKILL')
    expect((await rig.up(lvmAndCephLab(changesFor(stage)))).outcome).toBe('done')
    // No existing disk was created again.
    expect(rig.diskIds()).toMatchObject(before)
    expect(rig.tools.calls().filter((call) => call.includes('delete'))).toEqual([])
  })
})
