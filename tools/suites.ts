/**
 * Lists the test suites, their folders and how many minutes of `make test` each may take.
 *
 * A file belongs to the suite with the longest matching folder, so each file runs exactly once.
 */

export interface Suite {
  readonly name: string
  /** Minutes of `make test` on a machine that has run it before. */
  readonly budgetMinutes: number
  readonly folders: readonly string[]
}

/** Two run at a time, in this order, which pairs suites that need many clusters with suites that need few. */
export const suites: readonly Suite[] = [
  {
    name: 'deploy',
    budgetMinutes: 5,
    folders: ['src/deploy', 'src/run', 'src/cli/up', 'src/cli/down', 'test/real/deploy'],
  },
  { name: 'lab', budgetMinutes: 2, folders: ['src/lab', 'src/cli/lab', 'test/real/lab'] },
  {
    name: 'plan',
    budgetMinutes: 1,
    folders: [
      'src/net',
      'src/site',
      'src/plan',
      'src/api',
      'src/cli/plan',
      'src/cli/ip',
      'src/cli/init',
      'src/cli/import',
      'src/cli/schema',
      'test/real/plan',
    ],
  },
  {
    name: 'render',
    budgetMinutes: 4,
    folders: ['src/render', 'src/cli/render', 'src/cli/slots', 'test/real/render'],
  },
  { name: 'rehearse', budgetMinutes: 5, folders: ['src/rehearse', 'src/cli/rehearse', 'test/real/rehearse'] },
  { name: 'foundation', budgetMinutes: 3, folders: ['src', 'tools', 'test'] },
  {
    name: 'data plane',
    budgetMinutes: 4,
    folders: ['src/ini', 'src/dataplane', 'src/cli/dataplane', 'src/cli/config', 'test/real/dataplane'],
  },
  {
    name: 'ipam',
    budgetMinutes: 3,
    folders: ['src/controllers', 'src/webhooks', 'src/operator', 'src/cli/operator', 'src/cli/ipam', 'test/real/ipam'],
  },
  { name: 'dns', budgetMinutes: 2, folders: ['src/controllers/dns', 'src/cli/dns', 'test/real/dns'] },
  {
    name: 'verify',
    budgetMinutes: 2,
    folders: ['src/verify', 'src/doctor', 'src/cli/verify', 'src/cli/doctor', 'test/real/verify'],
  },
  {
    name: 'console',
    budgetMinutes: 4,
    folders: ['src/console', 'src/cli/console', 'web', 'test/real/console'],
  },
  { name: 'pods', budgetMinutes: 5, folders: ['test/real/pods'] },
  { name: 'hosts', budgetMinutes: 6, folders: ['src/sandbox/hosts', 'src/sandbox/openstack', 'test/real/hosts'] },
  { name: 'packages', budgetMinutes: 3, folders: ['test/real/packages'] },
]

/** Returns undefined for a test file that belongs to no suite. */
export function findSuite(file: string, all: readonly Suite[] = suites): Suite | undefined {
  let best: { readonly suite: Suite; readonly length: number } | undefined
  for (const suite of all) {
    for (const folder of suite.folders) {
      if (file.startsWith(`${folder}/`) && folder.length > (best?.length ?? 0)) best = { suite, length: folder.length }
    }
  }
  return best?.suite
}
