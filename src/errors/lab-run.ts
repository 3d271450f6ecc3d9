/** SL82xx: the rendered tree of a lab. SL83xx: its stages. SL84xx: its doctor. */
import { problem } from './finding.ts'

export const editedFile = problem<{ file: string; diff: string }>({
  code: 'SL8201',
  severity: 'error',
  title: 'A rendered file was edited by hand',
  message: ({ file, diff }) => `${file} was edited since it was rendered, and would be overwritten:\n${diff}`,
  remedy: () => 'move the change into the lab file, or render with --overwrite to lose it',
  story: `Every rendered file's checksum is kept in \`.stackloom/manifest.json\`. A file that differs from both what was
written and what would be written now was edited by a person. Nothing is written until that is decided.`,
  example: { file: 'kolla/globals.yml', diff: '- enable_heat: "no"\n+ enable_heat: "yes"' },
})

export const groupMissing = problem<{ groups: readonly string[] }>({
  code: 'SL8202',
  severity: 'error',
  title: 'The inventory lacks groups',
  message: ({ groups }) =>
    `the inventory has no group ${groups.slice(0, 8).join(', ')}${groups.length > 8 ? ` and ${groups.length - 8} more` : ''}`,
  remedy: () => 'render again: the rendered inventory has every group, also of services that are off',
  story: `Prechecks validate that the group of every service exists, whether the service is enabled or not.`,
  example: { groups: ['tls-backend'] },
})

export const ineffectiveVars = problem<{ place: string }>({
  code: 'SL8203',
  severity: 'error',
  title: 'Variables stand where they have no effect',
  message: ({ place }) => `${place} loses against Kolla's own defaults: what it says has no effect`,
  remedy: () => 'move the variables to host_vars of each node (openstack.hostVars in the lab file)',
  story: `Ansible's order of precedence puts group variables of the inventory file and group_vars/all of the inventory
below the playbook's group_vars/all, where Kolla keeps all its defaults.`,
  example: { place: '[compute:vars] in kolla/multinode' },
})

export const forbiddenTerraform = problem<{ what: string; why: string }>({
  code: 'SL8204',
  severity: 'error',
  title: 'Terraform does what it must not do here',
  message: ({ what, why }) => `${what}: ${why}`,
  remedy: () => 'Terraform owns what is inside the cloud, from terraform/openstack; Lima owns the VMs',
  story: `A \`null_resource\` with a provisioner hides commands from the plan. There is no Terraform provider that can
make isolated networks on macOS, so VMs are Lima's alone.`,
  example: { what: 'null_resource "wait"', why: 'its commands are in no plan' },
})

export const secretTracked = problem<{ file: string }>({
  code: 'SL8205',
  severity: 'error',
  title: 'A secret is tracked by git',
  message: ({ file }) => `git tracks ${file}, which holds a secret`,
  remedy: ({ file }) => `git rm --cached ${file}, and make the secret anew: it stays in the history`,
  story: `The rendered .gitignore keeps every secret out. A file that was added before, or by force, is still tracked.`,
  example: { file: 'kolla/passwords.yml' },
})

export const secretReadable = problem<{ file: string; mode: string }>({
  code: 'SL8206',
  severity: 'error',
  title: 'A secret can be read by others',
  message: ({ file, mode }) => `${file} has the mode ${mode}`,
  remedy: ({ file }) => `chmod 600 ${file}`,
  story: `Files with secrets are written with the mode 0600. ssh refuses a key that others can read.`,
  example: { file: 'ssh/id_ed25519', mode: '0644' },
})

export const brokenSecret = problem<{ file: string; why: string }>({
  code: 'SL8207',
  severity: 'error',
  title: 'A kept secret cannot be read',
  message: ({ file, why }) => `${file} is there and cannot be used: ${why}`,
  remedy: ({ file }) =>
    `repair ${file}, or remove it: it is then made anew, and the cloud needs a reconfigure`,
  story: `Secrets are kept from one rendering to the next. One that cannot be read is never replaced silently: the
running cloud still uses it.`,
  example: { file: 'kolla/passwords.yml', why: 'it is not a mapping' },
})

export const toolMissing = problem<{ tool: string; why: string; how: string }>({
  code: 'SL8301',
  severity: 'error',
  title: 'A program that a stage needs is missing',
  message: ({ tool, why }) => `${tool} cannot be started: ${why}`,
  remedy: ({ how }) => how,
  story: `The lab drives limactl, kolla-ansible, ssh and tofu. The stage \`host\` looks for those that the host must
have; kolla-ansible is installed by the stage \`deployer\`.`,
  example: { tool: 'limactl', why: 'it is not on PATH', how: 'brew install lima socket_vmnet' },
})

export const toolTooOld = problem<{ tool: string; found: string; least: string }>({
  code: 'SL8302',
  severity: 'error',
  title: 'A program is too old',
  message: ({ tool, found, least }) => `${tool} is ${found}; the lab needs ${least} or newer`,
  remedy: ({ tool }) => `brew upgrade ${tool === 'limactl' ? 'lima' : tool}`,
  story: `Lima before 2.2 boots from a random disk when there are extra ones, and does not retry socket_vmnet. QEMU
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
  story: `socket_vmnet uses Apple's vmnet framework. On Linux Lima refuses such networks.`,
  example: { system: 'linux' },
})

export const sudoersStale = problem<{ command: string }>({
  code: 'SL8304',
  severity: 'error',
  title: "Lima's sudoers file does not match its networks",
  message: () => 'limactl may not start socket_vmnet: its sudoers file is missing or out of date',
  remedy: ({ command }) => `run: ${command}`,
  story: `Lima starts socket_vmnet with sudo and insists that the sudoers file is exactly what \`limactl sudoers\` prints.
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
  story: `A stage runs other programs. What they printed is kept per stage below \`.stackloom/logs\`; the cause is quoted
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
  story: `The last lines of Ansible's output are a recap, not the cause. Quoted here is the first task that failed, on
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
  remedy: ({ nodes }) =>
    `consent with ${nodes.map((node) => `--replace ${node}`).join(' ')}; data disks are kept`,
  story: `VMs are replaced, not patched. A replacement deletes the VM and its OS disk and makes it anew from the
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
  story: `Without a disk of its own for /var/lib/docker, replacing a controller deletes the database, the queue and
Glance's images. It is refused unless \`.stackloom/backups\` holds a backup of the database; the run that replaces the VM
then restores it after the deployment.`,
  example: { node: 'node1' },
})

export const nameNotTyped = problem<{ lab: string; typed: string | undefined }>({
  code: 'SL8309',
  severity: 'error',
  title: 'Deleting a lab needs its name',
  message: ({ lab, typed }) =>
    typed === undefined
      ? `deleting needs the name of the lab: ${lab}`
      : `the lab is called ${lab}, not ${typed}`,
  remedy: ({ lab }) => `stackloom lab down --delete ${lab}; without --delete the VMs are only stopped`,
  story: `\`lab down\` stops the VMs and keeps everything. \`--delete NAME\` deletes VMs and data disks for good; typing
the name is the consent.`,
  example: { lab: 'osl', typed: undefined },
})

export const noTree = problem<{ folder: string }>({
  code: 'SL8310',
  severity: 'error',
  title: 'The lab was not rendered yet',
  message: ({ folder }) => `${folder} holds no rendered lab`,
  remedy: () => 'run `stackloom lab render` or `stackloom lab up` first',
  story: `Status, doctor, snapshots and down work on what was rendered: keys, names and addresses are there.`,
  example: { folder: 'osl' },
})

export const labBusy = problem<{ pid: number; folder: string }>({
  code: 'SL8311',
  severity: 'error',
  title: 'Another run works on this lab',
  message: ({ pid, folder }) => `process ${pid} is at work on ${folder}`,
  remedy: () => 'wait for it, or end it',
  story: `Two runs would give the VMs contradicting orders. A run that was killed leaves nothing behind that stops the
next one: the lock counts only while its process lives.`,
  example: { pid: 4242, folder: 'osl' },
})

export const diskShrinks = problem<{ disk: string; from: string; to: string }>({
  code: 'SL8312',
  severity: 'error',
  title: 'A disk cannot become smaller',
  message: ({ disk, from, to }) => `${disk} has ${from} and cannot shrink to ${to}`,
  remedy: ({ disk, from }) =>
    `set its size to at least ${from}, or delete the disk: limactl disk delete ${disk}`,
  story: `Shrinking would cut off data. Growing works: the disk is resized before its VM starts.`,
  example: { disk: 'osl-node3-lvm', from: '20GiB', to: '10GiB' },
})

export const snapshotNeedsRunning = problem<{ nodes: readonly string[] }>({
  code: 'SL8313',
  severity: 'error',
  title: 'A snapshot needs all VMs running',
  message: ({ nodes }) => `not running: ${nodes.join(', ')}`,
  remedy: () => 'start the lab with `stackloom lab up --until vms`, then take the snapshot',
  story: `A snapshot of a stopped VM covers its OS disk only: the LVM and OSD disks would be left out, and the lab would
come back torn. Running VMs are saved with memory and all disks. Snapshots are experimental in Lima.`,
  example: { nodes: ['node3'] },
})

export const networkTaken = problem<{ network: string; file: string; why: string }>({
  code: 'SL8314',
  severity: 'error',
  title: "Lima's networks.yaml says something else about a network of the lab",
  message: ({ network, file, why }) => `${file} has ${network} already: ${why}`,
  remedy: ({ network }) =>
    `stop its VMs and remove ${network} from the file, or change the lab file to match`,
  story: `networks.yaml belongs to all VMs of a Lima home. The lab's networks are added to it; one of the same name with
other settings is not overwritten, because VMs may be using it.`,
  example: {
    network: 'osl-mgmt',
    file: '~/.lima/_config/networks.yaml',
    why: 'its gateway is 192.168.106.1',
  },
})

export const diskLocked = problem<{ disk: string; instance: string }>({
  code: 'SL8401',
  severity: 'error',
  title: 'A disk is locked by a VM that does not run',
  message: ({ disk, instance }) => `${disk} is locked by ${instance}, which is not running`,
  remedy: ({ disk }) => `limactl disk unlock ${disk}; \`stackloom lab up\` does it`,
  story: `Lima locks a data disk while its VM runs. After a crash or a reboot of the host the lock stays behind and the
VM does not start.`,
  example: { disk: 'osl-node3-lvm', instance: 'osl-node3' },
})

export const vmNotRunning = problem<{ node: string; status: string }>({
  code: 'SL8402',
  severity: 'error',
  title: 'A VM does not run',
  message: ({ node, status }) => `${node} is ${status}`,
  remedy: () => '`stackloom lab up` starts it',
  story: `After a reboot of the host, VMs stay stopped until somebody starts them.`,
  example: { node: 'node2', status: 'Stopped' },
})

export const nodeUnreachable = problem<{ node: string; reason: string }>({
  code: 'SL8403',
  severity: 'error',
  title: 'A node does not answer over SSH',
  message: ({ node, reason }) => `${node} does not answer: ${reason}`,
  remedy: ({ node }) =>
    `limactl shell shows whether it is up; its log is serial.log in the folder of ${node}`,
  story: `The nodes have static addresses on the management network. When the host cannot reach them, socket_vmnet is
not running, or its network has another gateway.`,
  example: { node: 'node1', reason: 'Connection timed out' },
})

export const noVip = problem<{ vip: string; interface: string; node: string }>({
  code: 'SL8404',
  severity: 'error',
  title: 'A VIP is on no node',
  message: ({ vip, interface: name, node }) => `${vip} is not on ${name} of ${node}`,
  remedy: () => 'look at `docker logs keepalived` on the node; both VIPs need both their interfaces up',
  story: `keepalived tracks its interfaces: when the external VIP's interface is down, the internal VIP goes too, and
every service of the cloud is out of reach.`,
  example: { vip: '192.168.105.250', interface: 'mgmt0', node: 'node1' },
})

export const clockSkew = problem<{ node: string; seconds: number }>({
  code: 'SL8405',
  severity: 'error',
  title: "A node's clock is wrong",
  message: ({ node, seconds }) =>
    `the clock of ${node} is ${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead'}`,
  remedy: () => 'sudo systemctl restart systemd-timesyncd on the node',
  story: `A Mac that slept stops the clocks of its VMs. Tokens, TLS and Ceph monitors do not survive a difference of more
than a few seconds.`,
  example: { node: 'node2', seconds: -1800 },
})

export const vmDiffers = problem<{ node: string; fields: string; action: string }>({
  code: 'SL8406',
  severity: 'warning',
  title: 'A VM differs from its definition',
  message: ({ node, fields, action }) => `${node} differs in ${fields}: ${action}`,
  remedy: () => '`stackloom lab up --dry-run` shows what would be done',
  story: `Lima keeps its own copy of a VM's definition. Changes of the lab file reach a VM by a resize or a replacement.`,
  example: { node: 'node2', fields: 'memory', action: 'resize' },
})

export const certificateEnds = problem<{ file: string; days: number }>({
  code: 'SL8407',
  severity: 'warning',
  title: 'A certificate ends soon',
  message: ({ file, days }) => (days > 0 ? `${file} ends in ${days} days` : `${file} has ended`),
  remedy: () => '`stackloom lab up` renews it and reconfigures the services',
  story: `Leaf certificates live 825 days at most and are renewed by the stage \`certificates\` when a third of their life
is left.`,
  example: { file: 'kolla/certificates/haproxy.pem', days: 20 },
})

export const vmMissing = problem<{ node: string }>({
  code: 'SL8408',
  severity: 'error',
  title: 'A VM does not exist',
  message: ({ node }) => `${node} was not created yet`,
  remedy: () => '`stackloom lab up` creates it',
  story: `The lab file has a node for which Lima has no VM.`,
  example: { node: 'node4' },
})
