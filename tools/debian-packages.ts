/** The Debian packages that tests use, and what is left out where one is missing. Sorted by name. */

export interface DebianPackage {
  readonly name: string
  /** What does not happen without it. */
  readonly why: string
}

export const debianPackages: readonly DebianPackage[] = [
  { name: 'fish', why: 'completion is not tried in fish' },
  { name: 'python3-oslo.config', why: 'configuration files are not compared with the real oslo.config' },
  { name: 'zsh', why: 'completion is not tried in zsh' },
]
