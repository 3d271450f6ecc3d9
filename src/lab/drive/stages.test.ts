import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { labWith, renderTestTree } from '../../../test/lab.ts'
import type { Lab } from '../lab.ts'
import type { DriveContext } from './stage.ts'
import { labStages } from './stages.ts'

/** Files that are input of no stage, and why a change of them is not missed. */
const NO_INPUT: Readonly<Record<string, RegExp>> = {
  'for users and their tools': /^(\.gitignore|README\.md|scripts\/[^/]+\.sh|ssh\/config)$/,
  'disks and VMs are compared with Lima on every run': /^(lima\/|ssh\/id_ed25519(\.pub)?$)/,
  'scripts of stages, not their inputs': /^scripts\/node\//,
}

function readAllInputs(lab: Lab): readonly string[] {
  const read: string[] = []
  const context = {
    lab,
    tools: { venv: 'venv' },
    read: (path: string) => void read.push(path),
    state: () => ({ stages: {}, generations: {} }),
  } as unknown as DriveContext
  for (const stage of labStages) if (stage.skipReason?.(lab) === undefined) stage.inputs?.(context)
  return read
}

describe('the inputs of stages', () => {
  const custom = { 'spec.openstack.config': { 'nova.conf': '[DEFAULT]\ndebug = true\n' } }
  const labs: readonly (readonly [string, Lab])[] = [
    ['lvm', labWith(custom)],
    ['lvm and Ceph', labWith(custom, { phase: 'both' })],
    ['Ceph', labWith(custom, { phase: 'ceph' })],
  ]

  it.each(labs)('include every file of the tree that affects a deployment: %s', (_, lab) => {
    const inputs = new Set(readAllInputs(lab))
    const missed = renderTestTree(lab)
      .map((file) => file.path)
      .filter((path) => !inputs.has(path) && !Object.values(NO_INPUT).some((why) => why.test(path)))
    expect(missed).toEqual([])
  })

  it.each(labs)('are files of the tree: %s', (_, lab) => {
    const paths = new Set(renderTestTree(lab).map((file) => file.path))
    expect(readAllInputs(lab).filter((path) => !paths.has(path))).toEqual([])
  })
})

describe('the Python packages of a lab', () => {
  const files = async (): Promise<readonly string[]> => {
    const lab = labWith({ 'spec.containers': { base: 'ubuntu' } })
    const context = { lab, tools: { venv: 'venv' } } as unknown as DriveContext
    const stages = labStages.filter(({ name }) => name === 'deployer' || name === 'images')
    const steps = (await Promise.all(stages.map((stage) => stage.steps(context)))).flat()
    const commands = steps.flatMap((step) => (step.kind === 'run' ? [step.command] : []))
    return commands.flatMap(([program = '', ...args]) => {
      if (!program.endsWith('/pip')) return []
      expect(args.slice(0, -1)).toEqual(['install', '-q', '--require-hashes', '-r'])
      return args.slice(-1)
    })
  }

  it('are installed only from files that list a version and hashes of each', async () => {
    const found = await files()
    expect(found).toHaveLength(2)
    for (const file of found) {
      const entries = readFileSync(file, 'utf8')
        .split(/\n(?! )/)
        .filter((entry) => entry !== '')
      const unverified = entries.filter(
        (entry) => !/^[\w.-]+==[^\s\\]+ [^\\]*\\\n +--hash=sha256:[0-9a-f]{64}/.test(entry),
      )
      expect(unverified).toEqual([])
      expect(entries.length).toBeGreaterThan(10)
    }
  })
})
