/** Says what the image of a node is built from: packages, scripts and programs, and the key of the result. Pure. */
import { createHash } from 'node:crypto'
import { type DebianSources, mmdebstrapArgs } from '../../sandbox/build/debian-root.ts'

const nodePackages: readonly string[] = [
  'systemd-sysv',
  'udev',
  // Answers nmstate's many questions with less work than dbus-daemon.
  'dbus-broker',
  'kmod',
  'procps',
  'linux-image-cloud-amd64',
  'network-manager',
  'iproute2',
  'iputils-ping',
  // The probe's tests run with its tools, as in the default image of `verify --probe`, and start fast.
  'busybox-static',
  'nftables',
  // The DNS of clouds, as on OpenStack's control plane.
  'dnsmasq-base',
  'tcpdump',
]

/** More than Debian, kernel and programs need: the file has holes. */
export const DISK_SIZE = '1500M'

export interface ImageRecipe extends DebianSources {
  readonly agent: string
  readonly customize: string
  /** Programs that no package has, by their name on the node, with the identity of what was built. */
  readonly programs: Readonly<Record<string, string>>
}

export function imageKey({ suite, agent, customize, programs }: ImageRecipe): string {
  const sorted = Object.entries(programs).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const content = JSON.stringify([suite, nodePackages, DISK_SIZE, agent, customize, sorted])
  return createHash('sha256').update(content).digest('hex').slice(0, 16)
}

export interface BuildFolders {
  /** `agent.sh`, `nmstatectl`, `speaker` and `cni/`. */
  readonly files: string
  readonly customize: string
  readonly root: string
  readonly out: string
}

export function nodeImageArgs(recipe: ImageRecipe, { files, customize, root, out }: BuildFolders): readonly string[] {
  const { suite, sources } = recipe
  const options = [`--customize-hook=sh '${customize}' "$1" '${files}' '${out}'`]
  return mmdebstrapArgs({ suite, sources, packages: nodePackages, options, root })
}
