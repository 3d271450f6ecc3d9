import { describe, expect, it } from 'vitest'
import * as causes from '../findings/host-failures.ts'
import { explainFailure } from './explain-failure.ts'

/** What Ansible, apt, ssh and the services print. */
const reported: Readonly<Record<keyof typeof causes, readonly string[]>> = {
  diskFull: [
    "Install the packages with apt: '/usr/bin/apt-get' failed: E: You don't have enough free space in /var/cache/apt/archives/.",
    'Write the configuration files: Could not replace file: [Errno 28] No space left on device',
  ],
  packageMissing: ["Install the packages with apt: No package matching 'ovn-host' is available"],
  repositoryUnreachable: [
    'Install the packages with apt: Failed to update apt cache: E:The repository has no Release file',
    "Install the packages with apt: E: Failed to fetch http://mirror/x.deb Could not resolve 'mirror'",
  ],
  sshKeyRefused: [
    'Create the folders: Failed to connect to the host via ssh: root@192.0.2.1: Permission denied (publickey).',
  ],
  hostUnreachable: [
    'Create the folders: Failed to connect to the host via ssh: ssh: connect to host 192.0.2.1 port 22: Connection timed out',
  ],
  nameNotResolved: [
    'Create the folders: Failed to connect to the host via ssh: ssh: Could not resolve hostname a.example: Name or service not known',
  ],
  sudoRefused: ['Create the folders: Missing sudo password'],
  clockDiffers: ['Check the clock of the node: the clock of the node is 3600 seconds ahead'],
  busPasswordRefused: [
    'Check that the service runs: stackloom-nova.service does not start: ERROR oslo.messaging._drivers.impl_rabbit Connection failed: (0, 0): (403) ACCESS_REFUSED - Login was refused using authentication mechanism AMQPLAIN',
  ],
  busUnreachable: [
    'Check that the service runs: stackloom-nova.service does not start: ERROR oslo.messaging._drivers.impl_rabbit Connection failed: [Errno 111] ECONNREFUSED',
  ],
  apiUnreachable: [
    'Check that the service runs: stackloom-nova.service does not start: ERROR nova keystoneauth1.exceptions.connection.ConnectFailure: Unable to establish connection to http://keystone:5000',
    'Check that the service runs: stackloom-nova.service does not start: ERROR nova openstack.exceptions.NotSupported: The placement service for 192.168.122.80:regionOne exists but does not have any supported versions.',
    'Check that the service runs: stackloom-nova.service does not start: ERROR nova.compute.manager nova.exception.ResourceProviderRetrievalFailed: Failed to get resource provider with UUID 4f5c7b0e',
  ],
  providerRefused: [
    'Check that the service runs: stackloom-nova.service does not start: ERROR nova.compute.manager nova.exception.ResourceProviderCreationFailed: Failed to create resource provider edpm-compute-1',
  ],
  apiPasswordRefused: [
    'Check that the service runs: stackloom-nova.service does not start: ERROR nova keystoneauth1.exceptions.http.Unauthorized: The request you have made requires authentication. (HTTP 401)',
  ],
  libvirtDead: [
    'Check that the service runs: stackloom-nova.service does not start: ERROR oslo_service.service nova.exception.HypervisorUnavailable: Connection to the hypervisor is broken on host',
    "Check that the service runs: stackloom-nova.service does not start: ERROR nova.virt.libvirt.host libvirt.libvirtError: Failed to connect socket to '/var/run/libvirt/libvirt-sock': No such file or directory",
    'Check that the service runs: stackloom-libvirt.service does not start: cannot read',
  ],
  mtuTooSmall: [
    'Check that all answered: 172.17.0.1 does not answer packets of 9000 bytes: ping: local error: message too long, mtu=1500',
  ],
  targetSilent: [
    'Check that all answered: 172.17.0.1 does not answer packets of 1500 bytes: 3 packets transmitted, 0 received, 100% packet loss',
  ],
  addressMissing: [
    'Check every planned address: no interface of this node has the address 172.17.0.9, which is planned for it',
  ],
  networkRefused: [
    'Report why the network configuration was not kept: nmstate refused the network configuration: NmstateError: InvalidArgument',
  ],
  networkRolledBack: [
    'Report why the network configuration was not kept: with the new network configuration the node could not be reached; the former network is restored',
  ],
  podmanTooOld: ['Check that Podman can make a unit from an image: failed'],
  southboundUnreachable: [
    'Check the registration with the southbound database: ovn-controller does not reach the southbound database tcp:192.0.2.9:6642',
    'Check that the service runs: stackloom-ovn-metadata.service does not start: it does not reach the southbound database: Could not retrieve schema from tcp:192.0.2.9:6642: Connection refused',
  ],
  configInvalid: [
    'Check that the service runs: stackloom-nova.service does not start: oslo_config.cfg.ConfigFileValueError: Value for option debug from LocationInfo is not valid',
  ],
  pythonMissing: [
    'Create the folders: The module failed to execute correctly: /bin/sh: 1: /usr/bin/python3: not found',
  ],
  packagesLocked: [
    'Install the packages with apt: E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 17 (apt-get)',
  ],
  certificateRefused: [
    'Check that the service runs: stackloom-nova.service does not start: keystoneauth1.exceptions.connection.SSLFailure: SSLError(SSLCertVerificationError(1, certificate verify failed: unable to get local issuer certificate))',
  ],
  imageMissing: [
    'Check that the service runs: stackloom-nova.service does not start: Error: initializing source docker://quay.io/x:y: pinging container registry quay.io',
  ],
  systemUnknown: [
    'Check that packages of this operating system are known: the packages of openSUSE are not known: list them in stackloom_packages',
  ],
  serviceNotStarted: ['Check that the service runs: stackloom-nova.service does not start: Killed'],
}

const problems = new Map(Object.entries(causes))
const cases = Object.entries(reported).flatMap(([name, messages]) =>
  messages.map((message) => [name, message] as const),
)

describe('a failure on a host', () => {
  it.each(cases)('is explained with host, task, cause and remedy: %s', (name, message) => {
    const code = problems.get(name)?.code
    const explained = explainFailure(`edpm-compute-0: ${message}`)
    const [task = ''] = message.split(': ')
    expect(explained).toMatch(new RegExp(`^edpm-compute-0: ${task}: .* \\(${code}: .+\\)$`))
    expect(explained).toContain(message.slice(task.length + 2))
  })

  it('that is not known stays as Ansible reported it', () => {
    const message = 'edpm-compute-0: Refuse: the password is ******'
    expect(explainFailure(message)).toBe(message)
  })

  it('without a task or a host is explained, too', () => {
    expect(explainFailure('No space left on device')).toMatch(/^the run: the disk of the host is full: .*SL7140/)
    expect(explainFailure('a: No space left on device')).toMatch(/^a: the disk of the host is full: .*SL7140/)
  })
})
