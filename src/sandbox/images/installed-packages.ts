/**
 * Finds the files of installed Debian packages and of those that they depend on.
 *
 * Pure: reads the output of dpkg-query, which the caller runs.
 */

export interface InstalledPackage {
  readonly name: string
  readonly version: string
  readonly provides: readonly string[]
  /** Alternatives of each dependency. */
  readonly depends: readonly (readonly string[])[]
}

/** One line per package, for `parseInstalled`. */
export const QUERY_FORMAT = '${db:Status-Status}\t${Package}\t${Version}\t${Provides}\t${Pre-Depends}\t${Depends}\n'

/** Needed by the scripts of packages only, which never run in an image. */
const maintenancePackages: readonly string[] = ['adduser', 'debconf', 'debianutils', 'dpkg', 'passwd', 'perl-base']

export function parseInstalled(output: string): ReadonlyMap<string, InstalledPackage> {
  const packages = output.split('\n').flatMap((line): readonly InstalledPackage[] => {
    const [status, name = '', version = '', provides = '', before = '', depends = ''] = line.split('\t')
    if (status !== 'installed') return []
    const alternatives = [...splitList(before, ','), ...splitList(depends, ',')].map((text) => splitList(text, '|'))
    return [
      {
        name,
        version,
        provides: splitList(provides, ',').map(bareName),
        depends: alternatives.map((all) => all.map(bareName)),
      },
    ]
  })
  return new Map(packages.map((installed) => [installed.name, installed]))
}

function splitList(text: string, separator: string): readonly string[] {
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** `python3:any (>= 3.11)` is `python3`. */
function bareName(dependency: string): string {
  return dependency.replace(/[\s:(].*$/, '')
}

export interface PackageSelection {
  /** Sorted by name. */
  readonly packages: readonly InstalledPackage[]
  /** Requested packages and dependencies that are not installed. */
  readonly missing: readonly string[]
}

export function selectPackages(
  requested: readonly string[],
  omitted: readonly string[],
  installed: ReadonlyMap<string, InstalledPackage>,
): PackageSelection {
  const providers = new Map<string, string>()
  for (const { name, provides } of installed.values()) {
    for (const virtual of provides) providers.set(virtual, providers.get(virtual) ?? name)
  }
  const find = (name: string): InstalledPackage | undefined =>
    installed.get(name) ?? installed.get(providers.get(name) ?? '')
  const isOmitted = (name: string): boolean => maintenancePackages.includes(name) || omitted.includes(name)
  const selected = new Map<string, InstalledPackage>()
  const missing = new Set<string>()
  const queue = requested.map((name) => [name])
  for (let alternatives = queue.shift(); alternatives; alternatives = queue.shift()) {
    if (alternatives.some(isOmitted)) continue
    const found = alternatives.map(find).find((candidate) => candidate !== undefined)
    if (!found) {
      missing.add(alternatives[0] ?? '')
      continue
    }
    if (selected.has(found.name)) continue
    selected.set(found.name, found)
    queue.push(...found.depends.map((names) => [...names]))
  }
  return { packages: [...selected.values()].toSorted(byName), missing: [...missing].sort() }
}

function byName(a: InstalledPackage, b: InstalledPackage): number {
  return a.name < b.name ? -1 : 1
}

/** Documentation and translations, and settings, which this machine's administrator may have changed. */
const omittedFolders = [
  '/etc/',
  '/usr/share/bash-completion/',
  '/usr/share/doc/',
  '/usr/share/info/',
  '/usr/share/lintian/',
  '/usr/share/locale/',
  '/usr/share/man/',
  '/var/',
]

/** Links of the root folder of a merged system: `/bin` is `/usr/bin`. */
const MERGED = /^\/(bin|sbin|lib|lib32|lib64|libx32)(?=\/|$)/

/** Reads `dpkg-query -L`: sorted paths below /usr, each once. */
export function parseFileList(output: string): readonly string[] {
  const paths = output
    .split('\n')
    .filter((line) => line.startsWith('/') && line !== '/.')
    .map((line) => line.replace(MERGED, '/usr/$1'))
    .filter((file) => !omittedFolders.some((folder) => `${file}/`.startsWith(folder)))
  return [...new Set(paths)].sort()
}
