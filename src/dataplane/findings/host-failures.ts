/** SL7140 to SL7167: why a step failed on a host. `place` is the host and the task, `detail` what was answered. */
import { type Problem, problem } from '../../errors/finding.ts'

export interface HostFailure {
  readonly place: string
  readonly detail: string
}

interface Cause {
  readonly code: string
  readonly what: string
  readonly remedy: string
}

function cause({ code, what, remedy }: Cause): Problem<HostFailure> {
  return problem<HostFailure>({
    code,
    severity: 'error',
    message: ({ place, detail }) => `${place}: ${what}: ${detail}`,
    remedy: () => remedy,
  })
}

export const diskFull = cause({
  code: 'SL7140',
  what: 'the disk of the host is full',
  remedy: 'free space on the host; `df -h` shows where',
})

export const packageMissing = cause({
  code: 'SL7141',
  what: 'no repository of the host has the package',
  remedy: 'name a repository that has it in stackloom_repositories, or other packages in stackloom_packages',
})

export const repositoryUnreachable = cause({
  code: 'SL7142',
  what: 'a repository cannot be reached from the host',
  remedy:
    'check the route and the name servers of the host, or name a mirror in stackloom_repositories with stackloom_repositories_only: true',
})

export const sshKeyRefused = cause({
  code: 'SL7143',
  what: 'the host does not accept the SSH key',
  remedy: 'add the public half of ansibleSSHPrivateKeySecret to authorized_keys of ansibleUser on the host',
})

export const hostUnreachable = cause({
  code: 'SL7144',
  what: 'the host does not answer on its SSH port',
  remedy: 'check that the host is on, that ansibleHost is its address, and that ansiblePort is open',
})

export const nameNotResolved = cause({
  code: 'SL7145',
  what: 'a name cannot be resolved',
  remedy: 'check the name, and the name servers of the machine that asked; a node without DNS needs ansibleHost',
})

export const sudoRefused = cause({
  code: 'SL7146',
  what: 'the user may not become root on the host',
  remedy: 'give ansibleUser sudo without a password on the host, or name a user that has it',
})

export const clockDiffers = cause({
  code: 'SL7147',
  what: 'tokens and certificates would be refused',
  remedy: 'name time servers in stackloom_ntp_servers and correct the clock: `chronyc makestep`',
})

export const busPasswordRefused = cause({
  code: 'SL7148',
  what: 'RabbitMQ refuses the user and password of the transport URL',
  remedy:
    'compare the transport URL with the user in RabbitMQ; nova-compute has it from the Secret that cellMessageBusSecretName of the NovaCell names, other services from the Secret that their object names',
})

export const busUnreachable = cause({
  code: 'SL7149',
  what: 'RabbitMQ cannot be reached from the host',
  remedy:
    'check that the address in the transport URL answers from the network of the host: its VIP, VLAN and firewall',
})

export const apiUnreachable = cause({
  code: 'SL7150',
  what: 'an API of the control plane does not answer the host',
  remedy:
    'check that the endpoint resolves and answers from the host: `curl` it there; nova-compute needs Keystone and Placement',
})

export const apiPasswordRefused = cause({
  code: 'SL7151',
  what: 'Keystone refuses the user of the service',
  remedy: 'compare ServicePassword in the Secret of the NovaCell with the password of that user in Keystone',
})

export const libvirtDead = cause({
  code: 'SL7152',
  what: 'libvirt does not answer on the host',
  remedy: 'look at `journalctl -u stackloom-libvirt` on the host, then request another run',
})

export const mtuTooSmall = cause({
  code: 'SL7153',
  what: 'the MTU of the path is smaller than planned',
  remedy: 'set the planned MTU on the switch ports and on the interface, or a smaller one in the NetConfig',
})

export const targetSilent = cause({
  code: 'SL7154',
  what: 'an address does not answer',
  remedy: 'check VLAN and cabling of that network on the host, and that the gateway answers ping',
})

export const addressMissing = cause({
  code: 'SL7155',
  what: 'the network of the host is not as planned',
  remedy: 'correct the network template of the role, or configure the address on the host',
})

export const networkRefused = cause({
  code: 'SL7156',
  what: 'the network configuration is invalid',
  remedy: 'correct the network template of the role; the host keeps its former network',
})

export const networkRolledBack = cause({
  code: 'SL7157',
  what: 'the new network cut the host off',
  remedy: 'keep the address of ansibleHost in the network template; the host has its former network again',
})

export const podmanTooOld = cause({
  code: 'SL7158',
  what: 'Podman on the host cannot make units',
  remedy: 'install Podman 4.4 or newer, or set stackloom_services_from: packages',
})

export const southboundUnreachable = cause({
  code: 'SL7159',
  what: 'the host is not registered with OVN',
  remedy:
    'check stackloom_ovn_remote or edpm_ovn_dbs, for the metadata agent ovn_sb_connection in the Secret of Neutron, and that the port answers from the host; an ssl: address needs stackloom_ovn_tls',
})

export const configInvalid = cause({
  code: 'SL7160',
  what: 'the service cannot read its configuration',
  remedy: 'correct customServiceConfig; `stackloom config explain --node NODE` shows the origin of every option',
})

export const pythonMissing = cause({
  code: 'SL7161',
  what: 'the host has no Python for Ansible',
  remedy: 'install python3 on the host, or set ansible_python_interpreter in ansibleVars',
})

export const packagesLocked = cause({
  code: 'SL7162',
  what: 'another program installs packages on the host',
  remedy: 'wait until it has ended; `dpkg --configure -a` completes an interrupted installation',
})

export const certificateRefused = cause({
  code: 'SL7163',
  what: 'a certificate is not trusted on the host',
  remedy:
    'add the CA of the cloud to the trusted certificates of the host, and check the name and end of the certificate',
})

export const imageMissing = cause({
  code: 'SL7164',
  what: 'an image cannot be pulled on the host',
  remedy: 'check the name of the image in the service object, and that the host reaches its registry or mirror',
})

export const systemUnknown = cause({
  code: 'SL7165',
  what: 'this operating system has no list of packages',
  remedy: 'list the packages in stackloom_packages, or replace the step with a role in stackloom_roles',
})

export const serviceNotStarted = cause({
  code: 'SL7166',
  what: 'the service does not run',
  remedy: 'look at `journalctl -u` of the unit on the host, fix the cause, and request another run',
})

export const providerRefused = cause({
  code: 'SL7167',
  what: 'Placement refuses the resource provider of the host',
  remedy:
    'compare `openstack resource provider list` with `openstack hypervisor list`: a provider that no hypervisor has keeps the name of the host until it is deleted, its allocations first',
})
