/** SL83xx: running the stages of a lab. */
import { problem } from '../../errors/finding.ts'

export const toolMissing = problem<{ tool: string; why: string; how: string }>({
  code: 'SL8301',
  severity: 'error',
  message: ({ tool, why }) => `${tool} cannot be started: ${why}`,
  remedy: ({ how }) => how,
})

export const toolTooOld = problem<{ tool: string; found: string; least: string }>({
  code: 'SL8302',
  severity: 'error',
  message: ({ tool, found, least }) => `${tool} has the version ${found}; the lab needs ${least} or newer`,
  remedy: ({ tool }) => `\`brew upgrade ${tool === 'limactl' ? 'lima' : tool}\``,
})

export const vmsNeedMacos = problem<{ system: string }>({
  code: 'SL8303',
  severity: 'error',
  message: ({ system }) => `Lima has vmnet networks on macOS only, and this is ${system}`,
  remedy: () =>
    'run the VMs on a Mac, or use --from-stage dns with your own machines; check, render and all other stages work here',
})

export const sudoersStale = problem<{ command: string }>({
  code: 'SL8304',
  severity: 'error',
  message: () => 'limactl cannot start socket_vmnet: its sudoers file is missing or out of date',
  remedy: ({ command }) => `run \`${command}\``,
})

export const stageFailed = problem<{ command: string; how: string; cause: string; log: string }>({
  code: 'SL8305',
  severity: 'error',
  message: ({ command, how, cause }) => `${command} ${how}${cause ? `: ${cause}` : ''}`,
  remedy: ({ log }) => `fix the cause (full output: ${log}) and run \`stackloom lab up\` again: it resumes here`,
})

export const ansibleFailed = problem<{
  task: string
  host: string
  cause: string
  log: string
  more: number
}>({
  code: 'SL8306',
  severity: 'error',
  message: ({ task, host, cause, more }) =>
    `the task ${JSON.stringify(task)} failed on ${host}: ${cause}${more > 0 ? ` (and ${more} more failures)` : ''}`,
  remedy: ({ log }) => `fix the cause (full output: ${log}) and run \`stackloom lab up\` again: it resumes here`,
})

export const replaceNeedsConsent = problem<{ nodes: readonly string[]; changes: string }>({
  code: 'SL8307',
  severity: 'error',
  message: ({ nodes, changes }) => `replace ${nodes.join(', ')}: ${changes}`,
  remedy: ({ nodes }) => `allow it with ${nodes.map((node) => `--replace ${node}`).join(' ')}; data disks are kept`,
})

export const replaceLosesState = problem<{ node: string }>({
  code: 'SL8308',
  severity: 'error',
  message: ({ node }) => `${node} has the database on its OS disk, and there is no backup to restore`,
  remedy: ({ node }) =>
    `run \`stackloom lab backup\` and then \`stackloom lab up --replace ${node}\`, which restores the backup`,
})

export const deleteNeedsName = problem<{ lab: string; typed: string | undefined }>({
  code: 'SL8309',
  severity: 'error',
  message: ({ lab, typed }) =>
    typed === undefined ? `--delete needs the name of the lab: ${lab}` : `the lab is called ${lab}, not ${typed}`,
  remedy: ({ lab }) => `run \`stackloom lab down --delete ${lab}\`; without --delete the VMs are only stopped`,
})

export const notRendered = problem<{ folder: string }>({
  code: 'SL8310',
  severity: 'error',
  message: ({ folder }) => `${folder} has no rendered lab`,
  remedy: () => 'run `stackloom lab render` or `stackloom lab up` first',
})

export const labLocked = problem<{ holder: string; folder: string }>({
  code: 'SL8311',
  severity: 'error',
  message: ({ holder, folder }) => `${holder === '' ? 'another process' : `process ${holder}`} is using ${folder}`,
  remedy: () => 'wait until it ends, or stop it',
})

export const imageMissing = problem<{ file: string }>({
  code: 'SL8333',
  severity: 'error',
  message: ({ file }) => `${file}, the image for instances, does not exist`,
  remedy: ({ file }) => `put the image there as ${file}, or set terraform.image.file to its URL`,
})

export const nameNotResolved = problem<{ name: string; address: string; answer: string; command: string }>({
  code: 'SL8334',
  severity: 'error',
  message: ({ name, address, answer }) => {
    const found = answer === '' ? 'no address' : answer
    return `this machine resolves ${name} to ${found} instead of ${address}`
  },
  remedy: ({ command }) => `run \`${command}\``,
})

export const socketVmnetUnusable = problem<{ path: string; why: string }>({
  code: 'SL8335',
  severity: 'error',
  message: ({ path, why }) => `Lima will not start ${path}: ${why}`,
  remedy: () =>
    'install it from its release archive, not with brew: `sudo tar -C / -xzf socket_vmnet-VERSION-arm64.tar.gz opt/socket_vmnet`',
})

export const diskShrinks = problem<{ disk: string; from: string; to: string }>({
  code: 'SL8312',
  severity: 'error',
  message: ({ disk, from, to }) => `${disk} has ${from} and cannot shrink to ${to}`,
  remedy: ({ disk, from }) =>
    `set its size to at least ${from}, or delete the disk with \`limactl disk delete ${disk}\``,
})

export const snapshotNeedsRunning = problem<{ nodes: readonly string[] }>({
  code: 'SL8313',
  severity: 'error',
  message: ({ nodes }) => `not running: ${nodes.join(', ')}`,
  remedy: () => 'start the lab with `stackloom lab up --until vms`, then try again',
})

export const limaNetworkConflict = problem<{ network: string; file: string; why: string }>({
  code: 'SL8314',
  severity: 'error',
  message: ({ network, file, why }) => `${file} has ${network} already: ${why}`,
  remedy: ({ network }) => `stop the VMs on ${network} and remove it from the file, or change the lab file to match`,
})

export const unknownNode = problem<{ node: string; known: readonly string[] }>({
  code: 'SL8315',
  severity: 'error',
  message: ({ node }) => `the lab has no node ${node}`,
  remedy: ({ known }) => `the nodes are ${known.join(', ')}`,
})

export const limaQueryFailed = problem<{ command: string; why: string }>({
  code: 'SL8316',
  severity: 'error',
  message: ({ command, why }) => `${command} failed: ${why}`,
  remedy: ({ command }) => `run \`${command}\` and fix the problem that it reports`,
})

export const incompleteSnapshot = problem<{ tag: string; missing: readonly string[]; known: readonly string[] }>({
  code: 'SL8317',
  severity: 'error',
  message: ({ tag, missing }) => `there is no snapshot ${tag} of ${missing.join(', ')}`,
  remedy: ({ known }) =>
    known.length === 0
      ? 'create one with `stackloom lab snapshot create TAG`'
      : `choose a complete snapshot: ${known.join(', ')}`,
})
