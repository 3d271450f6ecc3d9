/** Runs the quick start of the README with an installed program, in a folder of its own, as a new user would. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

export interface Ran {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface QuickStart {
  readonly init: Ran
  readonly plan: Ran
  readonly render: Ran
  readonly site: string
}

/** `program` is found in PATH; nothing else of this machine's configuration is used. */
export function runInstalled(
  program: string,
  args: readonly string[],
  bin: string,
  cwd: string,
  systemPath = process.env['PATH'],
): Ran {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    env: { PATH: `${bin}:${systemPath}`, HOME: cwd, NO_COLOR: '1' },
  })
  return { status, stdout, stderr }
}

export function runQuickStart(bin: string, systemPath?: string): QuickStart {
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-quick-start-'))
  const run = (...args: readonly string[]): Ran => runInstalled('stackloom', args, bin, folder, systemPath)
  try {
    const init = run('init', '--cloud', 'rhoso1=openstack', '--cloud', 'rhoso2=openstack2')
    const plan = run('plan')
    const render = run('render', '--out', 'tree')
    return { init, plan, render, site: readFileSync(path.join(folder, 'site.yaml'), 'utf8') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
