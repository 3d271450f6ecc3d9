import { describe, expect, it } from 'vitest'
import { labWith, renderTestTree } from '../../../test/lab.ts'
import type { Lab } from '../lab.ts'
import type { DriveContext } from './stage.ts'
import { labStages } from './stages.ts'

/** Files that no stage has as an input, and why a change of them is not missed. */
const NO_INPUT: Readonly<Record<string, RegExp>> = {
  'for people and their tools': /^(\.gitignore|README\.md|scripts\/[^/]+\.sh|ssh\/config)$/,
  'disks and VMs are compared with the world each time': /^(lima\/|ssh\/id_ed25519(\.pub)?$)/,
  'how a stage does it, not what': /^scripts\/node\//,
}

function inputsOf(lab: Lab): readonly string[] {
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

describe('what stages depend on', () => {
  const mine = { 'spec.openstack.config': { 'nova.conf': '[DEFAULT]\ndebug = true\n' } }
  const labs: readonly (readonly [string, Lab])[] = [
    ['lvm', labWith(mine)],
    ['lvm and Ceph', labWith(mine, { phase: 'both' })],
    ['Ceph', labWith(mine, { phase: 'ceph' })],
  ]

  it.each(labs)('is every file of the tree that could change what they do: %s', (_, lab) => {
    const inputs = new Set(inputsOf(lab))
    const missed = renderTestTree(lab)
      .map((file) => file.path)
      .filter((path) => !inputs.has(path) && !Object.values(NO_INPUT).some((why) => why.test(path)))
    expect(missed).toEqual([])
  })

  it.each(labs)('is in the tree: %s', (_, lab) => {
    const paths = new Set(renderTestTree(lab).map((file) => file.path))
    expect(inputsOf(lab).filter((path) => !paths.has(path))).toEqual([])
  })
})
