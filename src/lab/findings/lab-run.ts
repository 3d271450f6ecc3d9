/** SL83xx: the stages of a lab. */
import { problem } from '../../errors/finding.ts'

export const toolMissing = problem<{ tool: string; why: string; how: string }>({
  code: 'SL8301',
  severity: 'error',
  title: 'A program that a stage needs is missing',
  message: ({ tool, why }) => `${tool} cannot be started: ${why}`,
  remedy: ({ how }) => how,
  description: `The lab drives limactl, kolla-ansible, ssh and tofu. The stage \`host\` looks for those that the host must
have; kolla-ansible is installed by the stage \`deployer\`.`,
  example: { tool: 'limactl', why: 'it is not on PATH', how: 'brew install lima socket_vmnet' },
})

export const toolTooOld = problem<{ tool: string; found: string; least: string }>({
  code: 'SL8302',
  severity: 'error',
  title: 'A program is too old',
  message: ({ tool, found, least }) => `${tool} is ${found}; the lab needs ${least} or newer`,
  remedy: ({ tool }) => `brew upgrade ${tool === 'limactl' ? 'lima' : tool}`,
  description: `Lima before 2.2 boots from a random disk when there are extra ones, and does not retry socket_vmnet. QEMU
before 8.2.1 does not run on Apple Silicon as Lima starts it.`,
  example: { tool: 'limactl', found: '2.0.3', least: '2.2.0' },
})

export const vmsNeedMacos = problem<{ system: string }>({
  code: 'SL8303',
  severity: 'error',
  title: 'The VMs need macOS',
  message: ({ system }) => `Lima's vmnet networks exist on macOS only, and this is ${system}`,
  remedy: () =>
    'check, render and every stage but the VMs work here: run the VMs on a Mac, or use --from dns with machines of your own',
  description: `socket_vmnet uses Apple's vmnet framework. On Linux Lima refuses such networks.`,
  example: { system: 'linux' },
})

export const sudoersStale = problem<{ command: string }>({
  code: 'SL8304',
  severity: 'error',
  title: "Lima's sudoers file does not match its networks",
  message: () => 'limactl may not start socket_vmnet: its sudoers file is missing or out of date',
  remedy: ({ command }) => `run: ${command}`,
  description: `Lima starts socket_vmnet with sudo and insists that the sudoers file is exactly what \`limactl sudoers\` prints.
Every change of networks.yaml and every upgrade of socket_vmnet changes it. Stackloom never runs sudo for you.`,
  example: { command: 'limactl sudoers | sudo tee /private/etc/sudoers.d/lima' },
})

export const stageFailed = problem<{ command: string; how: string; cause: string; log: string }>({
  code: 'SL8305',
  severity: 'error',
  title: 'A command of a stage failed',
  message: ({ command, how, cause }) => `${command} ${how}${cause ? `: ${cause}` : ''}`,
  remedy: ({ log }) =>
    `the whole output is in ${log}; repair the cause and run \`stackloom lab up\` again: it resumes here`,
  description: `A stage runs other programs. What they printed is kept per stage below \`.stackloom/logs\`; the cause is quoted
from it.`,
  example: {
    command: 'limactl start',
    how: 'exited with code 1',
    cause: 'disk locked',
    log: '.stackloom/logs/vms.log',
  },
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
  title: 'An Ansible task failed',
  message: ({ task, host, cause, more }) =>
    `the task ${JSON.stringify(task)} failed on ${host}: ${cause}${more > 0 ? ` (and ${more} more failures)` : ''}`,
  remedy: ({ log }) =>
    `the whole output is in ${log}; repair the cause and run \`stackloom lab up\` again: it resumes here`,
  description: `The last lines of Ansible's output are a recap, not the cause. Quoted here is the first task that failed, on
which host, and what its module said.`,
  example: {
    task: 'mariadb : Wait for MariaDB service port liveness',
    host: 'node1',
    cause: 'Timeout when waiting for search string MariaDB',
    log: '.stackloom/logs/deploy.log',
    more: 0,
  },
})

export const replaceNeedsConsent = problem<{ nodes: readonly string[]; changes: string }>({
  code: 'SL8307',
  severity: 'error',
  title: 'A VM must be replaced',
  message: ({ nodes, changes }) => `replace ${nodes.join(', ')}: ${changes}`,
  remedy: ({ nodes }) => `consent with ${nodes.map((node) => `--replace ${node}`).join(' ')}; data disks are kept`,
  description: `VMs are replaced, not patched. A replacement deletes the VM and its OS disk and makes it anew from the
definition; its data disks (LVM, OSD, state) stay. A change of CPUs or memory alone is a stop and a start.`,
  example: { nodes: ['node2'], changes: 'node2: images, provision' },
})

export const replaceLosesState = problem<{ node: string }>({
  code: 'SL8308',
  severity: 'error',
  title: "A replacement would delete the cloud's state",
  message: ({ node }) =>
    `${node} holds the database on its OS disk, and there is no backup that this run could restore`,
  remedy: ({ node }) =>
    `run \`stackloom lab backup\` first and then --replace ${node}: the same run restores it; or give ${node} a state disk from the start`,
  description: `Without a disk of its own for /var/lib/docker, replacing a controller deletes the database, the queue and
Glance's images. It is refused unless \`.stackloom/backups\` holds a backup of the database; the run that replaces the VM
then restores it after the deployment.`,
  example: { node: 'node1' },
})

export const deleteNeedsName = problem<{ lab: string; typed: string | undefined }>({
  code: 'SL8309',
  severity: 'error',
  title: 'Deleting a lab needs its name',
  message: ({ lab, typed }) =>
    typed === undefined ? `deleting needs the name of the lab: ${lab}` : `the lab is called ${lab}, not ${typed}`,
  remedy: ({ lab }) => `stackloom lab down --delete ${lab}; without --delete the VMs are only stopped`,
  description: `\`lab down\` stops the VMs and keeps everything. \`--delete NAME\` deletes VMs and data disks for good; typing
the name is the consent.`,
  example: { lab: 'osl', typed: undefined },
})

export const notRendered = problem<{ folder: string }>({
  code: 'SL8310',
  severity: 'error',
  title: 'The lab was not rendered yet',
  message: ({ folder }) => `${folder} holds no rendered lab`,
  remedy: () => 'run `stackloom lab render` or `stackloom lab up` first',
  description: `Status, doctor, snapshots and down work on what was rendered: keys, names and addresses are there.`,
  example: { folder: 'osl' },
})

export const labLocked = problem<{ pid: number; folder: string }>({
  code: 'SL8311',
  severity: 'error',
  title: 'Another run works on this lab',
  message: ({ pid, folder }) => `process ${pid} is at work on ${folder}`,
  remedy: () => 'wait for it, or end it',
  description: `Two runs would give the VMs contradicting orders. A run that was killed leaves nothing behind that stops the
next one: the lock counts only while its process lives.`,
  example: { pid: 4242, folder: 'osl' },
})

export const diskShrinks = problem<{ disk: string; from: string; to: string }>({
  code: 'SL8312',
  severity: 'error',
  title: 'A disk cannot become smaller',
  message: ({ disk, from, to }) => `${disk} has ${from} and cannot shrink to ${to}`,
  remedy: ({ disk, from }) => `set its size to at least ${from}, or delete the disk: limactl disk delete ${disk}`,
  description: `Shrinking would cut off data. Growing works: the disk is resized before its VM starts.`,
  example: { disk: 'osl-node3-lvm', from: '20GiB', to: '10GiB' },
})

export const snapshotNeedsRunning = problem<{ nodes: readonly string[] }>({
  code: 'SL8313',
  severity: 'error',
  title: 'A snapshot needs all VMs running',
  message: ({ nodes }) => `not running: ${nodes.join(', ')}`,
  remedy: () => 'start the lab with `stackloom lab up --until vms`, then try again',
  description: `A snapshot of a stopped VM covers its OS disk only: the LVM and OSD disks would be left out, and the lab would
come back torn. Running VMs are saved with memory and all disks. Snapshots are experimental in Lima.`,
  example: { nodes: ['node3'] },
})

export const limaNetworkConflict = problem<{ network: string; file: string; why: string }>({
  code: 'SL8314',
  severity: 'error',
  title: "Lima's networks.yaml says something else about a network of the lab",
  message: ({ network, file, why }) => `${file} has ${network} already: ${why}`,
  remedy: ({ network }) => `stop its VMs and remove ${network} from the file, or change the lab file to match`,
  description: `networks.yaml belongs to all VMs of a Lima home. The lab's networks are added to it; one of the same name with
other settings is not overwritten, because VMs may be using it.`,
  example: {
    network: 'osl-mgmt',
    file: '~/.lima/_config/networks.yaml',
    why: 'its gateway is 192.168.106.1',
  },
})

export const unknownNode = problem<{ node: string; known: readonly string[] }>({
  code: 'SL8315',
  severity: 'error',
  title: 'The lab has no node of this name',
  message: ({ node }) => `the lab has no node ${node}`,
  remedy: ({ known }) => `the nodes are ${known.join(', ')}`,
  description: `\`--replace\` takes the name of a node in the lab file. Nothing was done.`,
  example: { node: 'node9', known: ['node1', 'node2', 'node3'] },
})

export const limaQueryFailed = problem<{ command: string; why: string }>({
  code: 'SL8316',
  severity: 'error',
  title: 'Lima does not tell which VMs there are',
  message: ({ command, why }) => `${command} failed: ${why}`,
  remedy: ({ command }) => `run \`${command}\` yourself, and repair what it says`,
  description: `What has to happen to a VM depends on whether it is there. Without an answer nothing is assumed, and nothing
was done.`,
  example: { command: 'limactl list --json', why: 'permission denied' },
})

export const incompleteSnapshot = problem<{ tag: string; missing: readonly string[]; known: readonly string[] }>({
  code: 'SL8317',
  severity: 'error',
  title: 'Not every VM has this snapshot',
  message: ({ tag, missing }) => `there is no snapshot ${tag} of ${missing.join(', ')}`,
  remedy: ({ known }) =>
    known.length === 0
      ? 'take one with `stackloom lab snapshot create TAG`'
      : `the lab can go back to ${known.join(', ')}`,
  description: `A lab goes back as a whole. When one VM did and another could not, databases, queues and disks would be of
different times. Nothing was done.`,
  example: { tag: 'before-cpeh', missing: ['node1', 'node2', 'node3'], known: ['before-ceph'] },
})
