/** Says what the image of a node is built from: packages, scripts and programs, and the key of the result. Pure. */
import { createHash } from 'node:crypto'

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
  'tcpdump',
]

/** More than Debian, kernel and programs need: the file has holes. */
export const DISK_SIZE = '1500M'

export interface ImageRecipe {
  /** Debian's release: `bookworm`. */
  readonly suite: string
  /** Files with sources for apt; none means mmdebstrap's default. */
  readonly sources: readonly string[]
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

export interface HostFile {
  readonly path: string
  readonly text: string
}

/** On Debian the sources of this machine, which it can reach; elsewhere the default of mmdebstrap. */
export function chooseSources(osRelease: string, files: readonly HostFile[]): Pick<ImageRecipe, 'suite' | 'sources'> {
  const setting = (key: string): string | undefined => new RegExp(`^${key}="?([^"\\n]*)"?$`, 'm').exec(osRelease)?.[1]
  const suite = setting('VERSION_CODENAME')
  if (setting('ID') !== 'debian' || suite === undefined) return { suite: DEFAULT_SUITE, sources: [] }
  const listed = new RegExp(`^[^#\\n]*\\b${suite}\\b`, 'm')
  return { suite, sources: files.filter(({ text }) => listed.test(text)).map(({ path }) => path) }
}

const DEFAULT_SUITE = 'bookworm'

export interface BuildFolders {
  /** `agent.sh`, `nmstatectl` and `cni/`. */
  readonly files: string
  readonly customize: string
  readonly root: string
  readonly out: string
}

export function mmdebstrapArgs({ suite, sources }: ImageRecipe, { files, customize, root, out }: BuildFolders) {
  return [
    '--mode=root',
    '--variant=minbase',
    '--format=directory',
    `--include=${nodePackages.join(',')}`,
    // mmdebstrap passes the root folder as the first argument to a shell.
    `--customize-hook=sh '${customize}' "$1" '${files}' '${out}'`,
    suite,
    root,
    ...sources,
  ]
}
