/** The Debian packages that tests use, and what is left out where one is missing. Sorted by name. */

export interface DebianPackage {
  readonly name: string
  /** What does not happen without it. */
  readonly why: string
}

export const debianPackages: readonly DebianPackage[] = [
  { name: 'fish', why: 'completion is not tried in fish' },
  { name: 'iproute2', why: 'no network namespace, so nothing that needs a cluster is tested' },
  { name: 'openssl', why: 'certificates are not judged by openssl' },
  { name: 'procps', why: 'processes that were left behind are not looked for' },
  { name: 'python3-oslo.config', why: 'configuration files are not compared with the real oslo.config' },
  { name: 'python3-yaml', why: 'what is written is not compared with what PyYAML reads' },
  { name: 'zsh', why: 'completion is not tried in zsh' },
]
