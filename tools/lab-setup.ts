/**
 * Installs the programs that tests of the lab use: limactl, tofu and the OpenStack provider from their pins, and
 * Kolla-Ansible in a virtual environment. They are kept in the user's cache.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Failure } from '../src/errors/failure.ts'
import { deployerRequirements, pipInstall } from '../src/lab/drive/stages/host.ts'
import { ensurePins } from '../src/sandbox/build/ensure-programs.ts'
import type { ProgramPin } from '../src/sandbox/programs.ts'
import { resolveSandboxPaths } from '../src/sandbox/sandbox-context.ts'
import { sandboxContext } from '../test/sandbox-context.ts'

const pins = {
  limactl: {
    pin: 'lima',
    package: 'github.com/lima-vm/lima/v2/cmd/limactl',
    ldflags: '-X github.com/lima-vm/lima/v2/pkg/version.Version=2.2.0',
  },
  tofu: { pin: 'opentofu', package: 'github.com/opentofu/opentofu/cmd/tofu' },
  'terraform-provider-openstack': {
    pin: 'terraform-provider-openstack',
    package: 'github.com/terraform-provider-openstack/terraform-provider-openstack/v3',
  },
} as const satisfies Readonly<Record<string, ProgramPin>>

export type LabProgram = keyof typeof pins

/** Paths by program; builds missing programs. */
export async function labPrograms(): Promise<Readonly<Record<LabProgram, string>>> {
  const names = Object.keys(pins) as LabProgram[]
  return ensurePins(
    names,
    pins,
    sandboxContext(() => undefined),
  )
}

export function kollaVenv(): string {
  return path.join(resolveSandboxPaths(process.env).cache, 'venvs', 'kolla-ansible_21.3.0-ansible_12_13')
}

export function hasKollaVenv(): boolean {
  return existsSync(path.join(kollaVenv(), 'complete'))
}

/** Returns false when something could not be installed; tests that need it are skipped with the reason. */
export async function setUpLab(): Promise<boolean> {
  const venv = setUpVenv()
  try {
    await labPrograms()
    return venv
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    console.log(`setup: limactl and tofu are not available: ${thrown.message}`)
    return false
  }
}

function setUpVenv(): boolean {
  if (hasKollaVenv()) return true
  const folder = kollaVenv()
  console.log('setup: installing Kolla-Ansible into a virtual environment (once, one or two minutes)')
  rmSync(folder, { recursive: true, force: true })
  const created = spawnSync('python3', ['-m', 'venv', folder]).status === 0
  const pip = [...pipInstall(deployerRequirements), '--disable-pip-version-check']
  if (
    !created ||
    spawnSync(path.join(folder, 'bin/pip'), pip, { stdio: ['ignore', 'ignore', 'inherit'] }).status !== 0
  ) {
    console.log('setup: Kolla-Ansible is not available: Python or its packages are missing')
    return false
  }
  // Written last: a venv without this file is incomplete.
  writeFileSync(path.join(folder, 'complete.part'), '')
  renameSync(path.join(folder, 'complete.part'), path.join(folder, 'complete'))
  return true
}
