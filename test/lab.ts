/** Builds labs for tests: the presets with changes. */
import { parse, stringify } from 'yaml'
import { certificatePaths } from '../src/lab/certificates.ts'
import { type Lab, usesCeph } from '../src/lab/lab.ts'
import { defaultAnswers, type PresetAnswers, renderPreset } from '../src/lab/presets.ts'
import { type ReadLabResult, readLab } from '../src/lab/read-lab.ts'
import type { LabSecrets } from '../src/lab/secrets.ts'
import { generateRsaKey } from '../src/lab/ssh.ts'
import type { TreeFile } from '../src/lab/tree.ts'
import { type TreeInput, treeFiles } from '../src/lab/tree-files.ts'

type Tree = Record<string, unknown>

export function labText(answers: Partial<PresetAnswers> = {}): string {
  return renderPreset({ ...defaultAnswers, ...answers })
}

/** A preset with values set or removed, by path: `{ 'spec.vips.internal': '…' }`. */
export function labTextWith(changes: Readonly<Record<string, unknown>>, answers: Partial<PresetAnswers> = {}): string {
  const file = parse(labText(answers)) as Tree
  for (const [path, value] of Object.entries(changes)) {
    const steps = path.split('.')
    const last = steps.pop() as string
    const parent = steps.reduce<Tree>((here, step) => (here[step] ??= {}) as Tree, file)
    if (value === undefined) delete parent[last]
    else parent[last] = value
  }
  return stringify(file)
}

export function readLabWith(
  changes: Readonly<Record<string, unknown>>,
  answers: Partial<PresetAnswers> = {},
): ReadLabResult {
  return readLab(labTextWith(changes, answers), 'lab.yaml')
}

export function labWith(changes: Readonly<Record<string, unknown>> = {}, answers: Partial<PresetAnswers> = {}): Lab {
  const { lab, findings } = readLabWith(changes, answers)
  if (!lab) throw new Error(findings.map((finding) => finding.message).join('\n'))
  return lab
}

/** The three-node preset with a fourth node; the other three are unchanged. */
export function labWithFourthNode(): Lab {
  const nodes = labWith().nodes.map((node, index) => ({
    name: node.name,
    roles: node.roles,
    cpus: node.cpus,
    memory: `${node.memory}GiB`,
    disk: `${node.disk}GiB`,
    disks: Object.fromEntries(node.disks.map((disk) => [disk.use, `${disk.size}GiB`])),
    host: 11 + index,
  }))
  const extra = { name: 'node4', roles: ['compute'], cpus: 4, memory: '8GiB', disk: '40GiB', host: 14 }
  return labWith({ 'spec.nodes': [...nodes, extra] })
}

/** Renders a tree with placeholders as secrets, so that no key is generated. */
export function renderTestTree(lab: Lab, existing: TreeInput['existing'] = () => undefined): readonly TreeFile[] {
  const secrets: LabSecrets = {
    ssh: { private_key: 'private', public_key: 'public' },
    passwords: 'passwords\n',
    certificates: certificatePaths(lab).map((path) => ({ path, text: 'certificate\n', secret: true })),
    ...(usesCeph(lab) && { ceph: { fsid: 'fsid', keys: {} } }),
    made: [],
  }
  return treeFiles({ lab, secrets, folder: '/lab', existing })
}

/** A key of 4096 bits takes seconds on a busy machine, and no test depends on the size. */
export const generateSmallKey = () => generateRsaKey(1024)
