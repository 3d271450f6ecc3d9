/**
 * Lists the images that pods of the sandbox run, under the names that rendered and installed objects have, so that these
 * run unchanged. Pure: the parts that must be built or found first are given.
 */
import { readData } from '../../data/data.ts'
import { runnerImage } from '../../dataplane/service-definitions/images.ts'
import type { ImageDefinition, ImageEntry } from './image-definition.ts'

export const imageNames = ['pause', 'operator', 'dnsmasq', 'ansible-runner', 'probe'] as const
export type ImageName = (typeof imageNames)[number]

export const PAUSE_REFERENCE = 'registry.k8s.io/pause:3.10'
/** The default of DNSMasq. */
export const DNSMASQ_REFERENCE = 'quay.io/podified-antelope-centos9/openstack-neutron-server:current-podified'
/** The default of `verify --probe-image`, as containerd completes it. */
export const PROBE_REFERENCE = 'docker.io/library/busybox:1.37'

function operatorReference(version: string): string {
  return `localhost/stackloom:${version}`
}

export interface ProgramParts {
  /** The folder with package.json, bin/ and dist/. */
  readonly folder: string
  readonly version: string
  readonly node: string
}

const sandboxLabels = { 'org.opencontainers.image.vendor': 'stackloom sandbox' }

/** dnsmasq looks its user up, although it runs as another one. */
const users = { kind: 'text', path: '/etc/passwd', text: readData('images/passwd') } as const satisfies ImageEntry

const groups: ImageEntry = { kind: 'text', path: '/etc/group', text: 'root:x:0:\nnogroup:x:65534:\n' }

export function pauseImage(program: string): ImageDefinition {
  return {
    reference: PAUSE_REFERENCE,
    packages: [],
    entries: [{ kind: 'copy', path: '/pause', from: program }],
    config: { user: '65535:65535', entrypoint: ['/pause'], labels: sandboxLabels },
  }
}

/** Has the layout of the Containerfile, so that what runs here runs there. */
export function operatorImage({ folder, version, node }: ProgramParts): ImageDefinition {
  const home = '/opt/stackloom'
  return {
    reference: operatorReference(version),
    // What the node program is linked with.
    packages: ['libstdc++6'],
    entries: [
      users,
      groups,
      { kind: 'folder', path: '/tmp', mode: 0o1777 },
      { kind: 'copy', path: '/usr/local/bin/node', from: node },
      { kind: 'copy', path: `${home}/package.json`, from: `${folder}/package.json` },
      { kind: 'copy', path: `${home}/bin`, from: `${folder}/bin` },
      // What `make release` writes is no part of the program.
      { kind: 'copy', path: `${home}/dist`, from: `${folder}/dist`, omit: ['release', 'site'] },
    ],
    config: {
      user: '65532:65532',
      workingDir: home,
      entrypoint: ['/usr/local/bin/node', `${home}/bin/stackloom`],
      labels: { ...sandboxLabels, 'org.opencontainers.image.version': version },
    },
  }
}

/** dnsmasq, and what the script in its pods uses. */
export function dnsmasqImage(): ImageDefinition {
  return {
    reference: DNSMASQ_REFERENCE,
    packages: ['dnsmasq-base', 'dash', 'coreutils', 'findutils', 'mawk', 'sed'],
    entries: [users, groups, { kind: 'link', path: '/usr/bin/awk', target: 'mawk' }],
    // neutron's, as in upstream's image.
    config: { user: '42435', command: ['/bin/sh'], labels: sandboxLabels },
  }
}

export function ansibleRunnerImage(): ImageDefinition {
  const writable = (path: string): ImageEntry => ({ kind: 'folder', path, mode: 0o775 })
  return {
    reference: runnerImage.otherwise,
    // libc-bin has the locale that Ansible insists on.
    packages: ['ansible-core', 'python3-ansible-runner', 'openssh-client', 'dash', 'coreutils', 'libc-bin'],
    // Hundreds of megabytes of collections that no built-in playbook uses, and containers in the container.
    omittedPackages: ['ansible', 'bubblewrap', 'sshpass'],
    compilesPython: true,
    entries: [
      // A user without a name adds one.
      { ...users, mode: 0o664 },
      groups,
      { kind: 'folder', path: '/tmp', mode: 0o1777 },
      // A run may have any user, which is in the group of root.
      ...['/runner', '/runner/env', '/runner/inventory', '/runner/project', '/runner/artifacts'].map(writable),
      {
        kind: 'text',
        path: '/usr/local/bin/run-ansible',
        text: readData('images/run-ansible.sh'),
        mode: 0o755,
      },
    ],
    config: {
      user: '1001',
      workingDir: '/runner',
      entrypoint: ['/usr/local/bin/run-ansible'],
      command: ['ansible-runner', '--version'],
      env: { HOME: '/runner', LANG: 'C.UTF-8', PYTHONPYCACHEPREFIX: '/var/cache/python' },
      labels: sandboxLabels,
    },
  }
}

/** The tools of the probe's script. */
const applets = [
  'arping',
  'cat',
  'echo',
  'false',
  'grep',
  'ip',
  'nc',
  'ping',
  'sed',
  'sh',
  'sleep',
  'sort',
  'timeout',
  'tr',
  'true',
]

export function probeImage(): ImageDefinition {
  return {
    reference: PROBE_REFERENCE,
    packages: ['busybox'],
    entries: [
      users,
      groups,
      ...applets.map((name): ImageEntry => ({ kind: 'link', path: `/usr/bin/${name}`, target: 'busybox' })),
    ],
    config: { command: ['sh'], labels: sandboxLabels },
  }
}
