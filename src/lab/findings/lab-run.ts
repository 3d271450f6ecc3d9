/** SL83xx: running the stages of a lab. */
import { problem } from '../../errors/finding.ts'

export const toolMissing = problem<{ tool: string; why: string; how: string }>({
  code: 'SL8301',
  severity: 'error',
  title: 'A program that a stage needs is missing',
  message: ({ tool, why }) => `${tool} cannot be started: ${why}`,
  remedy: ({ how }) => how,
  description: `A lab runs limactl, kolla-ansible, ssh and tofu. The stage \`host\` checks those that you install; the stage
\`deployer\` installs kolla-ansible.`,
  example: { tool: 'limactl', why: 'it is not on PATH', how: 'brew install lima socket_vmnet' },
})

export const toolTooOld = problem<{ tool: string; found: string; least: string }>({
  code: 'SL8302',
  severity: 'error',
  title: 'A program is too old',
  message: ({ tool, found, least }) => `${tool} has the version ${found}; the lab needs ${least} or newer`,
  remedy: ({ tool }) => `brew upgrade ${tool === 'limactl' ? 'lima' : tool}`,
  description: `Lima before 2.2 boots from a random disk when a VM has additional disks, and does not retry socket_vmnet.
QEMU before 8.2.1 does not start on Apple Silicon with Lima's options.`,
  example: { tool: 'limactl', found: '2.0.3', least: '2.2.0' },
})

export const vmsNeedMacos = problem<{ system: string }>({
  code: 'SL8303',
  severity: 'error',
  title: 'The VMs need macOS',
  message: ({ system }) => `Lima has vmnet networks on macOS only, and this is ${system}`,
  remedy: () =>
    'run the VMs on a Mac, or use --from dns with your own machines; check, render and all other stages work here',
  description: `socket_vmnet uses Apple's vmnet framework. On Linux Lima refuses such networks.`,
  example: { system: 'linux' },
})

export const sudoersStale = problem<{ command: string }>({
  code: 'SL8304',
  severity: 'error',
  title: "Lima's sudoers file does not match its networks",
  message: () => 'limactl cannot start socket_vmnet: its sudoers file is missing or out of date',
  remedy: ({ command }) => `run: ${command}`,
  description: `Lima starts socket_vmnet with sudo and requires a sudoers file that is exactly the output of
\`limactl sudoers\`. Every change of networks.yaml and every upgrade of socket_vmnet changes it. Stackloom never runs
sudo for you.`,
  example: { command: 'limactl sudoers | sudo tee /private/etc/sudoers.d/lima' },
})

export const stageFailed = problem<{ command: string; how: string; cause: string; log: string }>({
  code: 'SL8305',
  severity: 'error',
  title: 'A command of a stage failed',
  message: ({ command, how, cause }) => `${command} ${how}${cause ? `: ${cause}` : ''}`,
  remedy: ({ log }) => `fix the cause (full output: ${log}) and run \`stackloom lab up\` again: it resumes here`,
  description: `A stage runs other programs. Their output is kept per stage in \`.stackloom/logs\`, and the message quotes the
cause from it.`,
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
  remedy: ({ log }) => `fix the cause (full output: ${log}) and run \`stackloom lab up\` again: it resumes here`,
  description: `The last lines of Ansible's output are a recap, not the cause. The message quotes the first failed task, its
host, and the error of its module.`,
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
  remedy: ({ nodes }) => `allow it with ${nodes.map((node) => `--replace ${node}`).join(' ')}; data disks are kept`,
  description: `A replacement deletes the VM and its OS disk and creates it again from its definition; its data disks (LVM,
OSD, state) are kept. A change of only CPUs or memory restarts the VM.`,
  example: { nodes: ['node2'], changes: 'node2: images, provision' },
})

export const replaceLosesState = problem<{ node: string }>({
  code: 'SL8308',
  severity: 'error',
  title: "A replacement would delete the cloud's state",
  message: ({ node }) => `${node} has the database on its OS disk, and there is no backup to restore`,
  remedy: ({ node }) =>
    `run \`stackloom lab backup\` and then \`stackloom lab up --replace ${node}\`, which restores the backup`,
  description: `The OS disk of a controller without a state disk contains the database, the queue and Glance's images. Its
replacement is refused unless \`.stackloom/backups\` has a backup, which the same run restores after the deployment. A
controller that had a state disk from the start (\`disks: {state: 40GiB}\`) can be replaced without a backup.`,
  example: { node: 'node1' },
})

export const deleteNeedsName = problem<{ lab: string; typed: string | undefined }>({
  code: 'SL8309',
  severity: 'error',
  title: 'Deleting a lab needs its name',
  message: ({ lab, typed }) =>
    typed === undefined ? `--delete needs the name of the lab: ${lab}` : `the lab is called ${lab}, not ${typed}`,
  remedy: ({ lab }) => `run stackloom lab down --delete ${lab}; without --delete the VMs are only stopped`,
  description: `\`lab down\` stops the VMs and keeps their disks. \`--delete NAME\` deletes VMs and data disks; typing the name
confirms it.`,
  example: { lab: 'osl', typed: undefined },
})

export const notRendered = problem<{ folder: string }>({
  code: 'SL8310',
  severity: 'error',
  title: 'The lab was not rendered yet',
  message: ({ folder }) => `${folder} has no rendered lab`,
  remedy: () => 'run `stackloom lab render` or `stackloom lab up` first',
  description: `Status, doctor, snapshots and down use the keys, names and addresses of the rendered tree.`,
  example: { folder: 'osl' },
})

export const labLocked = problem<{ pid: number; folder: string }>({
  code: 'SL8311',
  severity: 'error',
  title: 'Another run is using this lab',
  message: ({ pid, folder }) => `process ${pid} is using ${folder}`,
  remedy: () => 'wait until it ends, or stop it',
  description: `Two runs would send contradictory commands to the VMs. The lock is valid only while its process is alive, so a
killed run does not block the next one.`,
  example: { pid: 4242, folder: 'osl' },
})

export const diskShrinks = problem<{ disk: string; from: string; to: string }>({
  code: 'SL8312',
  severity: 'error',
  title: 'A disk cannot become smaller',
  message: ({ disk, from, to }) => `${disk} has ${from} and cannot shrink to ${to}`,
  remedy: ({ disk, from }) => `set its size to at least ${from}, or delete the disk with limactl disk delete ${disk}`,
  description: `Shrinking would cut off data. A larger size works: the disk is resized before its VM starts.`,
  example: { disk: 'osl-node3-lvm', from: '20GiB', to: '10GiB' },
})

export const snapshotNeedsRunning = problem<{ nodes: readonly string[] }>({
  code: 'SL8313',
  severity: 'error',
  title: 'A snapshot needs all VMs running',
  message: ({ nodes }) => `not running: ${nodes.join(', ')}`,
  remedy: () => 'start the lab with `stackloom lab up --until vms`, then try again',
  description: `A snapshot of a stopped VM contains only its OS disk, so the LVM and OSD disks would not match it after a
restore. A snapshot of a running VM contains memory and all disks. Snapshots are experimental in Lima.`,
  example: { nodes: ['node3'] },
})

export const limaNetworkConflict = problem<{ network: string; file: string; why: string }>({
  code: 'SL8314',
  severity: 'error',
  title: "A network of the lab has other settings in Lima's networks.yaml",
  message: ({ network, file, why }) => `${file} has ${network} already: ${why}`,
  remedy: ({ network }) => `stop the VMs on ${network} and remove it from the file, or change the lab file to match`,
  description: `All VMs of a Lima home share networks.yaml. The lab's networks are added to it. A network of the same name with
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
  description: `\`--replace\` takes the name of a node in the lab file. No stage has run.`,
  example: { node: 'node9', known: ['node1', 'node2', 'node3'] },
})

export const limaQueryFailed = problem<{ command: string; why: string }>({
  code: 'SL8316',
  severity: 'error',
  title: 'limactl cannot list the VMs',
  message: ({ command, why }) => `${command} failed: ${why}`,
  remedy: ({ command }) => `run \`${command}\` and fix the problem that it reports`,
  description: `What has to happen to a VM depends on whether it exists. Without the list nothing is assumed, and nothing was
changed.`,
  example: { command: 'limactl list --json', why: 'permission denied' },
})

export const incompleteSnapshot = problem<{ tag: string; missing: readonly string[]; known: readonly string[] }>({
  code: 'SL8317',
  severity: 'error',
  title: 'Not every VM has this snapshot',
  message: ({ tag, missing }) => `there is no snapshot ${tag} of ${missing.join(', ')}`,
  remedy: ({ known }) =>
    known.length === 0
      ? 'create one with `stackloom lab snapshot create TAG`'
      : `choose a complete snapshot: ${known.join(', ')}`,
  description: `All VMs are restored together. If only some of them were restored, databases, queues and disks would have
different times. Nothing was changed.`,
  example: { tag: 'before-cpeh', missing: ['node1', 'node2', 'node3'], known: ['before-ceph'] },
})
